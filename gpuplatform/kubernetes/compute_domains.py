"""NVIDIA's driver for compute domains: what lets pods on several nodes of one rack share NVLink.

Sources: NVIDIA/k8s-dra-driver-gpu v25.8.1, deployments/helm/nvidia-dra-driver-gpu; GoogleCloudPlatform/
cluster-toolkit, modules/management/kubectl-apply, for GKE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from gpuplatform.contracts import ClusterHandle
from gpuplatform.kubernetes.charts import DRA_DRIVER, Chart
from gpuplatform.kubernetes.namespace import OperatorNamespace, critical_pods_quota
from gpuplatform.kubernetes.release import ReleaseComponent
from gpuplatform.profile import (
    POOL_LABEL,
    AksDriver,
    AmiDriver,
    Driver,
    GkeDriver,
    NodeProfile,
    OperatorDriver,
    tolerations,
)
from gpuplatform.profile.operator import GKE_DRIVER_DIR

__all__ = ["NAMESPACE", "ComputeDomains", "ComputeDomainsArgs", "compute_domain_values", "shares_nvlink"]

NAMESPACE: Final = "nvidia-dra-driver-gpu"
RELEASE: Final = "nvidia-dra-driver-gpu"
TIMEOUT_SECONDS: Final = 900

OPERATORS_DRIVER: Final = "/run/nvidia/driver"
"""Where the GPU Operator's driver container puts it."""


@dataclass(frozen=True, kw_only=True)
class ComputeDomainsArgs:
    """What the driver is installed into, and for which pools.

    Attributes:
        cluster: The cluster.
        profiles: All pools of the cluster; at least one shares NVLink among its nodes.
        pools: The GPU pools' own resources; the driver comes after them and goes before them.
        after: What else it comes after: the GPU Operator, which finds out which nodes share NVLink.
        chart: The chart and its version.
    """

    cluster: ClusterHandle
    profiles: Sequence[NodeProfile]
    pools: Sequence[pulumi.Resource]
    after: Sequence[pulumi.Resource] = ()
    chart: Chart = DRA_DRIVER


def shares_nvlink(profile: NodeProfile) -> bool:
    """Whether the pool's nodes share NVLink, so that its pods claim a channel of their domain."""
    return "dra" in profile.device_plugins


def compute_domain_values(profiles: Sequence[NodeProfile]) -> dict[str, Any]:
    """The chart's values; pure.

    GPUs themselves stay with the device plugin: two that hand them out would give one GPU to two pods.
    """
    racks = [profile for profile in profiles if shares_nvlink(profile)]
    on_racks = {"key": POOL_LABEL, "operator": "In", "values": sorted(profile.pool for profile in racks)}
    elsewhere = {"key": POOL_LABEL, "operator": "DoesNotExist"}
    return {
        "nvidiaDriverRoot": _driver_root(racks[0].driver),
        "resources": {"gpus": {"enabled": False}, "computeDomains": {"enabled": True}},
        # The chart wants a node of the control plane, which a managed cluster does not show.
        "controller": {"affinity": _required(elsewhere)},
        "kubeletPlugin": {"affinity": _required(on_racks), "tolerations": tolerations(profiles)},
    }


def _required(expression: dict[str, Any]) -> dict[str, Any]:
    terms = [{"matchExpressions": [expression]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def _driver_root(driver: Driver) -> str:
    match driver:
        case GkeDriver() | OperatorDriver(host="gke-cos"):
            return GKE_DRIVER_DIR
        case OperatorDriver():
            return OPERATORS_DRIVER
        case AmiDriver() | AksDriver():
            return "/"


class ComputeDomains(ReleaseComponent):
    """The driver in a namespace of its own.

    Outputs: those of every release.
    """

    TOKEN = "gpuplatform:index:ComputeDomains"  # noqa: S105 - a type token, no secret

    def __init__(
        self, name: str, args: ComputeDomainsArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        cluster = args.cluster
        nodes = (*cluster.ready, *args.pools)
        namespace = OperatorNamespace(f"{name}-namespace", NAMESPACE, self.in_cluster(cluster, nodes))
        before: list[pulumi.Resource] = [namespace]
        if cluster.cloud == "gcp":
            quota = self.in_cluster(cluster, [namespace, *nodes])
            before.append(critical_pods_quota(f"{name}-critical-pods", namespace.name, quota))
        release = self.install(
            name,
            args.chart,
            cluster=cluster,
            release=RELEASE,
            namespace=namespace.name,
            values=compute_domain_values(args.profiles),
            after=[*before, *args.after, *nodes],
            timeout=TIMEOUT_SECONDS,
        )
        self.finish_release(release, namespace=namespace.name, chart=args.chart)
