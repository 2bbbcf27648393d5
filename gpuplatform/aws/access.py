"""Who administers the cluster: access entries, no aws-auth map."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import pulumi
from pulumi_aws import eks

from gpuplatform.aws.policies import partition
from gpuplatform.component import Component
from gpuplatform.errors import Refusal
from gpuplatform.tags import Tags

__all__ = ["admin_access", "check_admins"]

_PRINCIPAL: Final = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:(role|user)/.+")


def check_admins(admins: Sequence[str]) -> None:
    """Whether every ARN can have an access entry.

    Raises:
        Refusal: There is none, or one is no role or user. A session (`arn:aws:sts::...:assumed-role/...`) is
            none either (https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAccessEntry.html).
    """
    if not admins:
        raise Refusal(
            "the cluster has no administrator",
            where="cluster.admins",
            rule="creating a cluster gives nobody access to it",
            way_out="list the ARN of the role that deploys, and those of the people's roles",
        )
    for arn in admins:
        if not _PRINCIPAL.fullmatch(arn):
            raise Refusal(
                f"{arn!r} is no IAM role or user",
                where="cluster.admins",
                rule="an access entry is for a role or user, never for a session of one",
                way_out="write the role itself: arn:aws:iam::123456789012:role/name",
            )


def admin_access(
    owner: Component, prefix: str, cluster: Any, admins: Sequence[str], *, region: str, tags: Tags
) -> list[pulumi.Resource]:
    """An access entry with cluster administration for each ARN; what to wait for before using the cluster.

    Node roles are absent: EKS makes the entries of its managed node groups itself.
    """
    policy = f"arn:{partition(region)}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
    granted: list[pulumi.Resource] = []
    for arn in dict.fromkeys(admins):
        account, principal = arn.split(":", 5)[4:]
        # By the principal, not by its place in the list: the order of a list must not replace an entry.
        logical = f"{prefix}-admin-{account}-{principal.replace('/', '-')}"
        entry = eks.AccessEntry(
            logical,
            cluster_name=cluster.name,
            principal_arn=arn,
            type="STANDARD",
            tags=tags.aws(),
            opts=owner.child(),
        )
        granted.append(
            eks.AccessPolicyAssociation(
                logical,
                cluster_name=cluster.name,
                principal_arn=entry.principal_arn,
                policy_arn=policy,
                access_scope=eks.AccessPolicyAssociationAccessScopeArgs(type="cluster"),
                opts=owner.child(),
            )
        )
    return granted
