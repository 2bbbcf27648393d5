"""One operation of the engine, as the pack's process sees it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pulumi
from pulumi_policy import PolicyResource

from gpuplatform import clock
from gpuplatform.config import KEY
from gpuplatform.errors import ConfigError
from gpuplatform.guardrails import Footprint, Inventory, RawResource
from gpuplatform.policy.plain import of_stack
from gpuplatform.policy.settings import Settings, StackConfig, settings

__all__ = ["Session"]

_NAMESPACE, _, _PLATFORM = KEY.partition(":")
_NOTHING: Final = Footprint()


class Session:
    """What the engine said so far: configuration, and the inputs of each resource that matters.

    Attributes:
        previewing: Whether this operation is a preview.
        silent: Whether what is seen of single resources is not to be reported.
        refused: Whether the engine has been told what is wrong with the configuration.

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
        self.previewing = True
        self.silent = False
        self._policies = policies
        self._folder = folder
        self._pack: Mapping[str, Mapping[str, Any]] = {}
        self._stack: StackConfig | None = None
        self._begin()

    def configure(self, pack: Mapping[str, Mapping[str, Any]], *, silent: bool = False) -> None:
        """Takes the pack's own configuration, by policy."""
        self._pack = pack
        self.silent = silent
        self._forget()

    def configure_stack(self, stack: StackConfig, *, previewing: bool) -> None:
        """Takes the stack's configuration; a new operation begins."""
        self._stack = stack
        self.previewing = previewing
        self._begin()

    def _forget(self) -> None:
        self.refused = False
        self.__dict__.pop("settings", None)
        self.__dict__.pop("wrong", None)

    def _begin(self) -> None:
        self._forget()
        self._inventory = Inventory()
        self._inputs: dict[str, RawResource] = {}
        self._footprints: dict[str, Footprint] = {}

    @cached_property
    def settings(self) -> Settings:
        """What to judge by.

        Raises:
            ConfigError: The pack's or the stack's configuration is wrong, or the clock's.
        """
        stack = self._stack
        if stack is None:
            # Engines before 3.221 put the configuration into the environment, where Pulumi's SDK finds it.
            stack = StackConfig(platform=pulumi.Config(_NAMESPACE).get(_PLATFORM))
        return settings(self._pack, self._policies, stack, folder=self._folder(), today=self._today())

    @cached_property
    def wrong(self) -> str | None:
        """Why there are no settings to judge by; None where there are."""
        try:
            self.settings  # noqa: B018 - read for its error alone
        except ConfigError as error:
            return str(error)
        return None

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
