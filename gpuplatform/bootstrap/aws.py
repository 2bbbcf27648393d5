"""State and CI identities of an environment on AWS."""

from __future__ import annotations

import json
from collections.abc import Collection

import pulumi
import pulumi_aws as aws
from pulumi_aws import iam

from gpuplatform.aws import AwsCiIdentity, AwsCiIdentityArgs, AwsStateStore, AwsStateStoreArgs
from gpuplatform.bootstrap.built import Built, lasting_tags
from gpuplatform.config import Aws, Platform
from gpuplatform.permissions import ROLES
from gpuplatform.permissions.aws import CI_PATH, AwsScope, boundary, boundary_arn, policies, scope_of
from gpuplatform.platform.arguments import cloud_of
from gpuplatform.tags import Tags
from gpuplatform.trust import github_of, trust

__all__ = ["build"]


def build(config: Platform, types: Collection[str]) -> Built:
    """Registers them, all with one provider that is pinned to the account and region.

    Args:
        config: The environment.
        types: Type tokens of what its stack builds.

    Raises:
        Refusal: AWS cannot build it, or nobody knows what one of the types needs.
    """
    cloud = cloud_of(config, Aws)
    scope = scope_of(config)
    allowed = {role: policies(role, types, scope) for role in ROLES}
    provider = aws.Provider("aws", region=cloud.region, allowed_account_ids=[cloud.account])
    opts = pulumi.ResourceOptions(provider=provider)
    name, tags = config.physical_name, lasting_tags(config)
    state = AwsStateStore(
        "state", AwsStateStoreArgs(name=name, region=cloud.region, tags=tags, account=cloud.account), opts
    )
    ci = AwsCiIdentity(
        "ci",
        AwsCiIdentityArgs(
            name=name,
            region=cloud.region,
            tags=tags,
            trust=trust(github_of(config)),
            account=cloud.account,
            policies=allowed,
            state=state,
        ),
        opts,
    )
    _boundary(scope, tags, opts)
    return Built(state=state, ci=ci, admin=ci.deploy, viewer=ci.preview)


def _boundary(scope: AwsScope, tags: Tags, opts: pulumi.ResourceOptions) -> None:
    """The most that a role of the stack's can do: the deploying identity makes none without it."""
    iam.Policy(
        "boundary",
        name=boundary_arn(scope).rpartition("/")[2],
        path=CI_PATH,
        description=f"The most that a role of {scope.name} can do",
        policy=json.dumps(boundary(scope)),
        tags=tags.aws(),
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(protect=True)),
    )
