"""Who the nodes of a GKE cluster are towards Google Cloud."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_gcp import projects, serviceaccount

from gpuplatform.component import Component
from gpuplatform.contracts import ClusterArgs
from gpuplatform.naming import fit

__all__ = ["NodeAccount", "node_account"]

NODE_ROLE: Final = "roles/container.defaultNodeServiceAccount"
"""Logs, metrics and autoscaling metrics, no more
(https://cloud.google.com/kubernetes-engine/docs/how-to/hardening-your-cluster#use_least_privilege_sa).
Deliberately absent: reading images of the project's Artifact Registry, which its owner grants.
"""


@dataclass(frozen=True, kw_only=True)
class NodeAccount:
    """The service account of a cluster's nodes.

    Attributes:
        email: Its address, as node pools name it.
        ready: What must exist before a node can use it.
    """

    email: pulumi.Output[str]
    ready: Sequence[pulumi.Resource]


def node_account(owner: Component, prefix: str, args: ClusterArgs, *, project: str) -> NodeAccount:
    """A service account for nodes alone.

    The project's default one, which nodes would get otherwise, is an editor of the whole project in many
    organisations, and disabled in others.
    """
    account = serviceaccount.Account(
        f"{prefix}-node-account",
        account_id=fit("GCP service account", args.name, "nodes"),
        display_name=f"GKE nodes of {args.name}",
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
