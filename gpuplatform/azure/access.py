"""Who administers an AKS cluster and who looks at it: Entra groups, no local accounts."""

from __future__ import annotations

from typing import Final

import pulumi
from pulumi_azure_native import authorization
from pulumi_azure_native import containerservice as aks

from gpuplatform.azure.identity import grant
from gpuplatform.component import Component
from gpuplatform.contracts import ClusterArgs, ClusterHandle
from gpuplatform.kubernetes.objects import KubernetesObject

__all__ = ["admin_access", "viewer_access"]

_RBAC: Final = "rbac.authorization.k8s.io"

# Source of the ID: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles/containers
CLUSTER_USER: Final = "4abbcc35-e782-43d8-92f1-2d3f1bd2ca9f"
"""Azure Kubernetes Service Cluster User Role: `listClusterUserCredential`."""


def admin_access(args: ClusterArgs) -> aks.ManagedClusterAADProfileArgs:
    """Entra says who somebody is; Kubernetes' own RBAC, bound to Entra groups, says what they may do.

    A part of the cluster itself, unlike on the other clouds. Azure RBAC stays off, so that permissions are
    the same objects as there.
    """
    return aks.ManagedClusterAADProfileArgs(
        managed=True, admin_group_object_ids=list(args.admins), enable_azure_rbac=False
    )


def viewer_access(
    owner: Component,
    prefix: str,
    args: ClusterArgs,
    *,
    handle: ClusterHandle,
    cluster_id: pulumi.Input[str],
) -> None:
    """A look at what is in the cluster for each Entra group, by one binding of Kubernetes' own role `view`.

    Kubernetes knows a group by its object ID (https://learn.microsoft.com/azure/aks/kubernetes-rbac-entra-id),
    and `view` reads no Secrets (https://kubernetes.io/docs/reference/access-authn-authz/rbac/
    #user-facing-roles). Azure's own `Azure Kubernetes Service RBAC Reader` counts only with Azure RBAC.

    The kubeconfig, in which there is no credential, they get of this cluster alone: the same right on the
    subscription would return an administrator's of clusters with local accounts.
    """
    if not args.viewers:
        return
    for group in sorted(set(args.viewers)):
        to = authorization.PrincipalType.GROUP
        grant(owner, f"{prefix}-viewer-{group}", group, CLUSTER_USER, cluster_id, to=to)
    KubernetesObject(
        f"{prefix}-viewers",
        f"{_RBAC}/v1",
        "ClusterRoleBinding",
        {
            "metadata": {"name": "gpuplatform-viewers"},
            "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "view"},
            # Sorted: the order of a list changes nothing.
            "subjects": [
                {"apiGroup": _RBAC, "kind": "Group", "name": group} for group in sorted(set(args.viewers))
            ],
        },
        owner.child(provider=handle.provider, depends_on=list(handle.ready), deleted_with=handle.cluster),
    )
