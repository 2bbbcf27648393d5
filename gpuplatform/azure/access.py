"""Who administers an AKS cluster: Entra groups, no local accounts."""

from __future__ import annotations

from pulumi_azure_native import containerservice as aks

from gpuplatform.contracts import ClusterArgs

__all__ = ["admin_access"]


def admin_access(args: ClusterArgs) -> aks.ManagedClusterAADProfileArgs:
    """Entra says who somebody is; Kubernetes' own RBAC, bound to Entra groups, says what they may do.

    A part of the cluster itself, unlike on the other clouds. Azure RBAC stays off, so that permissions are
    the same objects as there.
    """
    return aks.ManagedClusterAADProfileArgs(
        managed=True, admin_group_object_ids=list(args.admins), enable_azure_rbac=False
    )
