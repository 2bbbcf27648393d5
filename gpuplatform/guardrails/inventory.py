"""The raw resources of one deployment, and which of them refer to which."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gpuplatform.guardrails.footprint import RawResource

__all__ = ["References", "token"]

_AZURE: Final = re.compile(r"azure-native(?:_\w+)?:(?P<module>\w+)(?:/v\w+)?:(?P<type>\w+)")


def token(type_: str) -> str:
    """The type token without an API version.

    Azure Native has each type with and without it: `azure-native:containerservice/v20240101:AgentPool` up to
    version 2, `azure-native_containerservice_v20240101:containerservice:AgentPool` from packages made for 3
    (https://www.pulumi.com/registry/packages/azure-native/from-v2-to-v3).
    """
    match = _AZURE.fullmatch(type_) if type_.startswith("azure-native") else None
    return f"azure-native:{match['module']}:{match['type']}" if match else type_


class References:
    """Finds the resource that another one's property refers to.

    By the property's dependencies where the engine gives them; else by a value that both spell, such as a
    cluster's name. What is not found is not guessed.
    """

    def __init__(self, keys: Mapping[str, tuple[str, ...]]) -> None:
        """An empty one.

        Args:
            keys: By type token, the properties whose value other resources use to refer to it.
        """
        self._keys = keys
        self._by_urn: dict[str, RawResource] = {}
        self._by_value: dict[tuple[str, str], RawResource] = {}

    def add(self, raw: RawResource) -> None:
        """Takes note of a resource; the newest one of a URN counts."""
        kind = token(raw.type)
        if kind not in self._keys:
            return
        self._by_urn[raw.urn] = raw
        for key in self._keys[kind]:
            value = raw.props.get(key)
            if isinstance(value, str):
                self._by_value[kind, value] = raw

    def find(
        self, raw: RawResource, prop: str, kinds: tuple[str, ...], *values: object
    ) -> tuple[RawResource, ...]:
        """What the property `prop` of `raw`, which spells `values`, refers to among `kinds`."""
        through = (self._by_urn.get(urn) for urn in raw.depends.get(prop, ()))
        linked = tuple(one for one in through if one is not None and token(one.type) in kinds)
        if linked:
            return linked
        spelled = (self._by_value.get((kind, str(value))) for value in values for kind in kinds)
        return tuple({one.urn: one for one in spelled if one is not None}.values())
