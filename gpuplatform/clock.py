"""The day that prices, retirements and Kubernetes versions are judged at, and the moment of a schedule.

Both are arguments everywhere below the edges, so nothing ages by itself. The edges (the command line, the
Pulumi program, the policy packs) take them from here: `GPUPLATFORM_TODAY=2027-01-31` answers "what will this
stack's verdicts be by then?", and keeps a plan reproducible; `GPUPLATFORM_NOW=2027-01-31T18:59:00+01:00` does
the same for what depends on the hour.
"""

from __future__ import annotations

import datetime as dt
import os
from typing import Final

from gpuplatform.errors import ConfigError

__all__ = ["NOW", "VARIABLE", "now", "today"]

VARIABLE: Final = "GPUPLATFORM_TODAY"
NOW: Final = "GPUPLATFORM_NOW"

_YEARS: Final = range(2000, 3000)
"""What lies outside is a slip, and near the calendar's ends there is no day before or after."""


def today() -> dt.date:
    """The day in `GPUPLATFORM_TODAY`, else that of `GPUPLATFORM_NOW` in UTC, else this machine's.

    Raises:
        ConfigError: The variable holds no ISO date, or no moment.
    """
    given = os.environ.get(VARIABLE)
    if not given:
        return now().astimezone(dt.UTC).date()
    try:
        return dt.date.fromisoformat(given)
    except ValueError:
        raise ConfigError(
            f"{given!r} is no date", where=VARIABLE, rule="a date is written like 2027-01-31"
        ) from None


def now() -> dt.datetime:
    """The moment in `GPUPLATFORM_NOW`, else noon UTC of `GPUPLATFORM_TODAY`, else this machine's.

    Raises:
        ConfigError: A variable holds no moment with a time zone, or no ISO date.
    """
    given = os.environ.get(NOW)
    if given:
        return _moment(given)
    if os.environ.get(VARIABLE):
        return _within(dt.datetime.combine(today(), dt.time(12), dt.UTC), VARIABLE)
    return dt.datetime.now(tz=dt.UTC)


def _moment(text: str) -> dt.datetime:
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise ConfigError(
            f"{text!r} is no moment",
            where=NOW,
            rule="a moment is written with its time zone, like 2027-01-31T18:59:00+01:00",
        )
    return _within(found, NOW)


def _within(moment: dt.datetime, where: str) -> dt.datetime:
    if moment.year not in _YEARS:
        raise ConfigError(
            f"the year {moment.year} is out of bounds", where=where, rule="a moment lies in 2000 to 2999"
        )
    return moment
