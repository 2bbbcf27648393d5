"""What connects the GPU nodes of a GKE pool, and how close together they stand."""

from __future__ import annotations

from typing import Final

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile.bandwidth import Bandwidth
from gpuplatform.profile.fabric import Fabric, NoFabric, NvlinkDomain, Roce, Tcpx, Tcpxo
from gpuplatform.profile.gcp.drivers import COS
from gpuplatform.profile.model import CapacityPlan, Placement

__all__ = [
    "DRANET_LABEL",
    "NVLINK_NODES",
    "TOPOLOGY_LEVELS",
    "bandwidth",
    "fabric",
    "fabric_labels",
    "placement",
]

TCPX_MTU: Final = 8244
"""Largest packet that GPUDirect-TCPX and TCPXO take (GoogleCloudPlatform/cluster-toolkit#2797)."""

TOPOLOGY_LEVELS: Final = (
    "cloud.google.com/gce-topology-block",
    "cloud.google.com/gce-topology-subblock",
    "cloud.google.com/gce-topology-host",
    "kubernetes.io/hostname",
)
"""https://docs.cloud.google.com/ai-hypercomputer/docs/nccl/test-gke-custom-a3-mega-high"""

DRANET_LABEL: Final = "cloud.google.com/gke-networking-dra-driver"

NVLINK_NODES: Final = 18
"""Nodes of four GPUs in one NVLink domain of 72."""

# Sources: NICs of A3 High and A3 Mega:
# https://cloud.google.com/kubernetes-engine/docs/how-to/gpu-bandwidth-gpudirect-tcpx; the others:
# GoogleCloudPlatform/cluster-toolkit, examples/gke-a3-ultragpu, gke-a4, gke-a4x and gke-a4x-max-bm. A4X and
# A4X Max get their NICs by dynamic resource allocation; for A4X GKE makes the networks itself, from
# 1.34.1-gke.1829001 on.
_ROCE: Final = Roce(adapters=8, network_profile="vpc-roce")
_FABRICS: Final[dict[str, Fabric]] = {
    "a3-highgpu-8g": Tcpx(networks=4, mtu=TCPX_MTU),
    "a3-edgegpu-8g": Tcpx(networks=4, mtu=TCPX_MTU),
    "a3-megagpu-8g": Tcpxo(networks=8, mtu=TCPX_MTU),
    "a3-ultragpu-8g": _ROCE,
    "a4-highgpu-8g": _ROCE,
    "a4x-highgpu-4g": NvlinkDomain(
        roce=Roce(adapters=4, network_profile="vpc-roce", dranet=True), topology="1x72"
    ),
    "a4x-maxgpu-4g-metal": NvlinkDomain(
        roce=Roce(adapters=8, network_profile="vpc-roce-metal", dranet=True), topology="1x72"
    ),
}

_TESTS: Final = (
    "https://github.com/GoogleCloudPlatform/cluster-toolkit/blob/main/tools/cloud-build/daily-tests/"
    "ansible_playbooks/test-validation/test-gke-{}.yml"
)
# Google's own daily tests of the same machines on GKE, two nodes each. No test names A3 Edge or A4X Max.
_FLOORS: Final[dict[str, tuple[float, str]]] = {
    "a3-highgpu-8g": (25, "a3-high"),
    "a3-megagpu-8g": (30, "a3-mega"),
    "a3-ultragpu-8g": (100, "a3-ultra"),
    "a4-highgpu-8g": (100, "a4"),
    "a4x-highgpu-4g": (200, "a4x"),
}

# "Available only with A100, L4, and H100 GPUs"
# (https://cloud.google.com/kubernetes-engine/docs/how-to/compact-placement).
_COMPACT: Final = frozenset({"a2-standard", "a2-ultra", "a3-high", "a3-mega", "g2"})
# "Compact placement with DWS Flex start is only supported for A3 Ultra, A4, and H4D machine types"
# (GoogleCloudPlatform/cluster-toolkit, modules/compute/gke-node-pool/main.tf).
_COMPACT_FLEX: Final = frozenset({"a3-ultra", "a4"})


def fabric(pool: NodePool, sku: Sku, image: str, where: str) -> Fabric:
    """The accelerated network of the pool's nodes.

    Raises:
        Refusal: The pool's zones or its size do not fit the fabric.
    """
    own = _FABRICS.get(sku.name)
    if own is None:
        return NoFabric(
            reason=f"Google Cloud has GPUDirect on whole A3, A4 and A4X machines only, not on {sku.name}"
        )
    if pool.fabric == "none":
        return NoFabric(reason="the pool asks for none")
    if image != COS:
        return NoFabric(reason="GPUDirect needs Container-Optimized OS, and the pool has Ubuntu")
    _one_zone(pool, sku, where)
    return own


def fabric_labels(connects: Fabric) -> dict[str, str]:
    """Labels by which GKE runs its network driver for dynamic resource allocation on the nodes."""
    match connects:
        case NvlinkDomain(roce=Roce(bare_metal=True)):
            # GoogleCloudPlatform/cluster-toolkit, examples/gke-a4x-max-bm/gke-a4x-max-bm.yaml.
            return {DRANET_LABEL: "true", "cloud.google.com/gke-dpv2-unified-cni": "cni-migration"}
        case NvlinkDomain():
            return {DRANET_LABEL: "true"}
        case _:
            return {}


def placement(pool: NodePool, sku: Sku, plan: CapacityPlan, connects: Fabric, where: str) -> Placement:
    """How close together the nodes stand.

    Compact placement where Google sells it and the pool has a fabric, and never on a reservation, whose
    machines stand where they stand: asked for beside one, GKE finds only those that happen to match
    (eksctl-io/eksctl#7949 is the same on AWS).

    Raises:
        Refusal: The pool names a policy that its capacity excludes, or is larger than its NVLink domain.
    """
    if sku.family in {"a4x", "a4x-max"}:
        return _nvlink_domain(pool, sku, where)
    if pool.placement_group is not None:
        _compact_allowed(pool, sku, plan, where)
        return Placement(kind="existing", name=pool.placement_group)
    if isinstance(connects, NoFabric) or pool.nodes.max == 1 or not _compact(sku, plan):
        return Placement(kind="none")
    return Placement(kind="compact")


def bandwidth(sku: Sku, connects: Fabric) -> Bandwidth | None:
    """The floor between two nodes; None where Google publishes none."""
    if isinstance(connects, NoFabric) or sku.name not in _FLOORS:
        return None
    floor, test = _FLOORS[sku.name]
    # gpudirect-tcpx/nccl-config-latest.yaml: 1M to 512M; the job sets in cluster-toolkit/examples: 1K to 8G.
    # The script inside TCPXO's image is not published; an average that is (NVIDIA/aicr: 87 up to 8G) fits.
    small, large = (1 << 20, 512 << 20) if isinstance(connects, Tcpx) else (1 << 10, 8 << 30)
    return Bandwidth(
        floor=floor,
        metric="average",
        source=_TESTS.format(test),
        collective="all_gather",
        min_bytes=small,
        max_bytes=large,
    )


def _one_zone(pool: NodePool, sku: Sku, where: str) -> None:
    if pool.zones is not None and len(pool.zones) > 1:
        raise Refusal(
            f"nodes of {sku.name} in {len(pool.zones)} zones have no fabric between them",
            where=f"{where}.zones",
            rule="a fabric is inside one zone",
            way_out="give the pool one zone, make one pool for each zone, or say fabric: none",
        )


def _compact(sku: Sku, plan: CapacityPlan) -> bool:
    if plan.kind == "flex-start":
        return sku.family in _COMPACT_FLEX
    return plan.kind in {"on-demand", "spot"} and sku.family in _COMPACT


def _compact_allowed(pool: NodePool, sku: Sku, plan: CapacityPlan, where: str) -> None:
    if plan.kind == "queued" or (plan.kind == "flex-start" and sku.family not in _COMPACT_FLEX):
        raise Refusal(
            f"{plan.kind} nodes of {sku.name} take no placement policy ({pool.placement_group})",
            where=f"{where}.placement_group",
            # hashicorp/terraform-provider-google#18341
            rule="queued provisioning places nodes itself; flex-start takes a policy on A3 Ultra and A4 only",
            way_out="leave placement_group out, or use another kind of capacity",
        )


def _nvlink_domain(pool: NodePool, sku: Sku, where: str) -> Placement:
    if pool.placement_group is not None:
        raise Refusal(
            f"{sku.name} stands in an NVLink domain, not in the placement policy {pool.placement_group}",
            where=f"{where}.placement_group",
            rule="its pool gets a workload policy of topology 1x72",
            way_out="leave placement_group out",
        )
    if pool.nodes.max > NVLINK_NODES:
        raise Refusal(
            f"{pool.nodes.max} nodes of {sku.name} do not fit one NVLink domain",
            where=f"{where}.nodes.max",
            rule=f"a pool is one domain of 72 GPUs: {NVLINK_NODES} nodes of four",
            way_out=f"make several pools of at most {NVLINK_NODES} nodes",
        )
    return Placement(kind="compact", topology="1x72")
