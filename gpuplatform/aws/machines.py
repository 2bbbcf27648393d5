"""What a GPU pool's machines are launched with, from its profile; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pulumi

from gpuplatform.aws.user_data import user_data
from gpuplatform.profile import CapacityPlan, Efa, NodeProfile

__all__ = ["machines"]


def machines(
    profile: NodeProfile,
    *,
    security_groups: Sequence[pulumi.Input[str]] = (),
    placement_group: pulumi.Input[str] | None = None,
) -> dict[str, Any]:
    """The pool's part of its launch template.

    Args:
        profile: What the nodes are.
        security_groups: Of every interface, where the profile has a fabric: naming any keeps EKS from adding
            the cluster's own, so it is among them.
        placement_group: Its name.
    """
    data = user_data(profile)
    return {
        **_interfaces(profile, security_groups),
        **({"placement": {"groupName": placement_group}} if placement_group is not None else {}),
        **_bought(profile.capacity, profile.sku),
        **({"userData": data} if data else {}),
    }


def _interfaces(profile: NodeProfile, security_groups: Sequence[pulumi.Input[str]]) -> dict[str, Any]:
    if not isinstance(profile.fabric, Efa):
        return {}
    return {
        "networkInterfaces": [
            {
                "networkCardIndex": interface.card,
                "deviceIndex": interface.device,
                "interfaceType": interface.type,
                "securityGroups": list(security_groups),
                "deleteOnTermination": "true",
            }
            for interface in profile.fabric.interfaces
        ]
    }


def _bought(plan: CapacityPlan, sku: str) -> dict[str, Any]:
    match plan.kind:
        case "capacity-block":
            # All of it, or EKS rejects the node group; and the machine type here, not there
            # (https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html).
            return {
                "instanceMarketOptions": {"marketType": "capacity-block"},
                "instanceType": sku,
                "capacityReservationSpecification": {
                    "capacityReservationTarget": {"capacityReservationId": plan.id}
                },
            }
        case "reservation":
            target = (
                "capacityReservationId"
                if plan.id.startswith("cr-")
                else "capacityReservationResourceGroupArn"
            )
            return {
                "capacityReservationSpecification": {
                    # Never beside the reservation, at the price of on-demand.
                    "capacityReservationPreference": "capacity-reservations-only",
                    "capacityReservationTarget": {target: plan.id},
                }
            }
        case _:
            return {}
