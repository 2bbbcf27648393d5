"""What a cloud's module answers for one pool on one machine type; the same shape on all three."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gpuplatform.profile.bandwidth import Bandwidth
from gpuplatform.profile.driver import Driver
from gpuplatform.profile.fabric import Fabric
from gpuplatform.profile.model import CapacityPlan, LocalDisks, Placement, PodWiring, Taint

__all__ = ["CloudFacts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudFacts:
    """See `NodeProfile` for the fields that pass through.

    Attributes:
        gpu_taint: Keeps pods that ask for no GPU off the nodes.
        labels: What the cloud's own tools look for on a node of this pool, and what is declared so that
            updates don't remove it (spot labels).
        taints: Likewise, beside `gpu_taint`.
        needs_scale_hints: Whether the autoscaler must be told what a node of an empty pool looks like.
        scale_hints: What else such an autoscaler must know of a node, as Kubernetes quantities:
            `{"ephemeral-storage": "200Gi"}`.
        gpu_plugin: Who advertises `nvidia.com/gpu` on these nodes.
        fabric_resources: Extended resources of the fabric that a node advertises.
        fabric_plugins: What advertises them.
        pod: What a pod needs for the fabric; GPUs are added by the caller.
        topology_levels: Node labels from the widest level to the host.
        admission_check: Kueue's, for capacity that is asked for by provisioning request.
    """

    driver: Driver
    image: str
    arch: Literal["amd64", "arm64"]
    gpu_taint: Taint
    capacity: CapacityPlan
    fabric: Fabric
    placement: Placement
    local_disks: LocalDisks
    accelerator: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    needs_scale_hints: bool = False
    scale_hints: dict[str, str] = field(default_factory=dict)
    gpu_plugin: Literal["gpu-operator", "gke", "bottlerocket"] = "gpu-operator"
    fabric_resources: dict[str, int] = field(default_factory=dict)
    fabric_plugins: tuple[str, ...] = ()
    pod: PodWiring = field(default_factory=lambda: PodWiring(resources={}))
    topology_levels: tuple[str, ...] = ()
    admission_check: str = ""
    bandwidth: Bandwidth | None = None
    preconditions: tuple[str, ...] = ()
    disk_type: str = ""
