"""State and CI identities of an environment on Google Cloud."""

from __future__ import annotations

from collections.abc import Collection

import pulumi
import pulumi_gcp as gcp

from gpuplatform.bootstrap.built import Built, lasting_tags
from gpuplatform.config import Gcp, Platform
from gpuplatform.gcp import GcpCiIdentity, GcpCiIdentityArgs, GcpStateStore, GcpStateStoreArgs
from gpuplatform.permissions import ROLES
from gpuplatform.permissions.gcp import condition, permissions, scope_of
from gpuplatform.platform.arguments import cloud_of
from gpuplatform.trust import github_of, trust

__all__ = ["build"]


def build(config: Platform, types: Collection[str]) -> Built:
    """Registers them, all with one provider that is pinned to the project and region.

    Args:
        config: The environment.
        types: Type tokens of what its stack builds.

    Raises:
        Refusal: Google Cloud cannot build it, or nobody knows what one of the types needs.
    """
    cloud = cloud_of(config, Gcp)
    scope = scope_of(config)
    allowed = {role: permissions(role, types, scope) for role in ROLES}
    conditions = {role: condition(role, types, scope) for role in ROLES}
    provider = gcp.Provider("gcp", project=cloud.project, region=cloud.region)
    opts = pulumi.ResourceOptions(provider=provider)
    name, tags = config.physical_name, lasting_tags(config)
    state = GcpStateStore(
        "state", GcpStateStoreArgs(name=name, region=cloud.region, tags=tags, project=cloud.project), opts
    )
    ci = GcpCiIdentity(
        "ci",
        GcpCiIdentityArgs(
            name=name,
            region=cloud.region,
            tags=tags,
            trust=trust(github_of(config)),
            project=cloud.project,
            permissions=allowed,
            conditions=conditions,
            state=state,
        ),
        opts,
    )
    return Built(
        state=state,
        ci=ci,
        admin=pulumi.Output.concat("serviceAccount:", ci.deploy),
        viewer=pulumi.Output.concat("serviceAccount:", ci.preview),
    )
