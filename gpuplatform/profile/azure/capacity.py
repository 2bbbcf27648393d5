"""How Azure sells its GPU machines, and what has to exist before a pool is bought so."""

from __future__ import annotations

import re
from typing import Final

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.config.capacity import CapacityBlock, FlexStart, OnDemand, Queued, Reservation, Spot
from gpuplatform.errors import Refusal
from gpuplatform.profile.model import CapacityPlan, Taint

__all__ = [
    "capacity",
    "capacity_labels",
    "capacity_preconditions",
    "capacity_taints",
    "reservation_scope",
]

SPOT_KEY: Final = "kubernetes.azure.com/scalesetpriority"

# The GPU machines that can be reserved; ND machines, NCads H100 v5 among "support for other VM series isn't
# currently available": https://learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview,
# "Limitations and restrictions" (17 February 2026).
_RESERVABLE: Final = frozenset(
    {"NC_A100_v4", "NCadsA10_v4", "NCasT4_v3", "NCv3", "NVadsA10_v5", "NVv3"},
)

_GROUP: Final = re.compile(
    r"(?P<scope>/subscriptions/[0-9a-f-]{36}/resourceGroups/[\w.()-]{1,90})"
    r"/providers/Microsoft\.Compute/capacityReservationGroups/[\w.-]{1,80}",
    re.IGNORECASE,
)


def capacity(pool: NodePool, sku: Sku, where: str) -> CapacityPlan:
    """How the pool's machines are bought.

    Raises:
        Refusal: Azure does not sell this machine so, or the reservation is no group of Azure's.
    """
    at = f"{where}.capacity"
    match pool.capacity:
        case OnDemand() | Spot() as asked:
            return CapacityPlan(kind=asked.kind)
        case Reservation(id=group):
            _reservable(sku, at)
            reservation_scope(group, f"{at}.id")
            return CapacityPlan(kind="reservation", id=group)
        case CapacityBlock():
            raise Refusal(
                "Azure sells no capacity blocks",
                where=at,
                rule="machines bought ahead for a span of days are AWS's",
                way_out=_instead(sku),
            )
        case FlexStart() | Queued() as asked:
            raise Refusal(
                f"Azure has no {asked.kind} capacity",
                where=at,
                rule="nodes that come when there is capacity, and go after some days, are Google Cloud's",
                way_out=_instead(sku),
            )


def capacity_labels(plan: CapacityPlan) -> dict[str, str]:
    """AKS labels and taints a spot pool by itself, so both are declared.

    Undeclared, an update would remove the label and replace the pool for its taint
    (hashicorp/terraform-provider-azurerm#19355, Azure/AKS#3152).
    """
    return {SPOT_KEY: "spot"} if plan.kind == "spot" else {}


def capacity_taints(plan: CapacityPlan) -> tuple[Taint, ...]:
    """The taint of a spot pool, which AKS adds as well; see `capacity_labels`."""
    return (Taint(key=SPOT_KEY, value="spot", effect="NoSchedule"),) if plan.kind == "spot" else ()


def capacity_preconditions(plan: CapacityPlan, sku: Sku) -> tuple[str, ...]:
    """What must have been bought, one sentence each."""
    if plan.kind != "reservation":
        return ()
    return (
        # Without a reservation in it AKS adds the pool with a warning, and no capacity is kept for it.
        f"Capacity reservation group {plan.id} holds {sku.name} in each zone of this pool.",
        # The role that AKS asks for takes up to 60 minutes to reach everywhere
        # (https://learn.microsoft.com/azure/aks/use-capacity-reservation-groups).
        "Whoever deploys may assign the cluster's identity a role on the group's resource group.",
    )


def reservation_scope(group: str, where: str) -> str:
    """The ID of the resource group that a capacity reservation group stands in.

    The cluster's identity needs a role there
    (https://learn.microsoft.com/azure/aks/use-capacity-reservation-groups).

    Raises:
        Refusal: `group` is no ID of a capacity reservation group.
    """
    match = _GROUP.fullmatch(group)
    if match is None:
        raise Refusal(
            f"{group} is no capacity reservation group of Azure",
            where=where,
            rule="a reservation is named by its group: /subscriptions/SUBSCRIPTION/resourceGroups/GROUP"
            "/providers/Microsoft.Compute/capacityReservationGroups/NAME",
            way_out="list yours: az capacity reservation group list --query [].id",
        )
    return match["scope"]


def _reservable(sku: Sku, where: str) -> None:
    if sku.family not in _RESERVABLE:
        raise Refusal(
            f"{sku.name} cannot be reserved on demand",
            where=where,
            rule=f"Azure's capacity reservations take the GPU families {', '.join(sorted(_RESERVABLE))}",
            way_out="use capacity: {kind: on-demand} with quota for it (ask Microsoft for capacity), or spot",
        )


def _instead(sku: Sku) -> str:
    if sku.family in _RESERVABLE:
        return "reserve it: capacity: {kind: reservation, id: a capacity reservation group's}, or use spot"
    return "use capacity: {kind: on-demand}, or spot"
