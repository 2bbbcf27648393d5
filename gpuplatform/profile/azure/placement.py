"""How close together the nodes stand."""

from __future__ import annotations

import re
from typing import Final

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile.azure.fabric import GRACE_BLACKWELL
from gpuplatform.profile.fabric import Fabric, NoFabric
from gpuplatform.profile.model import CapacityPlan, Placement

__all__ = ["placement", "placement_preconditions", "topology_levels", "works_together"]

_GROUP: Final = re.compile(
    r"/subscriptions/[0-9a-f-]{36}/resourceGroups/[\w.()-]{1,90}"
    r"/providers/Microsoft\.Compute/proximityPlacementGroups/[\w.-]{1,80}",
    re.IGNORECASE,
)
_ZONE: Final = "topology.kubernetes.io/zone"
_CLIQUE: Final = "nvidia.com/gpu.clique"
_HOST: Final = "kubernetes.io/hostname"


def placement(pool: NodePool, connects: Fabric, plan: CapacityPlan, where: str) -> Placement:
    """The pool's proximity placement group.

    One is made where nodes that work together talk over Ethernet in one zone: a group lies in one data centre
    (https://learn.microsoft.com/azure/aks/reduce-latency-ppg). None is made for InfiniBand, whose nodes the
    feature AKSInfinibandSupport keeps on one network already: the group would only make capacity harder to
    get. Nor for what is reserved, where Azure supports none, nor for spot, which takes what is left over.

    Raises:
        Refusal: The group that the pool names is none, or cannot be used with a reservation.
    """
    if pool.placement_group is not None:
        return _existing(pool.placement_group, plan, f"{where}.placement_group")
    one_zone = pool.zones is not None and len(pool.zones) == 1
    if isinstance(connects, NoFabric) and works_together(pool) and one_zone and plan.kind == "on-demand":
        return Placement(kind="proximity")
    return Placement(kind="none")


def placement_preconditions(group: Placement) -> tuple[str, ...]:
    """What the user's own group needs, one sentence."""
    if group.kind != "existing":
        return ()
    # https://learn.microsoft.com/azure/aks/aks-service-permissions. The group of our own comes with it; the
    # user's may be anybody's, and no program should hand out roles on it.
    sentence = (
        f"The cluster's control-plane identity has the role Contributor on {group.name}, or one with "
        "Microsoft.Compute/proximityPlacementGroups/write. If the stack makes the identity, assign it "
        "then and deploy again."
    )
    return (sentence,)


def works_together(pool: NodePool) -> bool:
    """Whether several nodes of the pool run one job."""
    return pool.nodes.max > 1 and (pool.fabric == "required" or pool.purpose == "training")


def topology_levels(sku: Sku) -> tuple[str, ...]:
    """Node labels from the widest level to the host.

    Azure tells of no switches. The clique is the NVLink domain, which GPU feature discovery reads from the
    driver.
    """
    return (_CLIQUE, _HOST) if sku.gpu_model in GRACE_BLACKWELL else (_ZONE, _HOST)


def _existing(group: str, plan: CapacityPlan, where: str) -> Placement:
    if _GROUP.fullmatch(group) is None:
        raise Refusal(
            f"{group} is no proximity placement group of Azure",
            where=where,
            rule="it is named by its ID: /subscriptions/SUBSCRIPTION/resourceGroups/GROUP"
            "/providers/Microsoft.Compute/proximityPlacementGroups/NAME",
            way_out="list yours: az ppg list --query [].id, or leave placement_group out",
        )
    if plan.kind == "reservation":
        raise Refusal(
            "reserved machines in a proximity placement group",
            where=where,
            rule="Azure supports no proximity placement group with a capacity reservation "
            "(https://learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview)",
            way_out="leave placement_group out, or use capacity: {kind: on-demand}",
        )
    return Placement(kind="existing", name=group)
