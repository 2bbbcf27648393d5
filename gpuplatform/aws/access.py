"""Who administers an EKS cluster and who looks at it: access entries, no aws-auth map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pulumi
from pulumi_aws import eks

from gpuplatform.aws.policies import partition
from gpuplatform.component import Component
from gpuplatform.contracts import ClusterArgs
from gpuplatform.naming import distinct

__all__ = ["admin_access", "viewer_access"]


def admin_access(owner: Component, prefix: str, args: ClusterArgs, *, cluster: Any) -> list[pulumi.Resource]:
    """An access entry with cluster administration for each ARN; what to wait for before using the cluster.

    Node roles are absent: EKS makes the entries of its managed node groups itself.
    """
    policy = "AmazonEKSClusterAdminPolicy"
    return _entries(owner, f"{prefix}-admin", args, args.admins, policy, cluster=cluster)


def viewer_access(owner: Component, prefix: str, args: ClusterArgs, *, cluster: Any) -> None:
    """An access entry to look at what is in the cluster for each ARN.

    `AmazonEKSViewPolicy` is Kubernetes' `view`, which reads no Secrets; `AmazonEKSAdminViewPolicy` reads them
    (https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html).
    """
    _entries(owner, f"{prefix}-viewer", args, args.viewers, "AmazonEKSViewPolicy", cluster=cluster)


def _entries(
    owner: Component, prefix: str, args: ClusterArgs, arns: Sequence[str], policy: str, *, cluster: Any
) -> list[pulumi.Resource]:
    granted: list[pulumi.Resource] = []
    # By the principal, not by its place in the list: the order of a list must not replace an entry.
    for arn, name in distinct({arn: _name(arn) for arn in arns}).items():
        logical = f"{prefix}-{name}"
        entry = eks.AccessEntry(
            logical,
            cluster_name=cluster.name,
            principal_arn=arn,
            type="STANDARD",
            tags=args.tags.aws(),
            opts=owner.child(),
        )
        granted.append(
            eks.AccessPolicyAssociation(
                logical,
                cluster_name=cluster.name,
                principal_arn=entry.principal_arn,
                policy_arn=f"arn:{partition(args.region)}:eks::aws:cluster-access-policy/{policy}",
                access_scope=eks.AccessPolicyAssociationAccessScopeArgs(type="cluster"),
                opts=owner.child(),
            )
        )
    return granted


def _name(arn: str) -> str:
    """Readable, but not always one ARN's own: role/a/b and role/a-b make the same."""
    account, principal = arn.split(":", 5)[4:]
    return f"{account}-{principal.replace('/', '-')}"
