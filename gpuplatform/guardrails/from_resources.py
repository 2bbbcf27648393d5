"""The footprint of raw resources: any Pulumi program's, whether it uses this library or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from gpuplatform.guardrails.footprint import ControlPlane, Footprint, NodeGroup, RawResource, by_name
from gpuplatform.guardrails.inventory import References, token
from gpuplatform.guardrails.resources import aws, azure, gcp

__all__ = ["Inventory", "footprint_of_resources"]

Reader = Callable[[RawResource, References], Iterator[ControlPlane | NodeGroup]]

_CLOUDS: Final = (aws, azure, gcp)
_READERS: Final[Mapping[str, Reader]] = {
    kind: reader for cloud in _CLOUDS for kind, reader in cloud.READERS.items()
}
_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    kind: keys for cloud in _CLOUDS for kind, keys in cloud.KEYS.items()
}
_TEMPLATES: Final = frozenset(kind for cloud in _CLOUDS for kind in cloud.TEMPLATES)


class Inventory:
    """The resources that run machines, or that others need to be understood; all others are ignored."""

    def __init__(self) -> None:
        self._resources: dict[str, RawResource] = {}
        self._references = References(_KEYS)

    @staticmethod
    def concerns(type_: str) -> bool:
        """Whether resources of this type matter. Cheap: to be asked before any property is read."""
        kind = token(type_)
        return kind in _READERS or kind in _KEYS

    def add(self, raw: RawResource) -> None:
        """Takes note of a resource, in place of an earlier one of the same URN."""
        if self.concerns(raw.type):
            self._resources[raw.urn] = raw
            self._references.add(raw)

    def read(self, raw: RawResource) -> Footprint:
        """What one resource runs, as far as the resources added so far tell."""
        reader = _READERS.get(token(raw.type))
        parts = list(reader(raw, self._references)) if reader else []
        return _footprint(parts)

    def footprint(self) -> Footprint:
        """What all of them run. A template counts only where nothing in sight uses it."""
        used = self._used_templates()
        return _footprint(
            [
                part
                for raw in self._resources.values()
                if raw.urn not in used and (reader := _READERS.get(token(raw.type)))
                for part in reader(raw, self._references)
            ]
        )

    def _used_templates(self) -> set[str]:
        linked = {urn for raw in self._resources.values() for urns in raw.depends.values() for urn in urns}
        templates = {urn: raw for urn, raw in self._resources.items() if token(raw.type) in _TEMPLATES}
        return linked & templates.keys()


def footprint_of_resources(resources: Iterable[RawResource]) -> Footprint:
    """What `resources` would run.

    Node groups are named as their pool is: by the label `gpuplatform.io/pool`, else by the physical name.
    A value that is not known yet stays `Unknown` in the footprint; it is never left out.
    """
    inventory = Inventory()
    for raw in resources:
        inventory.add(raw)
    return inventory.footprint()


def _footprint(parts: list[ControlPlane | NodeGroup]) -> Footprint:
    return Footprint(
        node_groups=by_name([part for part in parts if isinstance(part, NodeGroup)]),
        control_planes=tuple(part for part in parts if isinstance(part, ControlPlane)),
    )
