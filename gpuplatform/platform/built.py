"""What a cloud's composition hands back to the layer that fills the cluster."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from gpuplatform.contracts import ClusterHandle, IdentityHandle, StorageHandle

__all__ = ["Built"]


@dataclass(frozen=True, kw_only=True)
class Built:
    """A cluster with its pools, the storage beside it, and who its teams are.

    Attributes:
        cluster: The cluster, as every layer above sees it.
        pools: Each GPU pool's own resource, by the pool's name; what runs on GPUs depends on them.
        provider: The cloud's provider, pinned to the account, subscription or project.
        storage: The tiers that hold data, by their names.
        identities: Who each team's pods are, by the team's name.
    """

    cluster: ClusterHandle
    pools: dict[str, pulumi.Resource]
    provider: pulumi.ProviderResource
    storage: dict[str, StorageHandle]
    identities: dict[str, IdentityHandle]
