"""Who a node is, and who administers the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_gcp import projects, serviceaccount

from gpuplatform.component import Component
from gpuplatform.naming import fit

__all__ = ["NodeAccount", "admin_access", "node_account"]

NODE_ROLE: Final = "roles/container.defaultNodeServiceAccount"
"""Logs, metrics and autoscaling metrics, no more
(https://cloud.google.com/kubernetes-engine/docs/how-to/hardening-your-cluster#use_least_privilege_sa).
Deliberately absent: reading images of the project's Artifact Registry, which its owner grants.
"""

ADMIN_ROLE: Final = "roles/container.admin"


@dataclass(frozen=True, kw_only=True)
class NodeAccount:
    """The service account of a cluster's nodes.

    Attributes:
        email: Its address, as node pools name it.
        ready: What must exist before a node can use it.
    """

    email: pulumi.Output[str]
    ready: Sequence[pulumi.Resource]


def node_account(owner: Component, prefix: str, *, name: str, project: str) -> NodeAccount:
    """A service account for nodes alone.

    The project's default one, which nodes would get otherwise, is an editor of the whole project in many
    organisations, and disabled in others.
    """
    account = serviceaccount.Account(
        f"{prefix}-node-account",
        account_id=fit("GCP service account", name, "nodes"),
        display_name=f"GKE nodes of {name}",
        project=project,
        opts=owner.child(),
    )
    granted = projects.IAMMember(
        f"{prefix}-node-role",
        project=project,
        role=NODE_ROLE,
        member=account.member,
        opts=owner.child(),
    )
    return NodeAccount(email=account.email, ready=(granted,))


def admin_access(
    owner: Component, prefix: str, admins: Sequence[str], *, project: str
) -> list[pulumi.Resource]:
    """Cluster administration for each member; what to wait for before they use the cluster.

    By IAM, which covers a project's clusters all alike: keep environments in projects of their own. RBAC in
    the cluster would be narrower, but knows groups only where the organisation has set up
    `gke-security-groups@` (https://cloud.google.com/kubernetes-engine/docs/how-to/google-groups-rbac), and
    without it grants nothing, silently.
    """
    return [
        projects.IAMMember(
            # By the member, not by its place in the list: the order of a list must not replace a grant.
            f"{prefix}-admin-{admin.replace(':', '-')}",
            project=project,
            role=ADMIN_ROLE,
            member=admin,
            opts=owner.child(),
        )
        for admin in admins
    ]
