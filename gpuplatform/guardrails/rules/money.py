"""Rules about money: the month's cost against the limit, and the age of the prices behind it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Final

from gpuplatform.guardrails.cost import Cost, CostLine, usd
from gpuplatform.guardrails.limits import Limits
from gpuplatform.guardrails.verdict import STACK, Verdict, fail, not_evaluated, passed, warn

__all__ = ["OLD_DAYS", "judge_budget", "judge_price_age"]

OLD_DAYS: Final = 90
"""A price older than this is a warning with its date."""


def judge_price_age(cost: Cost, limits: Limits, today: date) -> Iterator[Verdict]:
    """The verdict of `price-age` on the oldest price that the cost rests on."""
    dated = [(line.date, line) for line in cost.lines if line.date is not None]
    if not dated:
        return
    oldest, line = min(dated, key=lambda pair: pair[0])
    age = (today - oldest).days
    message = f"the oldest price, of {line.subject} ({line.item}), is of {oldest}: {age} days old"
    way_out = "check it against the cloud's price list; a price file of your own replaces it"
    if limits.max_price_age_days is not None and age > limits.max_price_age_days:
        yield not_evaluated(
            "price-age", STACK, f"{message}, and at most {limits.max_price_age_days} are accepted", way_out
        )
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
    if total > limit:
        largest = max(usable, key=lambda line: line.maximum or Decimal(0))
        yield fail(
            "budget",
            STACK,
            f"{amounts}; the largest item is {largest}",
            "lower the pools' maximum, choose a smaller machine or spot capacity, or ask for a larger budget",
        )
    elif reasons:
        yield not_evaluated(
            "budget",
            STACK,
            f"{amounts}, but not all of it is known: {'; '.join(reasons)}",
            "a price file of your own may give the missing prices",
        )
    else:
        yield passed("budget", STACK, amounts)


def _too_old(line: CostLine, limits: Limits, today: date) -> bool:
    most = limits.max_price_age_days
    return most is not None and line.date is not None and (today - line.date).days > most
