"""The difference of two sets of inputs, property by property, and which of it forces a replacement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Change", "changes", "covers"]


@dataclass(frozen=True, slots=True)
class Change:
    """One changed property.

    Attributes:
        path: As the engine writes it, such as `nodeConfig.labels["example.com/a"]` or `subnetIds[1]`.
        kind: `ADD`, `DELETE` or `UPDATE`.
        old: The value before, None where there was none.
        new: The value after, likewise.
    """

    path: str
    kind: str
    old: Any = None
    new: Any = None


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
        kind = "ADD" if old is None else "DELETE" if new is None else "UPDATE"
        yield Change(path, kind, old, new)


def _child(path: str, key: str) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*", key):
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key


def covers(paths: Iterable[str], changed: str) -> bool:
    """Whether a change at `changed` touches one of the paths: the same, below it, or as a whole above it."""
    bare = _bare(changed)
    return any(
        bare == p or bare.startswith((f"{p}.", f"{p}[")) or p.startswith((f"{bare}.", f"{bare}["))
        for p in map(_bare, paths)
    )


def _bare(path: str) -> str:
    """A path without its list indices."""
    return re.sub(r"\[\d*\]", "", path)
