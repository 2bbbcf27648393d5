"""The day that prices, retirements and Kubernetes versions are judged at.

It is an argument everywhere below the edges, so nothing ages by itself. The edges (the command line, the
Pulumi program, the policy packs) take it from here: `GPUPLATFORM_TODAY=2027-01-31` answers "what will this
stack's verdicts be by then?", and keeps a plan reproducible.
"""

from __future__ import annotations

import datetime as dt
import os
from typing import Final

from gpuplatform.errors import ConfigError

__all__ = ["VARIABLE", "today"]

VARIABLE: Final = "GPUPLATFORM_TODAY"


def today() -> dt.date:
    """The day in `GPUPLATFORM_TODAY`, else this machine's.

    Raises:
        ConfigError: The variable holds no ISO date.
    """
    given = os.environ.get(VARIABLE)
    if not given:
        return dt.datetime.now(tz=dt.UTC).date()
    try:
        return dt.date.fromisoformat(given)
    except ValueError:
        raise ConfigError(
            f"{given!r} is no date", where=VARIABLE, rule="a date is written like 2027-01-31"
        ) from None
