"""When an environment is up: days and hours of the week, in a time zone."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from datetime import time
from functools import cache
from importlib import resources
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

__all__ = ["Uptime", "UptimeText"]

_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NAMED: Final = {"weekdays": frozenset(range(5)), "daily": frozenset(range(7))}
_PATTERN: Final = r"(?P<days>[a-z,-]+) (?P<start>[012]\d:[0-5]\d)-(?P<end>[012]\d:[0-5]\d) (?P<zone>[\w+/-]+)"
_RULE: Final = (
    "days, hours and a time zone, such as `weekdays 08:00-19:00 Europe/Berlin` or `mon,wed-fri ...`"
)


@dataclass(frozen=True, slots=True)
class Uptime:
    """A weekly schedule.

    Attributes:
        text: As it is written.
        days: Weekdays on which it begins, Monday 0.
        start: When it begins, by the zone's clock.
        end: When it ends: on the next day where it is not after `start`.
        zone: The time zone. `gpuplatform.schedule` says what a change of its clocks does.
    """

    text: str
    days: frozenset[int]
    start: time
    end: time
    zone: ZoneInfo

    def __str__(self) -> str:
        return self.text

    @property
    def overnight(self) -> bool:
        """Whether it ends on the day after it began."""
        return self.end <= self.start


def _parse(value: Any) -> Uptime:
    if isinstance(value, Uptime):
        return value
    if not isinstance(value, str):
        raise ValueError(f"an uptime is text: {_RULE}")  # noqa: TRY004 - pydantic takes ValueError only
    found = re.fullmatch(_PATTERN, value)
    if found is None:
        raise ValueError(f"{value!r} is no uptime; write {_RULE}")
    start, end = _clock(found["start"]), _clock(found["end"])
    if start == end:
        raise ValueError(
            f"{value!r} begins and ends at one time; leave `uptime` out for an environment that stays"
        )
    return Uptime(text=value, days=_days(found["days"]), start=start, end=end, zone=_zone(found["zone"]))


def _clock(text: str) -> time:
    try:
        return time.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text} is no time of day; hours go from 00 to 23") from None


def _days(text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        last = last if dash else first
        if part in _NAMED:
            found |= _NAMED[part]
        elif first not in _DAYS or last not in _DAYS:
            raise ValueError(f"{part!r} is no day; the days are {', '.join(_DAYS)}, weekdays and daily")
        else:
            begin, end = _DAYS.index(first), _DAYS.index(last)
            found |= {day % 7 for day in range(begin, (end if end >= begin else end + 7) + 1)}
    return frozenset(found)


def _zone(name: str) -> ZoneInfo:
    # A system may have names of its own (localtime, posix/...), and a file system that ignores case would
    # take europe/berlin: the same file must mean the same on every machine.
    if name not in _zones():
        near = difflib.get_close_matches(name, _zones(), n=1)
        hint = f"did you mean {near[0]}?" if near else "write one such as Europe/Berlin or UTC"
        raise ValueError(f"there is no time zone {name!r}; {hint}")
    return ZoneInfo(name)


@cache
def _zones() -> frozenset[str]:
    """The IANA time zone database's names."""
    names = resources.files("tzdata").joinpath("zones").read_text(encoding="utf-8").split()
    return frozenset(names) - {"Factory"}


UptimeText = Annotated[
    Uptime,
    PlainValidator(_parse),
    PlainSerializer(str),
    # Editors read JavaScript's expressions, which spell a group's name otherwise; none needs it.
    WithJsonSchema({"type": "string", "pattern": "^" + re.sub(r"\?P<\w+>", "", _PATTERN) + "$"}),
]
