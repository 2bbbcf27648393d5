"""Reading what settings of any program say: yes, no, nothing, or not known."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any, Final

from gpuplatform.guardrails import Unknown
from gpuplatform.guardrails.resources import props

__all__ = ["entries", "mappings", "on", "texts_at", "to_everyone"]

# Two halves of the world are the world as well.
_WIDEST: Final = {4: 7, 6: 15}
_EVERYONE: Final = frozenset({"*", "internet", "any"})


def on(source: Any, *path: str | int) -> bool | Unknown | None:
    """The switch at `path`; None where nothing is said. Some providers take "true" as text."""
    found = props.value(source, *path)
    if isinstance(found, str) and found.casefold() in {"true", "false"}:
        return found.casefold() == "true"
    if found is None or isinstance(found, bool | Unknown):
        return found
    return Unknown(f"{path[-1]} (not true or false)")


def entries(source: Any, *path: str | int) -> list[Any] | Unknown:
    """The list at `path`; a single one counts as a list of one, as IAM and Terraform's bridges have it."""
    found = props.value(source, *path)
    if found is None:
        return []
    return found if isinstance(found, list | Unknown) else [found]


def mappings(source: Any, *path: str | int) -> tuple[list[Mapping[str, Any]], Unknown | None]:
    """The objects at `path` that are known, and what is not."""
    found = entries(source, *path)
    if isinstance(found, Unknown):
        return [], found
    known = [one for one in found if isinstance(one, Mapping)]
    unknown = Unknown(f"a part of {path[-1]}") if len(known) < len(found) else None
    return known, unknown


def texts_at(source: Any, *path: str | int) -> tuple[list[str], Unknown | None]:
    """The texts at `path` that are known, and what is not."""
    found = entries(source, *path)
    if isinstance(found, Unknown):
        return [], found
    read = [props.text(found, index) for index in range(len(found))]
    known = [one for one in read if isinstance(one, str)]
    unknown = Unknown(f"a part of {path[-1]}") if len(known) < len(read) else None
    return known, unknown


def to_everyone(source: str) -> bool:
    """Whether an address range is the whole internet, or so much of it that it might as well be."""
    if source.strip().casefold() in _EVERYONE:
        return True
    try:
        network = ipaddress.ip_network(source.strip(), strict=False)
    except ValueError:
        return False
    return network.prefixlen <= _WIDEST[network.version] and not network.is_private
