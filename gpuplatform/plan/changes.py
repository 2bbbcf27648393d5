"""What an update would do to a stack that exists: plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["Action", "Changes", "Step"]

_CLUSTERS: Final = frozenset(
    (
        "aws:eks/cluster:Cluster",
        "azure-native:containerservice:ManagedCluster",
        "gcp:container/cluster:Cluster",
    )
)

Action = Literal["create", "update", "replace", "delete", "forget"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What happens to one resource.

    Attributes:
        action: `forget` leaves it in the cloud and drops it from the state (retainOnDelete).
        type: Type token.
        name: Logical name.
        component: Logical name of the component that it is part of; empty where it stands alone.
        changed: Inputs that change, as the provider spells them.
        because: Those of them that force the replacement; `provider` where its provider is replaced.
        refused: Those of them that the cloud will not change on what exists; the update will fail.
        protected: Whether it is protected, so that the engine refuses to delete or replace it.
    """

    action: Action
    type: str
    name: str
    urn: str
    component: str = ""
    changed: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    protected: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """All of an update's steps.

    Attributes:
        steps: What is made or changed, in the program's order, then what goes, the last made first.
        same: How many resources stay as they are.
        not_compared: `NAME INPUT` of what the export holds encrypted, or what only the cloud could tell.
        interrupted: What an earlier update began and did not end; the next one asks about it.
    """

    steps: tuple[Step, ...]
    same: int
    not_compared: tuple[str, ...] = ()
    interrupted: tuple[str, ...] = ()

    @property
    def fails(self) -> tuple[Step, ...]:
        """The steps that the cloud or the engine refuses."""
        refused = ("replace", "delete")
        return tuple(s for s in self.steps if s.refused or (s.protected and s.action in refused))

    @property
    def other_environment(self) -> bool:
        """Whether the cluster itself is replaced, as by another name, environment or region.

        Everything stands on it or is named like it, and clouds keep what is in use (a subnet, a group), so
        such an update ends half-way more often than not.
        """
        return any(step.action == "replace" and step.type in _CLUSTERS for step in self.steps)

    def of(self, *actions: Action) -> tuple[Step, ...]:
        """The steps of these kinds."""
        return tuple(step for step in self.steps if step.action in actions)
