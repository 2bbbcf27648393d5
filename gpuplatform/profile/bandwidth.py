"""The collective bandwidth that two nodes of a machine type must reach; average and peak are never mixed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Bandwidth", "Collective"]

Collective = Literal["all_reduce", "all_gather"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bandwidth:
    """A floor for nccl-tests' bus bandwidth.

    Attributes:
        floor: GB/s.
        metric: `average` (the last line, "Avg bus bandwidth", over all sizes) or `peak` (the best busbw
            of any size).
        source: Where the figure was published.
        collective: What it was measured with.
        min_bytes: Smallest message of the measurement. An average is one of exactly these sizes, doubled
            each step: small messages wait for latency, and a sweep with more of them has a lower average.
        max_bytes: The largest.
    """

    floor: float
    metric: Literal["average", "peak"]
    source: str
    collective: Collective = "all_reduce"
    min_bytes: int = 1 << 10
    max_bytes: int = 8 << 30
