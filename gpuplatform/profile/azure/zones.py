"""Which pools must lie in one zone."""

from __future__ import annotations

from collections.abc import Sequence

from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile.azure.placement import works_together
from gpuplatform.profile.fabric import Fabric, InfiniBand
from gpuplatform.profile.model import CapacityPlan

__all__ = ["check_zones"]


def check_zones(
    pool: NodePool, connects: Fabric, _plan: CapacityPlan, zones: Sequence[str], where: str
) -> None:
    """Refuses several zones for a pool whose nodes reach each other in one only.

    A reservation decides nothing: its group may hold machines in several zones.

    Args:
        pool: The pool.
        connects: What connects its nodes.
        zones: The zones that it would use.
        where: Its path in the configuration.

    Raises:
        Refusal: The zones are several, and one is needed.
    """
    if len(zones) == 1:
        return
    if (why := _one_zone(pool, connects)) is None:
        return
    raise Refusal(
        f"pool {pool.name} would use zones {', '.join(zones)}",
        where=f"{where}.zones",
        rule=why,
        way_out=f'choose one: zones: ["{zones[0]}"]',
    )


def _one_zone(pool: NodePool, connects: Fabric) -> str | None:
    if pool.placement_group is not None:
        # https://learn.microsoft.com/azure/aks/reduce-latency-ppg, "Limitations".
        return "a proximity placement group lies in one zone"
    if isinstance(connects, InfiniBand) and works_together(pool):
        return "InfiniBand reaches as far as one physical network, in one data centre"
    return None
