"""NVIDIA's GPU Operator: what makes the GPUs of a cluster's pools schedulable and observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from gpuplatform.contracts import ClusterHandle
from gpuplatform.kubernetes.charts import GPU_OPERATOR, Chart
from gpuplatform.kubernetes.namespace import OperatorNamespace, critical_pods_quota
from gpuplatform.kubernetes.release import ReleaseComponent

__all__ = ["NAMESPACE", "GpuOperator", "GpuOperatorArgs"]

NAMESPACE: Final = "gpu-operator"
RELEASE: Final = "gpu-operator"

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
            before.append(critical_pods_quota(f"{name}-critical-pods", namespace.name, opts_))
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
