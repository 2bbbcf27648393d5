"""Which pools must lie in one zone."""

from __future__ import annotations

from collections.abc import Sequence

from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile.aws.placement import works_together
from gpuplatform.profile.fabric import Efa, Fabric
from gpuplatform.profile.model import CapacityPlan

__all__ = ["check_zones", "why_one_zone"]


def check_zones(
    pool: NodePool, connects: Fabric, plan: CapacityPlan, zones: Sequence[str], where: str
) -> None:
    """Refuses several zones for a pool whose nodes can start, or talk to each other, in one only.

    Args:
        pool: The pool.
        connects: What connects its nodes.
        plan: How they are bought.
        zones: The zones that it would use.
        where: Its path in the configuration.

    Raises:
        Refusal: The zones are several, and one is needed.
    """
    if len(zones) == 1:
        return
    if (why := why_one_zone(connects, plan, together=works_together(pool))) is None:
        return
    raise Refusal(
        f"pool {pool.name} would use zones {', '.join(zones)}",
        where=f"{where}.zones",
        rule=why,
        way_out=f"choose one: zones: [{zones[0]}]",
    )


def why_one_zone(connects: Fabric, plan: CapacityPlan, *, together: bool) -> str | None:
    """Why nodes must be in one zone; None where they need not. `together`: they run one job."""
    if plan.kind == "capacity-block":
        # https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
        return f"capacity block {plan.id} lies in one zone, and EKS takes the subnet of that zone alone"
    if plan.kind == "reservation" and plan.id.startswith("cr-"):
        # A resource group of reservations, by ARN, may have members in several.
        return f"reservation {plan.id} lies in one zone, and nodes in another could not use it"
    if isinstance(connects, Efa) and together:
        # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html, "EFA limitations".
        return "Elastic Fabric Adapters reach each other within one zone, and so does a placement group"
    return None
