"""When a workflow looks at the clock: shortly after an environment's schedule says up or down."""

from __future__ import annotations

from datetime import time
from typing import Final

from gpuplatform.config import Platform, Uptime

__all__ = ["ticks"]

_DAY: Final = 24 * 60
_WEEK: Final = 7 * _DAY

_AFTER: Final = (3, 33)
"""Minutes after the change. Not at once: runs at the start of an hour are delayed most, and a run may be
dropped (https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows), hence
the second. What is wanted is decided by the run's own clock, so one too many changes nothing."""

_DAILY: Final = "23 3 * * *"


def ticks(config: Platform) -> list[dict[str, str]]:
    """The entries of a workflow's `on.schedule`; none where the environment simply stays.

    With `timezone`, GitHub follows the zone's summer time
    (https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#onschedule).
    """
    uptime = config.uptime
    if uptime is None:
        return [{"cron": _DAILY}] if config.expires else []
    return [{"cron": cron, "timezone": uptime.zone.key} for cron in _crons(uptime)]


def _crons(uptime: Uptime) -> list[str]:
    night = _DAY if uptime.overnight else 0
    days: dict[int, set[int]] = {}
    for change in (_minutes(uptime.start), _minutes(uptime.end) + night):
        for after in _AFTER:
            for day in uptime.days:
                moment = (day * _DAY + change + after) % _WEEK
                # Cron's week begins on Sunday, Python's on Monday.
                days.setdefault(moment % _DAY, set()).add((moment // _DAY + 1) % 7)
    return [
        f"{minute % 60} {minute // 60} * * {','.join(map(str, sorted(found)))}"
        for minute, found in days.items()
    ]


def _minutes(clock: time) -> int:
    return clock.hour * 60 + clock.minute
