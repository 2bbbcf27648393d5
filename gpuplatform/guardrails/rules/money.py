"""Rules about money: the month's cost against the limit, and the age of the prices behind it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Final

from gpuplatform import clock
from gpuplatform.guardrails.cost import CONTROL_PLANE, NEWER_CATALOGUE, Cost, CostLine, cents, usd
from gpuplatform.guardrails.limits import Limits
from gpuplatform.guardrails.verdict import STACK, Verdict, fail, not_evaluated, passed, warn

__all__ = ["OLD_DAYS", "judge_budget", "judge_price_age"]

_OLDER: Final = "accept older prices: max_price_age_days (in a policy pack maxPriceAgeDays)"
_CLOCK: Final = f"correct the clock (or {clock.VARIABLE}), or the price's date"
OLD_DAYS: Final = 90
"""A price older than this is a warning with its date."""


def judge_price_age(cost: Cost, limits: Limits, today: date) -> Iterator[Verdict]:
    """The verdict of `price-age` on the oldest price that the cost rests on."""
    dated = [(line.date, line) for line in cost.lines if line.date is not None]
    if not dated:
        return
    newest, last = max(dated, key=lambda pair: pair[0])
    if newest > today:
        yield not_evaluated(
            "price-age",
            STACK,
            f"the price of {last.subject} ({last.item}) is of {newest}, and today is {today}: no known age",
            _CLOCK,
        )
        return
    oldest, line = min(dated, key=lambda pair: pair[0])
    age = (today - oldest).days
    message = f"the oldest price, of {line.subject} ({line.item}), is of {oldest}: {age} days old"
    way_out = f"check it against the cloud's price list; {_way_to_newer(line)}"
    if limits.max_price_age_days is not None and age > limits.max_price_age_days:
        message = f"{message}, and at most {limits.max_price_age_days} are accepted"
        yield not_evaluated("price-age", STACK, message, f"{way_out}, or {_OLDER}")
    elif age > OLD_DAYS:
        yield warn("price-age", STACK, message, way_out)
    else:
        yield passed("price-age", STACK, message)


def judge_budget(cost: Cost, limits: Limits, today: date) -> Iterator[Verdict]:
    """The verdict of `budget`; none where no budget is set.

    What is priced already may exceed the limit by itself: that is a FAIL, whatever the rest would cost.
    """
    limit = limits.monthly_usd
    if limit is None:
        return
    usable = [line for line in cost.lines if line.maximum is not None and not _too_old(line, limits, today)]
    reasons = [line.reason for line in cost.lines if line.maximum is None]
    reasons += [
        f"{line.subject}: the price of {line.item} is of {line.date}"
        for line in cost.lines
        if line.maximum is not None and _too_old(line, limits, today)
    ]
    total = sum((line.maximum or Decimal(0) for line in usable), Decimal(0))
    at_least = "at least " if reasons else ""
    amounts = f"at the autoscaler's maximum a month costs {at_least}{usd(total)}, the budget is {usd(limit)}"
    if cents(total) > cents(limit):
        largest = max(usable, key=lambda line: line.maximum or Decimal(0))
        yield fail(
            "budget",
            STACK,
            f"{amounts}; the largest item is {largest}",
            _way_below(usable, largest),
        )
    elif reasons:
        yield not_evaluated(
            "budget",
            STACK,
            f"{amounts}, but not all of it is known: {'; '.join(reasons)}",
            _way_to_prices(cost, limits, today),
        )
    else:
        yield passed("budget", STACK, amounts)


def _way_below(usable: list[CostLine], largest: CostLine) -> str:
    ways = []
    if any(line.maximum and line.item != CONTROL_PLANE for line in usable):
        spot = " or spot capacity" if largest.spot_is_cheaper else ""
        ways = ["lower the pools' maximum", f"choose a smaller machine{spot}"]
    return ", ".join([*ways, "or ask for a larger budget" if ways else "ask for a larger budget"])


def _way_to_prices(cost: Cost, limits: Limits, today: date) -> str:
    ways = [line.way_out for line in cost.lines if line.maximum is None and line.way_out]
    old = [line for line in cost.lines if line.maximum is not None and _too_old(line, limits, today)]
    for line in old:
        coming = line.date is not None and line.date > today
        ways.append(_CLOCK if coming else f"{_way_to_newer(line)}, or {_OLDER}")
    return (
        "; ".join(dict.fromkeys(ways))
        or "give the values in the program, or wait for the update to tell them"
    )


def _way_to_newer(line: CostLine) -> str:
    if line.item == CONTROL_PLANE:
        return f"for a newer price of a control plane {NEWER_CATALOGUE}"
    return f"a newer price of {line.item} can stand in a price file of your own"


def _too_old(line: CostLine, limits: Limits, today: date) -> bool:
    most = limits.max_price_age_days
    return most is not None and line.date is not None and not 0 <= (today - line.date).days <= most
