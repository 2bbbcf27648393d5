"""Whether an environment is to be up at a moment: from its `uptime` and its `expires`. Pure.

    weekdays 08:00-19:00 Europe/Berlin     up from 8 to 19 by the clock in Berlin, Monday to Friday
    mon-thu,sun 20:00-06:00 UTC            begins on these days, ends on the next morning

What a change of the clocks does: a time that is skipped is the moment of the change; of a time that comes
twice, the first begins and the last ends. So nobody's hours are cut, and no day goes up and down twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, Literal

from gpuplatform.config import Platform, Uptime

__all__ = ["Wanted", "wanted"]

State = Literal["up", "down", "gone"]

_AHEAD: Final = 9
"""Days that are looked at: a week, and a day on each side for midnight and the time zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a schedule asks for.

    Attributes:
        state: `up`; `down`, back later; `gone`, for good. Both of the latter keep the protected storage.
        reason: One clause.
        changes_at: When this will be different, in the schedule's time zone; None: never.
    """

    state: State
    reason: str
    changes_at: datetime | None


def wanted(config: Platform, now: datetime) -> Wanted:
    """What the environment's schedule asks for at `now`, which knows its time zone."""
    uptime, zone = config.uptime, config.uptime.zone if config.uptime else UTC
    gone = _after(config.expires, zone) if config.expires else None
    if gone is not None and now >= gone:
        return Wanted(state="gone", reason=f"its last day was {config.expires}", changes_at=None)
    if uptime is None:
        until = f" until the end of {config.expires}" if gone else ""
        return Wanted(state="up", reason=f"it has no uptime, so it stays{until}", changes_at=_in(zone, gone))
    begin, end = _next(uptime, now)
    if begin <= now:
        return Wanted(state="up", reason=f"within {uptime}", changes_at=_in(zone, _earlier(end, gone)))
    return Wanted(state="down", reason=f"outside {uptime}", changes_at=_in(zone, _earlier(begin, gone)))


def _next(uptime: Uptime, now: datetime) -> tuple[datetime, datetime]:
    """The stretch that `now` lies in, else the next one; in UTC."""
    found: tuple[datetime, datetime] | None = None
    for begin, end in _stretches(uptime, now):
        if end <= now:
            continue
        if found is None:
            found = begin, end
        elif begin <= found[1]:  # a night's end may meet the next beginning where the clocks change
            found = found[0], max(found[1], end)
        else:
            break
    assert found is not None  # noqa: S101 - some day of each week has hours
    return found


def _stretches(uptime: Uptime, now: datetime) -> Iterator[tuple[datetime, datetime]]:
    today = now.astimezone(uptime.zone).date()
    night = timedelta(days=1 if uptime.overnight else 0)
    for offset in range(-2, _AHEAD):
        day = today + timedelta(days=offset)
        if day.weekday() not in uptime.days:
            continue
        begin = _instant(day, uptime.start, uptime.zone, fold=0)
        end = _instant(day + night, uptime.end, uptime.zone, fold=1)
        if begin < end:  # a change of the clocks may skip a whole short stretch
            yield begin, end


def _instant(day: date, clock: time, zone: tzinfo, *, fold: Literal[0, 1]) -> datetime:
    """The moment at which the zone's clock shows a time, in UTC; the next one that it does show."""
    shown = datetime.combine(day, clock)
    while True:
        moment = shown.replace(tzinfo=zone, fold=fold).astimezone(UTC)
        if moment.astimezone(zone).replace(tzinfo=None) == shown:
            return moment
        shown += timedelta(minutes=1)


def _after(day: date, zone: tzinfo) -> datetime | None:
    """When a day is over; None for the calendar's last one."""
    return None if day == date.max else _instant(day + timedelta(days=1), time(), zone, fold=0)


def _earlier(moment: datetime, other: datetime | None) -> datetime:
    return moment if other is None else min(moment, other)


def _in(zone: tzinfo, moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.astimezone(zone)
