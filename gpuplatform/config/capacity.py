"""How a pool's machines are bought: a closed union; what a cloud does not sell is refused."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gpuplatform.config.base import Model

__all__ = ["Capacity", "CapacityBlock", "FlexStart", "OnDemand", "Queued", "Reservation", "Spot"]

RunHours = Annotated[
    int, Field(ge=1, le=168, description="Longest run of a node, hours; seven days at most.")
]


class OnDemand(Model):
    """Bought by the hour, kept until released."""

    kind: Literal["on-demand"] = "on-demand"


class Spot(Model):
    """Spare capacity at the spot price; the cloud may take a node back at short notice."""

    kind: Literal["spot"]


class Reservation(Model):
    """Capacity that is reserved and paid for already, whether nodes run or not."""

    kind: Literal["reservation"]
    id: Annotated[
        str,
        Field(
            min_length=1,
            description="AWS: cr-... or a resource group's ARN; Azure: resource ID of a capacity reservation "
            "group; GCP: a reservation's name, or projects/P/reservations/NAME for a shared one.",
        ),
    ]


class CapacityBlock(Model):
    """AWS: a block of GPU machines, bought ahead for a span of days."""

    kind: Literal["capacity-block"]
    id: Annotated[str, Field(pattern=r"^cr-[0-9a-f]{8,17}$", description="The block's reservation, cr-....")]


class FlexStart(Model):
    """GCP: nodes that come when there is capacity and go after at most seven days."""

    kind: Literal["flex-start"]
    max_run_hours: RunHours = 168


class Queued(Model):
    """GCP: flex-start by provisioning request: all nodes of a job at once, or none yet."""

    kind: Literal["queued"]
    max_run_hours: RunHours = 168


Capacity = Annotated[
    OnDemand | Spot | Reservation | CapacityBlock | FlexStart | Queued, Field(discriminator="kind")
]
