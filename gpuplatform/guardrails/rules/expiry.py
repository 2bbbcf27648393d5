"""The rule about time: an environment does not outlive its last day unnoticed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from gpuplatform.guardrails.limits import Limits
from gpuplatform.guardrails.verdict import STACK, Verdict, passed, warn

__all__ = ["judge_expiry"]


def judge_expiry(limits: Limits, today: date) -> Iterator[Verdict]:
    """The verdict of `expires`; none for an environment that stays.

    A warning, not a failure: the last `up`, which lifts the protection before all goes, comes after that day.
    """
    last = limits.expires
    if last is None:
        return
    over = (today - last).days
    if over > 0:
        yield warn(
            "expires",
            STACK,
            f"the environment's last day was {last}, {over} {_days(over)} ago",
            "take it down (`pulumi destroy --exclude-protected` keeps the storage), or set a later `expires`",
        )
    else:
        yield passed("expires", STACK, f"the last day is {last}, in {-over} {_days(-over)}")


def _days(number: int) -> str:
    return "day" if number == 1 else "days"
