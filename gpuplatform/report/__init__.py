"""One plan, several readers: a terminal, a machine."""

from __future__ import annotations
