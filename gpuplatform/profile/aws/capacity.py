"""How AWS sells its GPU machines, and what has to exist before a pool is bought so."""

from __future__ import annotations

import re
from typing import Final

from gpuplatform.catalog import Sku, Status
from gpuplatform.config import NodePool
from gpuplatform.config.capacity import CapacityBlock, FlexStart, OnDemand, Queued, Reservation, Spot
from gpuplatform.errors import Refusal
from gpuplatform.profile.model import CapacityPlan

__all__ = ["capacity", "capacity_preconditions"]

# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html, "Supported instance types";
# p6e-gb200 is on its list of UltraServers.
_BLOCK_FAMILIES: Final = frozenset(
    {"p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300", "p6e-gb200"},
)

_RESERVATION: Final = re.compile(r"cr-[0-9a-f]{8,17}")
_GROUP: Final = re.compile(r"arn:aws[a-z-]*:resource-groups:[a-z0-9-]+:\d{12}:group/[A-Za-z0-9._/-]+")


def capacity(pool: NodePool, sku: Sku, where: str) -> CapacityPlan:
    """How the pool's machines are bought.

    Raises:
        Refusal: AWS does not sell this machine so, or the reservation is none of AWS's.
    """
    at = f"{where}.capacity"
    match pool.capacity:
        case CapacityBlock(id=block):
            _sold_in_blocks(sku, at)
            return CapacityPlan(kind="capacity-block", id=block)
        case FlexStart() | Queued() as asked:
            raise Refusal(
                f"AWS has no {asked.kind} capacity",
                where=at,
                rule="nodes that come when there is capacity, and go after some days, are Google Cloud's",
                way_out=_instead(sku),
            )
        case OnDemand() | Spot() | Reservation() as asked:
            if sku.status is Status.CAPACITY_ONLY:
                raise Refusal(
                    f"{sku.name} is not sold as {asked.kind}",
                    where=at,
                    rule="AWS sells it in capacity blocks only",
                    way_out="buy a block and name it: capacity: {kind: capacity-block, id: cr-...}",
                )
            return CapacityPlan(kind=asked.kind, id=_reservation(asked, at))


def capacity_preconditions(plan: CapacityPlan, sku: Sku) -> tuple[str, ...]:
    """What must have been bought, one sentence each."""
    match plan.kind:
        case "capacity-block":
            # EKS accepts the node group before the block begins, launches nothing until then, and scales it
            # to zero 40 minutes before the block ends
            # (https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html).
            bought = f"Capacity block {plan.id} is bought for {sku.name}, in the zone of this pool"
            return (f"{bought}; nodes start when it begins, and EKS drains them 40 minutes before it ends.",)
        case "reservation":
            active = f"Reservation {plan.id} is active for {sku.name}, Linux/UNIX, in the zone of this pool"
            return (f"{active}; its nodes stand close together only if it was made in a placement group.",)
        case _:
            return ()


def _sold_in_blocks(sku: Sku, where: str) -> None:
    if sku.family not in _BLOCK_FAMILIES:
        raise Refusal(
            f"{sku.name} is not sold in capacity blocks",
            where=where,
            rule=f"AWS sells blocks of {', '.join(sorted(_BLOCK_FAMILIES))}",
            way_out="reserve it: capacity: {kind: reservation, id: cr-...}, or use on-demand or spot",
        )


def _instead(sku: Sku) -> str:
    if sku.family in _BLOCK_FAMILIES:
        return (
            "buy a span of days: capacity: {kind: capacity-block, id: cr-...}, or use spot, on-demand "
            "or a reservation"
        )
    return "use capacity: {kind: spot}, on-demand, or a reservation"


def _reservation(asked: OnDemand | Spot | Reservation, where: str) -> str:
    if not isinstance(asked, Reservation):
        return ""
    if _RESERVATION.fullmatch(asked.id) is None and _GROUP.fullmatch(asked.id) is None:
        raise Refusal(
            f"{asked.id} is no capacity reservation of AWS",
            where=f"{where}.id",
            rule="a reservation is cr- and hexadecimal digits, a group of them the ARN of a resource group",
            way_out="list yours: aws ec2 describe-capacity-reservations",
        )
    return asked.id
