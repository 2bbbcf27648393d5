"""The difference of two sets of inputs, property by property, and which of it forces a replacement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Change", "changes", "covers"]


@dataclass(frozen=True, slots=True)
class Change:
    """One changed property: `kind` is `ADD`, `DELETE` or `UPDATE`; `path` as the engine writes it."""

    path: str
    kind: str


def changes(old: Any, new: Any, path: str = "") -> Iterator[Change]:
    """Every change from `old` to `new`, both plain. Providers' own notes (`__defaults`) are no properties."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            if not key.startswith("__"):
                yield from changes(old.get(key), new.get(key), _child(path, key))
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            yield from changes(
                old[index] if index < len(old) else None,
                new[index] if index < len(new) else None,
                f"{path}[{index}]",
            )
    elif old != new or isinstance(old, bool) != isinstance(new, bool):
        yield Change(path, "ADD" if old is None else "DELETE" if new is None else "UPDATE")


def _child(path: str, key: str) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*", key):
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key


def covers(paths: tuple[str, ...], changed: str) -> bool:
    """Whether a change at `changed` touches one of the paths: the same, below it, or as a whole above it."""
    bare = re.sub(r"\[\d+\]", "", changed)
    return any(bare == p or bare.startswith((f"{p}.", f"{p}[")) or p.startswith(f"{bare}.") for p in paths)
