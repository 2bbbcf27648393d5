"""Whether a change makes something smaller, or takes it across a limit; False where that is not known."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any

__all__ = ["across", "smaller"]


def smaller(old: Any, new: Any) -> bool:
    """A smaller number, or an address range that no longer holds all of the old one."""
    before, after = _number(old), _number(new)
    if before is not None and after is not None:
        return after < before
    try:
        return not IPv4Network(old).subnet_of(IPv4Network(new))
    except (ValueError, TypeError):
        return False


def across(old: Any, new: Any, limit: float) -> bool:
    """Whether one of the numbers is below the limit and the other is not."""
    before, after = _number(old), _number(new)
    return before is not None and after is not None and (before < limit) != (after < limit)


def _number(value: Any) -> float | None:
    """Some providers write numbers as texts."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None
