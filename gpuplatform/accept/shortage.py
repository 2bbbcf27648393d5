"""Nodes that offer less than their machine has; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpuplatform.profile import NodeProfile

__all__ = ["Shortage", "ready", "shortages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """One node that is short of one resource.

    Attributes:
        have: What the node can give to pods (its `allocatable`).
        want: What its machine type has.
    """

    node: str
    resource: str
    have: int
    want: int

    def __str__(self) -> str:
        return f"node {self.node} has {self.have} {self.resource}, its machine has {self.want}"


def shortages(profile: NodeProfile, nodes: Iterable[Mapping[str, Any]]) -> Iterator[Shortage]:
    """Each ready node of the pool that offers less than the profile says.

    A GPU that fell off the bus, or an adapter that never came up, shows here first: the node is Ready and
    takes fewer pods than its siblings.

    Args:
        profile: The pool's nodes as decided.
        nodes: Node objects as the API returns them.
    """
    for node in nodes:
        if not ready(node):
            continue
        allocatable = node.get("status", {}).get("allocatable", {})
        for resource, want in profile.advertised.items():
            have = _count(allocatable.get(resource))
            if have < want:
                yield Shortage(node=node["metadata"]["name"], resource=resource, have=have, want=want)


def ready(node: Mapping[str, Any]) -> bool:
    """Whether the node takes pods: a new one advertises devices only when their plugins have started."""
    conditions = node.get("status", {}).get("conditions", ())
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _count(quantity: Any) -> int:
    """Devices are counted in whole numbers; whatever is none counts as nothing."""
    text = str(quantity)
    return int(text) if text.isdecimal() else 0
