"""Who administers a GKE cluster: members of its project's IAM policy."""

from __future__ import annotations

from typing import Final

import pulumi
from pulumi_gcp import projects

from gpuplatform.component import Component
from gpuplatform.contracts import ClusterArgs
from gpuplatform.naming import distinct

__all__ = ["admin_access"]

ADMIN_ROLE: Final = "roles/container.admin"


def admin_access(owner: Component, prefix: str, args: ClusterArgs, *, project: str) -> list[pulumi.Resource]:
    """Cluster administration for each member; what to wait for before they use the cluster.

    By IAM, which covers a project's clusters all alike: keep environments in projects of their own. RBAC in
    the cluster would be narrower, but knows groups only where the organisation has set up
    `gke-security-groups@` (https://cloud.google.com/kubernetes-engine/docs/how-to/google-groups-rbac), and
    without it grants nothing, silently.
    """
    return [
        projects.IAMMember(
            # By the member, not by its place in the list: the order of a list must not replace a grant.
            f"{prefix}-admin-{name}",
            project=project,
            role=ADMIN_ROLE,
            member=admin,
            opts=owner.child(),
        )
        for admin, name in distinct({admin: admin.replace(":", "-") for admin in args.admins}).items()
    ]
