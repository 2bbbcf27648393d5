"""GKE: Container-Optimized OS or Ubuntu, GKE's own autoscaler, GPUDirect over extra networks."""

from __future__ import annotations

from typing import Final, Literal

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.profile.fabric import Fabric, NoFabric, NvlinkDomain, Roce, Tcpx, Tcpxo
from gpuplatform.profile.facts import CloudFacts
from gpuplatform.profile.gcp.capacity import (
    ADMISSION_CHECK,
    QUEUED_LABEL,
    capacity,
    capacity_labels,
    capacity_taints,
)
from gpuplatform.profile.gcp.daemons import node_daemons
from gpuplatform.profile.gcp.disks import boot_disk, local_disks
from gpuplatform.profile.gcp.drivers import ownership
from gpuplatform.profile.gcp.fabric import TOPOLOGY_LEVELS, bandwidth, fabric, fabric_labels, placement
from gpuplatform.profile.gcp.machines import accelerator, machine_type
from gpuplatform.profile.gcp.networks import NodeNetwork, node_networks
from gpuplatform.profile.gcp.pod import pod as wiring
from gpuplatform.profile.model import CapacityPlan, Taint

__all__ = [
    "FIRST_NVLINK_DOMAIN",
    "GKE_TAINTS",
    "NodeNetwork",
    "facts",
    "machine_type",
    "node_daemons",
    "node_networks",
]

# GKE adds it only where another pool without GPUs exists already, and then it differs from what was declared
# and recreates the pool: so it is always declared, with GKE's own value
# (terraform-google-modules/terraform-google-kubernetes-engine#703).
_GPU_TAINT: Final = Taint(key="nvidia.com/gpu", value="present", effect="NoSchedule")

# GKE puts it on nodes with Arm processors by itself (https://cloud.google.com/kubernetes-engine/docs/how-to/
# prepare-arm-workloads-for-deployment): it is here so that everything that must run there tolerates it.
_ARM_TAINT: Final = Taint(key="kubernetes.io/arch", value="arm64", effect="NoSchedule")

GKE_TAINTS: Final = frozenset({QUEUED_LABEL, _ARM_TAINT.key})
"""Keys of the taints that GKE adds by itself: a node pool that declared them would have them twice."""


def facts(pool: NodePool, sku: Sku, where: str) -> CloudFacts:
    """Google Cloud's answers for `pool` on `sku`.

    Raises:
        Refusal: The pool cannot be built so on GKE.
    """
    gpu_name = accelerator(sku, where)
    plan = capacity(pool, sku, where)
    owner = ownership(pool, sku, where)
    connects = fabric(pool, sku, owner.image, where)
    arch: Literal["amd64", "arm64"] = "arm64" if sku.arch == "arm64" else "amd64"
    return CloudFacts(
        driver=owner.driver,
        image=owner.image,
        arch=arch,
        accelerator=gpu_name,
        capacity=plan,
        fabric=connects,
        placement=placement(pool, sku, plan, connects, where),
        local_disks=local_disks(pool, sku, where),
        gpu_taint=_GPU_TAINT,
        labels={**owner.labels, **capacity_labels(plan), **fabric_labels(connects)},
        taints=(*capacity_taints(plan), *((_ARM_TAINT,) if arch == "arm64" else ())),
        gpu_plugin=owner.gpu_plugin,
        fabric_plugins=("dra",) if isinstance(connects, NvlinkDomain) else (),
        pod=wiring(pool.name, connects),
        topology_levels=() if isinstance(connects, NoFabric) else TOPOLOGY_LEVELS,
        admission_check=ADMISSION_CHECK if plan.kind == "queued" else "",
        bandwidth=bandwidth(sku, connects),
        preconditions=_preconditions(sku, plan, connects),
        disk_type=boot_disk(sku),
    )


FIRST_NVLINK_DOMAIN: Final = "1.34.1-gke.1829001"
"""The first version of GKE that gives A4X its networks (cluster-toolkit, examples/gke-a4x).

For A4X Max none is published; Google's blueprint takes any 1.34 (examples/gke-a4x-max-bm). One bound does.
"""


def _preconditions(sku: Sku, plan: CapacityPlan, connects: Fabric) -> tuple[str, ...]:
    said = []
    match connects:
        case Tcpx(networks=count) | Tcpxo(networks=count):
            said.append(f"The project's quota for VPC networks allows {count} more.")
        case Roce(network_profile=suffix, dranet=False) | NvlinkDomain(roce=Roce(network_profile=suffix)):
            said.append(
                f"The pool's zone has a network profile ZONE-{suffix}: gcloud compute network-profiles list."
            )
        case _:
            pass
    if isinstance(connects, NvlinkDomain):
        said.append(
            f"The cluster runs GKE {FIRST_NVLINK_DOMAIN} or later: gcloud container get-server-config."
        )
    if plan.kind in {"spot", "flex-start", "queued"}:
        # Spot and flex-start nodes use the quota for preemptible GPUs (https://cloud.google.com/blog/products/
        # compute/introducing-flex-start-vms-for-the-compute-engine-instance-api).
        said.append(f"The region's quota for preemptible {sku.gpu_model} GPUs covers the pool.")
    return tuple(said)
