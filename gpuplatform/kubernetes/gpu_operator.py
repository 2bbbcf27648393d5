"""NVIDIA's GPU Operator: what makes the GPUs of a cluster's pools schedulable and observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_kubernetes.helm import v3 as helm

from gpuplatform.component import Component
from gpuplatform.contracts import ClusterHandle
from gpuplatform.kubernetes.charts import GPU_OPERATOR, Chart
from gpuplatform.kubernetes.namespace import OperatorNamespace
from gpuplatform.kubernetes.objects import KubernetesObject

__all__ = ["NAMESPACE", "GpuOperator", "GpuOperatorArgs"]

NAMESPACE: Final = "gpu-operator"
RELEASE: Final = "gpu-operator"

CRITICAL_CLASSES: Final = ("system-node-critical", "system-cluster-critical")

TIMEOUT_SECONDS: Final = 900
"""Helm's five minutes are short for first pulls of gigabyte-sized images on nodes that have just joined."""


@dataclass(frozen=True, kw_only=True)
class GpuOperatorArgs:
    """What the operator is installed into, and how.

    Attributes:
        cluster: The cluster.
        values: Helm values: `gpuplatform.profile.operator_values` of the cluster's pools.
        pools: The GPU pools' own resources; the operator comes after them and goes before them.
        chart: The chart and its version.
    """

    cluster: ClusterHandle
    values: Mapping[str, Any]
    pools: Sequence[pulumi.Resource]
    chart: Chart = GPU_OPERATOR


class GpuOperator(Component):
    """The operator in a namespace of its own, as a Helm release.

    A release, not Pulumi's `Chart`: the chart has hooks, which `Chart` drops or applies as plain objects
    (pulumi/pulumi-kubernetes#3247). Its CRDs are installed with the first release. Helm never upgrades
    what is in a chart's `crds/` folder, so the chart brings a hook that does: `operator.upgradeCRD`, on by
    default.

    Outputs:
        release: The Helm release's name.
        namespace: Where it is installed.
        chart_version: The chart's version.
        status: Helm's word for the release, such as `deployed`.
    """

    TOKEN = "gpuplatform:index:GpuOperator"  # noqa: S105 - a type token, no secret

    release: pulumi.Output[str]
    namespace: str
    chart_version: str
    status: pulumi.Output[str]

    def __init__(self, name: str, args: GpuOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self._args = args
        nodes = (*args.cluster.ready, *args.pools)
        namespace = OperatorNamespace(f"{name}-namespace", NAMESPACE, self._in_cluster(*nodes))
        before: list[pulumi.Resource] = [namespace]
        if args.cluster.cloud == "gcp":
            before.append(self._critical_pods_quota(name, namespace))
        release = helm.Release(
            f"{name}-release",
            name=RELEASE,
            chart=args.chart.name,
            version=args.chart.version,
            repository_opts=helm.RepositoryOptsArgs(repo=args.chart.repository),
            namespace=namespace.name,
            values=args.values,
            timeout=TIMEOUT_SECONDS,
            skip_await=False,
            # Not `atomic`: it would take a failed install away together with the pods' events and logs that
            # tell why. What a failed upgrade newly created does go.
            cleanup_on_fail=True,
            # The hook that upgrades the CRDs needs it: values.yaml, operator.upgradeCRD.
            disable_openapi_validation=True,
            opts=self._in_cluster(*before, *nodes),
        )
        self.release = release.name
        self.namespace = namespace.name
        self.chart_version = args.chart.version
        self.status = release.status.apply(lambda status: status.status)
        self.finish(
            release=self.release,
            namespace=self.namespace,
            chart_version=self.chart_version,
            status=self.status,
        )

    def _in_cluster(self, *after: pulumi.Resource) -> pulumi.ResourceOptions:
        """Options of what lives in the cluster: gone with it, and gone before its nodes where it stays.

        A release cannot be deleted from a cluster that no longer answers, whatever the provider's
        deleteUnreachable says (pulumi/pulumi-kubernetes#2675).
        """
        cluster = self._args.cluster
        return self.child(provider=cluster.provider, deleted_with=cluster.cluster, depends_on=list(after))

    def _critical_pods_quota(self, name: str, namespace: OperatorNamespace) -> KubernetesObject:
        """GKE admits pods of the critical priority classes only where a quota names them.

        Without it the operator's pods are refused, which shows only as a release that times out
        (NVIDIA/gpu-operator#660). The amount is that of kube-system on Google's clusters
        (kubernetes/kubernetes, cluster/gce/addons/admission-resource-quota-critical-pods): the quota is a
        permission, and a real number would stop the DaemonSets on some node of a large cluster.
        """
        scope = {"scopeName": "PriorityClass", "operator": "In", "values": list(CRITICAL_CLASSES)}
        return KubernetesObject(
            f"{name}-critical-pods",
            "core/v1",
            "ResourceQuota",
            {
                "metadata": {"name": "gpu-operator-critical-pods", "namespace": namespace.name},
                "spec": {"hard": {"pods": "1G"}, "scopeSelector": {"matchExpressions": [scope]}},
            },
            self._in_cluster(namespace, *self._args.cluster.ready, *self._args.pools),
        )
