"""How each GPU machine of Google Cloud is sold, and what buying it so does to a node pool."""

from __future__ import annotations

import re
from typing import Final

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.config.capacity import CapacityBlock, FlexStart, OnDemand, Queued, Reservation, Spot
from gpuplatform.errors import Refusal
from gpuplatform.profile.model import CapacityPlan, Taint

__all__ = ["ADMISSION_CHECK", "QUEUED_LABEL", "capacity", "capacity_labels", "capacity_taints"]

QUEUED_LABEL: Final = "cloud.google.com/gke-queued"

ADMISSION_CHECK: Final = "queued-provisioning"
"""Kueue's admission check; its provisioning class is `queued-provisioning.gke.io`."""

_EVERY_WAY: Final = ("on-demand", "spot", "reservation", "flex-start", "queued")
_NO_FLEX: Final = ("on-demand", "spot", "reservation")
_NO_ON_DEMAND: Final = ("reservation", "spot", "flex-start", "queued")
_FLEX_OR_SPOT: Final = ("spot", "flex-start", "queued")
_RESERVED: Final = ("reservation",)

# Sources: https://cloud.google.com/compute/docs/accelerator-optimized-machines (what has no on-demand price:
# A3 Ultra, A4, A4X; A3 High with fewer than eight GPUs is Spot or Flex-start only);
# https://cloud.google.com/compute/docs/instances/about-flex-start-vms ("all accelerator-optimized machine
# types (except A4X and G4)", and so no GPU on an N1 host either).
_SOLD: Final[dict[str, tuple[str, ...]]] = {
    "a2-standard": _EVERY_WAY,
    "a2-ultra": _EVERY_WAY,
    "a3-high": _EVERY_WAY,
    "a3-edge": _EVERY_WAY,
    "a3-mega": _EVERY_WAY,
    "a3-ultra": _NO_ON_DEMAND,
    "a4": _NO_ON_DEMAND,
    "a4x": _RESERVED,
    "a4x-max": _RESERVED,
    "g2": _EVERY_WAY,
    "g4": _NO_FLEX,
    "n1-attach": _NO_FLEX,
}

# A name, optionally below its project, optionally one block of the reservation
# (https://cloud.google.com/kubernetes-engine/docs/how-to/consuming-reservations).
_NAME: Final = r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?"
_RESERVATION: Final = re.compile(
    rf"(projects/[a-z][a-z0-9-]{{4,28}}[a-z0-9]/reservations/)?{_NAME}(/reservationBlocks/{_NAME})?"
)


def capacity(pool: NodePool, sku: Sku, where: str) -> CapacityPlan:
    """How the pool's machines are bought.

    Raises:
        Refusal: Google does not sell this machine so, or the pool's size or reservation does not fit.
    """
    asked = pool.capacity
    _sold(asked.kind, sku, where)
    match asked:
        case Reservation(id=name):
            _named(name, where)
            return CapacityPlan(kind="reservation", id=name)
        case FlexStart(max_run_hours=hours) | Queued(max_run_hours=hours):
            _none_always_there(pool, where)
            return CapacityPlan(kind=asked.kind, max_run_hours=hours)
        case OnDemand() | Spot() | CapacityBlock():
            return CapacityPlan(kind=asked.kind)


def capacity_labels(plan: CapacityPlan) -> dict[str, str]:
    """Labels that are declared: GKE taints the nodes of a queued pool by itself, but does not label them.

    GKE labels spot nodes `cloud.google.com/gke-spot` and flex-start nodes `cloud.google.com/gke-flex-start`
    itself. Source: GoogleCloudPlatform/cluster-toolkit, modules/compute/gke-node-pool/main.tf.
    """
    return {QUEUED_LABEL: "true"} if plan.kind == "queued" else {}


def capacity_taints(plan: CapacityPlan) -> tuple[Taint, ...]:
    """Taints that GKE adds: one on queued pools, none on spot or flex-start ones."""
    if plan.kind != "queued":
        return ()
    return (Taint(key=QUEUED_LABEL, value="true", effect="NoSchedule"),)


def _sold(kind: str, sku: Sku, where: str) -> None:
    if kind == "capacity-block":
        raise Refusal(
            "Google Cloud has no capacity blocks",
            where=f"{where}.capacity.kind",
            rule="a span of days is reserved ahead as a future reservation in calendar mode",
            way_out="make that reservation and use capacity: {kind: reservation, id: NAME}, or flex-start",
        )
    ways = _ways(sku)
    if kind not in ways:
        raise Refusal(
            f"{sku.name} is not sold {_WORDS[kind]}",
            where=f"{where}.capacity.kind",
            rule=f"Google sells it by {', '.join(ways)} only",
            way_out=f"use capacity: {{kind: {ways[0]}{', id: NAME' if ways[0] == 'reservation' else ''}}}",
        )


_WORDS: Final = {
    "on-demand": "on demand",
    "spot": "as spot capacity",
    "reservation": "by reservation",
    "flex-start": "by flex-start",
    "queued": "by queued provisioning, which is flex-start for whole jobs",
}


def _ways(sku: Sku) -> tuple[str, ...]:
    few_gpus = sku.family == "a3-high" and sku.gpu_count < 8  # noqa: PLR2004 - the whole machine has eight
    return _FLEX_OR_SPOT if few_gpus else _SOLD[sku.family]


def _named(name: str, where: str) -> None:
    if _RESERVATION.fullmatch(name) is None:
        raise Refusal(
            f"{name} is no reservation",
            where=f"{where}.capacity.id",
            rule="it is a name, or projects/PROJECT/reservations/NAME where another project shares it; "
            "/reservationBlocks/BLOCK after either is one block of it",
            way_out="gcloud compute reservations list names those of the project",
        )


def _none_always_there(pool: NodePool, where: str) -> None:
    if pool.nodes.min > 0:
        raise Refusal(
            f"{pool.nodes.min} {pool.capacity.kind} nodes cannot always be there, since each one goes again",
            where=f"{where}.nodes.min",
            # Queued provisioning refuses any other minimum (hashicorp/terraform-provider-google#18341).
            rule="the pool grows from zero when a job asks and shrinks to zero when it ends",
            way_out="use nodes: {min: 0, ...}, or capacity: {kind: reservation, id: NAME}",
        )
