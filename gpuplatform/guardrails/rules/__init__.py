"""One module a subject; each rule is a function from a part of the footprint to verdicts."""

from __future__ import annotations
