"""Timing in pairs: the subject and its yardstick take turns, so that a machine that slows down slows both."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "Ratio", "command", "inside", "paired"]

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """One row of the table.

    Attributes:
        what: What is compared with what.
        subject: Median of the subject, milliseconds.
        yardstick: Median of the yardstick, milliseconds.
        ratio: Median of the pairs' ratios.
        goal: The ratio that it should not pass.
    """

    what: str
    subject: float
    yardstick: float
    ratio: float
    goal: float


def paired(
    what: str, subject: Callable[[], float], yardstick: Callable[[], float], *, goal: float, runs: int = 5
) -> Ratio:
    """Both in turn, after one of each that does not count; each callable returns its own milliseconds."""
    subject(), yardstick()
    pairs = [(subject(), yardstick()) for _ in range(runs)]
    return Ratio(
        what=what,
        subject=statistics.median(one for one, _ in pairs),
        yardstick=statistics.median(other for _, other in pairs),
        ratio=statistics.median(one / other for one, other in pairs),
        goal=goal,
    )


def command(arguments: Sequence[str], *, cwd: Path = ROOT) -> Callable[[], float]:
    """A whole process, from start to end, in CPU milliseconds of it and its children.

    CPU and not wall time: it stays the same where other work shares the machine.

    Raises:
        RuntimeError: The process failed: its time would mean nothing.
    """
    # Compiled modules are what users have; some systems switch writing them off.
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}

    def run() -> float:
        before = os.times()
        done = subprocess.run(arguments, cwd=cwd, env=environ, capture_output=True, text=True, check=False)  # noqa: S603
        after = os.times()
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
        used = after.children_user - before.children_user + after.children_system - before.children_system
        return used * 1000

    return run


def inside(body: Callable[[], object]) -> Callable[[], float]:
    """A call in this process, in CPU milliseconds."""

    def run() -> float:
        start = time.process_time()
        body()
        return (time.process_time() - start) * 1000

    return run
