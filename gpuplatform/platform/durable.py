"""Storage tiers and teams' identities: what every cloud does alike; its own part is handed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from gpuplatform.config import Platform
from gpuplatform.contracts import (
    IdentityHandle,
    ObjectStoreComponent,
    SharedFilesystemComponent,
    StorageHandle,
    WorkloadIdentityComponent,
)
from gpuplatform.kubernetes.team import SERVICE_ACCOUNT
from gpuplatform.platform.decision import Decision
from gpuplatform.storage import ObjectPlan, SharedFilesystemPlan

__all__ = ["Tiers", "identities", "tiers"]

S = TypeVar("S", bound=ObjectStoreComponent)


@dataclass(frozen=True, kw_only=True)
class Tiers(Generic[S]):
    """The tiers that hold data, by their names.

    Attributes:
        stores: The buckets.
        filesystems: The shared file systems.
    """

    stores: dict[str, S]
    filesystems: dict[str, SharedFilesystemComponent]

    @property
    def handles(self) -> dict[str, StorageHandle]:
        """All of them, as the layers above the clouds see them."""
        handles = {name: store.handle for name, store in self.stores.items()}
        return handles | {name: made.handle for name, made in self.filesystems.items()}


def tiers(
    decision: Decision,
    store: Callable[[str, dict[str, Any]], S],
    filesystem: Callable[[str, dict[str, Any], S | None], SharedFilesystemComponent],
) -> Tiers[S]:
    """Makes the tiers. Nothing of them depends on the cluster: a teardown keeps what a kept tier stands on.

    Args:
        decision: What is asked for.
        store: Makes a bucket of its logical name and the fields of `gpuplatform.contracts.ObjectStoreArgs`.
        filesystem: Makes a file system of its logical name, the fields of `SharedFilesystemArgs` and the
            bucket that it is linked to, if any.
    """
    config = decision.config

    def made_of(plan: ObjectPlan | SharedFilesystemPlan) -> dict[str, Any]:
        return {
            "plan": plan,
            "name": config.physical_name,
            "region": config.cloud.region,
            "tags": config.tags,
        }

    stores = {
        plan.tier: store(f"storage-{plan.tier}", made_of(plan))
        for plan in decision.storage
        if isinstance(plan, ObjectPlan)
    }
    filesystems = {
        plan.tier: filesystem(f"storage-{plan.tier}", made_of(plan), stores.get(plan.source))
        for plan in decision.storage
        if isinstance(plan, SharedFilesystemPlan)
    }
    return Tiers(stores=stores, filesystems=filesystems)


def identities(
    config: Platform,
    stores: dict[str, S],
    identity: Callable[[str, dict[str, Any], tuple[S, ...]], WorkloadIdentityComponent],
) -> dict[str, IdentityHandle]:
    """Makes who each team's pods are, by the team's name.

    Args:
        config: The environment.
        stores: Its buckets, by their tiers.
        identity: Makes an identity of its logical name, the fields of
            `gpuplatform.contracts.WorkloadIdentityArgs` and the buckets that it reads and writes.
    """
    return {
        team.name: identity(
            f"identity-{team.name}",
            {
                "name": config.physical_name,
                "region": config.cloud.region,
                "namespace": team.name,
                "service_account": SERVICE_ACCOUNT,
                "tags": replace(config.tags, team=team.name),
            },
            tuple(stores[tier] for tier in team.storage if tier in stores),
        ).handle
        for team in config.teams
    }
