"""Who administers a GKE cluster and who looks at it: members of its project's IAM policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pulumi
from pulumi_gcp import projects

from gpuplatform.component import Component
from gpuplatform.contracts import ClusterArgs
from gpuplatform.naming import distinct

__all__ = ["admin_access", "viewer_access"]

ADMIN_ROLE: Final = "roles/container.admin"
VIEWER_ROLE: Final = "roles/container.viewer"


def admin_access(owner: Component, prefix: str, args: ClusterArgs, *, project: str) -> list[pulumi.Resource]:
    """Cluster administration for each member; what to wait for before they use the cluster.

    By IAM, which covers a project's clusters all alike: keep environments in projects of their own. RBAC in
    the cluster would be narrower, but knows groups only where the organisation has set up
    `gke-security-groups@` (https://cloud.google.com/kubernetes-engine/docs/how-to/google-groups-rbac), and
    without it grants nothing, silently.
    """
    return _members(owner, f"{prefix}-admin", args.admins, ADMIN_ROLE, project=project)


def viewer_access(owner: Component, prefix: str, args: ClusterArgs, *, project: str) -> None:
    """A look at what is in the cluster for each member, likewise by IAM.

    The role reads no Secrets (https://cloud.google.com/iam/docs/roles-permissions/container).
    """
    _members(owner, f"{prefix}-viewer", args.viewers, VIEWER_ROLE, project=project)


def _members(
    owner: Component, prefix: str, members: Sequence[str], role: str, *, project: str
) -> list[pulumi.Resource]:
    return [
        projects.IAMMember(
            # By the member, not by its place in the list: the order of a list must not replace a grant.
            f"{prefix}-{name}",
            project=project,
            role=role,
            member=member,
            opts=owner.child(),
        )
        for member, name in distinct({member: member.replace(":", "-") for member in members}).items()
    ]
