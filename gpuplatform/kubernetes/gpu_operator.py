"""NVIDIA's GPU Operator: what makes the GPUs of a cluster's pools schedulable and observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from gpuplatform.contracts import ClusterHandle
from gpuplatform.kubernetes.charts import GPU_OPERATOR, Chart
from gpuplatform.kubernetes.namespace import OperatorNamespace
from gpuplatform.kubernetes.objects import KubernetesObject
from gpuplatform.kubernetes.release import ReleaseComponent

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
        after: What else it comes after, such as the Network Operator's policy.
        chart: The chart and its version.
    """

    cluster: ClusterHandle
    values: Mapping[str, Any]
    pools: Sequence[pulumi.Resource]
    after: Sequence[pulumi.Resource] = ()
    chart: Chart = GPU_OPERATOR


class GpuOperator(ReleaseComponent):
    """The operator in a namespace of its own.

    Its CRDs are installed with the first release. Helm never upgrades what is in a chart's `crds/` folder, so
    the chart brings a hook that does: `operator.upgradeCRD`, on by default.

    Outputs: those of every release.
    """

    TOKEN = "gpuplatform:index:GpuOperator"  # noqa: S105 - a type token, no secret

    def __init__(self, name: str, args: GpuOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        cluster = args.cluster
        nodes = (*cluster.ready, *args.pools)
        namespace = OperatorNamespace(f"{name}-namespace", NAMESPACE, self.in_cluster(cluster, nodes))
        before: list[pulumi.Resource] = [namespace]
        if cluster.cloud == "gcp":
            opts_ = self.in_cluster(cluster, [namespace, *nodes])
            before.append(_critical_pods_quota(f"{name}-critical-pods", namespace.name, opts_))
        release = self.install(
            name,
            args.chart,
            cluster=cluster,
            release=RELEASE,
            namespace=namespace.name,
            values=args.values,
            after=[*before, *args.after, *nodes],
            timeout=TIMEOUT_SECONDS,
            # The hook that upgrades the CRDs needs it: values.yaml, operator.upgradeCRD.
            disable_openapi_validation=True,
        )
        self.finish_release(release, namespace=namespace.name, chart=args.chart)


def _critical_pods_quota(name: str, namespace: str, opts: pulumi.ResourceOptions) -> KubernetesObject:
    """GKE admits pods of the critical priority classes only where a quota names them.

    Without it the operator's pods are refused, which shows only as a release that times out
    (NVIDIA/gpu-operator#660). The amount is that of kube-system on Google's clusters
    (kubernetes/kubernetes, cluster/gce/addons/admission-resource-quota-critical-pods): the quota is a
    permission, and a real number would stop the DaemonSets on some node of a large cluster.
    """
    scope = {"scopeName": "PriorityClass", "operator": "In", "values": list(CRITICAL_CLASSES)}
    return KubernetesObject(
        name,
        "core/v1",
        "ResourceQuota",
        {
            "metadata": {"name": "gpu-operator-critical-pods", "namespace": namespace},
            "spec": {"hard": {"pods": "1G"}, "scopeSelector": {"matchExpressions": [scope]}},
        },
        opts,
    )
