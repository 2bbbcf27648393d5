"""All rules over one footprint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from gpuplatform.catalog import Catalog
from gpuplatform.guardrails.cost import cost
from gpuplatform.guardrails.footprint import Footprint
from gpuplatform.guardrails.limits import Limits
from gpuplatform.guardrails.rules.expiry import judge_expiry
from gpuplatform.guardrails.rules.kubernetes import judge_version
from gpuplatform.guardrails.rules.machine import judge_machine
from gpuplatform.guardrails.rules.money import judge_budget, judge_price_age
from gpuplatform.guardrails.rules.place import judge_place, judge_region
from gpuplatform.guardrails.verdict import Status, Verdict

__all__ = ["judge", "judge_money", "judge_parts"]

# A fabric or an old price costs speed or trust, not money or a deployment that cannot work.
_ADVISORY = frozenset({"fabric", "price-age"})


def judge(footprint: Footprint, limits: Limits, catalog: Catalog, today: date) -> tuple[Verdict, ...]:
    """Every rule's verdict on every subject it concerns.

    Args:
        footprint: What would run.
        limits: Operations' limits; a rule without a limit set gives no verdict.
        catalog: What is known of hardware, places and prices.
        today: The day to judge by.
    """
    return (
        *judge_parts(footprint, limits, catalog, today),
        *judge_money(footprint, limits, catalog, today),
        *judge_expiry(limits, today),
    )


def judge_parts(footprint: Footprint, limits: Limits, catalog: Catalog, today: date) -> tuple[Verdict, ...]:
    """The verdicts on each node group and control plane by itself."""
    return tuple(_weigh(verdict, limits) for verdict in _parts(footprint, limits, catalog, today))


def judge_money(footprint: Footprint, limits: Limits, catalog: Catalog, today: date) -> tuple[Verdict, ...]:
    """The verdicts on the whole: what it costs, and how old the prices are."""
    month = cost(footprint, catalog, today)
    verdicts = (*judge_budget(month, limits, today), *judge_price_age(month, limits, today))
    return tuple(_weigh(verdict, limits) for verdict in verdicts)


def _parts(footprint: Footprint, limits: Limits, catalog: Catalog, today: date) -> Iterator[Verdict]:
    regions = {(plane.cloud, plane.region) for plane in footprint.control_planes}
    for plane in footprint.control_planes:
        yield from judge_region(plane, limits, catalog)
        yield judge_version(plane, catalog, today)
    for group in footprint.node_groups:
        yield from judge_machine(group, limits, catalog, today)
        if (group.cloud, group.region) not in regions:  # one verdict for a cluster and all its pools
            yield from judge_region(group, limits, catalog)
        yield from judge_place(group, catalog)


def _weigh(verdict: Verdict, limits: Limits) -> Verdict:
    if verdict.status is not Status.NOT_EVALUATED or verdict.rule in _ADVISORY:
        return verdict
    return replace(verdict, mandatory=limits.not_evaluated_fails)
