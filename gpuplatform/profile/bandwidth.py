"""The all-reduce bandwidth that two nodes of a machine type must reach; average and peak are never mixed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Bandwidth"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bandwidth:
    """A floor for nccl-tests' bus bandwidth.

    Attributes:
        floor: GB/s.
        metric: `average` (the last line, "Avg bus bandwidth", over all sizes) or `peak` (the best busbw
            of any size).
        source: Where the figure was published.
    """

    floor: float
    metric: Literal["average", "peak"]
    source: str
