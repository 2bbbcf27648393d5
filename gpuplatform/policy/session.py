"""The GPU pack's memory of one operation: what each resource would run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final

import pulumi
from pulumi_policy import PolicyResource

from gpuplatform import clock
from gpuplatform.config import KEY
from gpuplatform.guardrails import Footprint, Inventory, RawResource
from gpuplatform.policy.operation import Operation, StackConfig
from gpuplatform.policy.plain import of_stack
from gpuplatform.policy.settings import Settings, settings

__all__ = ["Session"]

_NAMESPACE, _, _PLATFORM = KEY.partition(":")
_NOTHING: Final = Footprint()


class Session(Operation[Settings]):
    """What the engine said so far: configuration, and the inputs of each resource that matters.

    Args:
        policies: The names of the pack's policies.
        today: The clock.
        folder: Where the program runs; the engine starts a pack there.
    """

    def __init__(
        self,
        policies: Collection[str],
        *,
        today: Callable[[], date] = clock.today,
        folder: Callable[[], Path] = Path.cwd,
    ) -> None:
        self._today = today
        self._policies = policies
        self._folder = folder
        super().__init__()

    def _begin(self) -> None:
        super()._begin()
        self._inventory = Inventory()
        self._inputs: dict[str, RawResource] = {}
        self._footprints: dict[str, Footprint] = {}

    def _load(self, pack: Mapping[str, Mapping[str, Any]], stack: StackConfig | None) -> Settings:
        if stack is None:
            # Engines before 3.221 put the configuration into the environment, where Pulumi's SDK finds it.
            stack = StackConfig(platform=pulumi.Config(_NAMESPACE).get(_PLATFORM))
        return settings(pack, self._policies, stack, folder=self._folder(), today=self._today())

    def see(self, raw: RawResource) -> Footprint:
        """Takes note of a resource's inputs; returns what it would run."""
        self._inputs[raw.urn] = raw
        self._inventory.add(raw)
        footprint = self._inventory.read(raw)
        self._footprints[raw.urn] = footprint
        return footprint

    def so_far(self) -> Footprint:
        """What all resources seen so far would run."""
        return Footprint(
            node_groups=tuple(group for one in self._footprints.values() for group in one.node_groups),
            control_planes=tuple(plane for one in self._footprints.values() for plane in one.control_planes),
        )

    def alone(self, urn: str) -> Footprint:
        """What one resource's inputs told by themselves."""
        return self._footprints.get(urn, _NOTHING)

    def whole(self, resources: Sequence[PolicyResource]) -> Footprint:
        """What a stack would run, every reference between its resources followed."""
        inventory = Inventory()
        for resource in resources:
            if inventory.concerns(resource.resource_type):
                inventory.add(of_stack(resource, self._inputs.get(resource.urn)))
        return inventory.footprint()
