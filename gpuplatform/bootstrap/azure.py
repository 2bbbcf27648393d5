"""State and CI identities of an environment on Azure."""

from __future__ import annotations

from collections.abc import Collection

import pulumi
import pulumi_azure_native as azure_native

from gpuplatform.azure import AzureCiIdentity, AzureCiIdentityArgs, AzureStateStore, AzureStateStoreArgs
from gpuplatform.bootstrap.built import Built, lasting_tags
from gpuplatform.config import Azure, Platform, Reservation
from gpuplatform.permissions import ROLES
from gpuplatform.permissions.azure import actions, condition
from gpuplatform.platform.arguments import cloud_of
from gpuplatform.trust import github_of, trust

__all__ = ["build"]


def build(config: Platform, types: Collection[str]) -> Built:
    """Registers them, all with one provider that is pinned to the subscription.

    Args:
        config: The environment.
        types: Type tokens of what its stack builds.

    Raises:
        Refusal: Azure cannot build it, or nobody knows what one of the types needs.
    """
    cloud = cloud_of(config, Azure)
    reservations = any(isinstance(pool.capacity, Reservation) for pool in config.node_pools)
    allowed = {role: actions(role, types) for role in ROLES}
    conditions = {role: condition(role, types, reservations=reservations) for role in ROLES}
    provider = azure_native.Provider("azure", subscription_id=cloud.subscription, location=cloud.region)
    opts = pulumi.ResourceOptions(provider=provider)
    name, tags = config.physical_name, lasting_tags(config)
    state = AzureStateStore(
        "state",
        AzureStateStoreArgs(
            name=name,
            region=cloud.region,
            tags=tags,
            subscription=cloud.subscription,
            admins=config.cluster.admins,
        ),
        opts,
    )
    ci = AzureCiIdentity(
        "ci",
        AzureCiIdentityArgs(
            name=name,
            region=cloud.region,
            tags=tags,
            trust=trust(github_of(config)),
            subscription=cloud.subscription,
            actions=allowed,
            conditions=conditions,
            state=state,
        ),
        opts,
    )
    return Built(state=state, ci=ci, admin=ci.deploy_principal, viewer=ci.preview_principal)
