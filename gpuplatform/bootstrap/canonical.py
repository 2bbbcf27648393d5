"""A checkpoint in the one form that differs only where what it describes does: fit for git's diffs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

__all__ = ["canonical", "needs"]

_OF_A_RUN: Final = ("sourcePosition", "stackTrace")
"""Where on somebody's machine the program stood."""


def canonical(checkpoint: Mapping[str, Any]) -> dict[str, Any]:
    """Without the time of the export, the salt of an encryption that encrypts nothing, and places in files.

    The resources come in the one order by URN in which each stands after all that it depends on, as the
    engine demands it; the engine's own order is that of their creation.
    """
    deployment = {key: value for key, value in checkpoint["deployment"].items() if key != "secrets_providers"}
    if "manifest" in deployment:
        # The engine checks `magic`, a hash of `version`; the time it does not need.
        deployment["manifest"] = {**deployment["manifest"], "time": "0001-01-01T00:00:00Z"}
    deployment["resources"] = _ordered(
        [
            {key: _sorted(key, value) for key, value in resource.items() if key not in _OF_A_RUN}
            for resource in deployment.get("resources") or []
        ]
    )
    return {**checkpoint, "deployment": deployment}


def _sorted(key: str, value: Any) -> Any:
    """Sets that are written as lists, in the order in which a run came upon them."""
    if key == "dependencies":
        return sorted(value or ())
    if key == "propertyDependencies":
        return {name: sorted(urns or ()) for name, urns in sorted((value or {}).items())}
    return value


def _ordered(resources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if len({resource["urn"] for resource in resources}) < len(resources):
        return resources  # an old one beside its replacement: the engine's order tells which is which
    waiting = {resource["urn"]: resource for resource in resources}
    ordered: list[dict[str, Any]] = []
    while waiting:
        free = sorted(urn for urn, one in waiting.items() if not needs(one) & (waiting.keys() - {urn}))
        if not free:
            return resources  # a circle is no checkpoint of ours to put in order
        ordered += [waiting.pop(urn) for urn in free]
    return ordered


def needs(resource: Mapping[str, Any]) -> set[str]:
    """URNs of what must stand before it."""
    named = {resource.get("parent"), resource.get("deletedWith")}
    named.add(str(resource.get("provider") or "").rpartition("::")[0])
    named.update(resource.get("dependencies") or ())
    for urns in (resource.get("propertyDependencies") or {}).values():
        named.update(urns or ())
    return {urn for urn in named if urn}
