"""What an EKS cluster is told at its creation, part by part, as the API spells it."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
from pulumi_aws import eks

from gpuplatform.aws.resource import Key
from gpuplatform.contracts import ClusterArgs, Support

__all__ = ["api_access", "encryption", "people", "upgrades"]


def api_access(args: ClusterArgs, *, subnet_ids: Sequence[pulumi.Input[str]]) -> eks.ClusterVpcConfigArgs:
    """Where the Kubernetes API has addresses, and who reaches the public one."""
    return eks.ClusterVpcConfigArgs(
        subnet_ids=subnet_ids,
        endpoint_private_access=args.api_private,
        endpoint_public_access=bool(args.api_public_cidrs),
        # Left out, it is 0.0.0.0/0; EKS refuses an empty list.
        public_access_cidrs=list(args.api_public_cidrs) or None,
    )


def people() -> eks.ClusterAccessConfigArgs:
    """Access entries say who gets in (access.py); the creator is nobody in particular."""
    return eks.ClusterAccessConfigArgs(
        authentication_mode="API", bootstrap_cluster_creator_admin_permissions=False
    )


def encryption(key: Key) -> eks.ClusterEncryptionConfigArgs:
    """Kubernetes secrets are encrypted with a key of the environment's own."""
    return eks.ClusterEncryptionConfigArgs(
        resources=["secrets"], provider=eks.ClusterEncryptionConfigProviderArgs(key_arn=key.arn)
    )


def upgrades(support: Support) -> eks.ClusterUpgradePolicyArgs:
    """What happens when the minor's standard support ends; an upgrade before that is somebody's decision.

    Left out, EKS enters extended support by itself, at six times the price.
    """
    return eks.ClusterUpgradePolicyArgs(support_type=support.upper())
