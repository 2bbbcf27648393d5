"""Who an AKS cluster and its nodes are towards Azure, and the roles without which AKS cannot work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_azure_native import authorization, managedidentity

from gpuplatform.azure.network import AzureNetworkIds
from gpuplatform.component import Component
from gpuplatform.contracts import ClusterArgs
from gpuplatform.naming import fit

__all__ = ["CONTRIBUTOR", "Identities", "cluster_identities", "grant", "subscription_of"]

# Source of the IDs: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
NETWORK_CONTRIBUTOR: Final = "4d97b98b-1d4f-4787-a291-c67834d212e7"
MANAGED_IDENTITY_OPERATOR: Final = "f1a07417-d97a-45cb-824c-7a7467783830"
CONTRIBUTOR: Final = "b24988ac-6180-42a0-ab88-20f7382dd24c"


@dataclass(frozen=True, kw_only=True)
class Identities:
    """Who the cluster is towards Azure.

    Attributes:
        control_plane: Joins nodes to the subnet.
        kubelet: What the nodes are; image registries and storage grant it access. One of ours and not AKS's
            own, which would be made in the node resource group, without our tags and gone with the cluster.
        grants: The role assignments; a cluster created before them fails half-way.
        draws_on: Those on capacity reservations; a pool created before them gets no reserved machine.
    """

    control_plane: managedidentity.UserAssignedIdentity
    kubelet: managedidentity.UserAssignedIdentity
    grants: tuple[pulumi.Resource, ...]
    draws_on: tuple[pulumi.Resource, ...]


def cluster_identities(
    owner: Component,
    prefix: str,
    args: ClusterArgs,
    *,
    network: AzureNetworkIds,
    reservation_scopes: Iterable[str],
) -> Identities:
    """Both identities with the roles that AKS asks for, each on the narrowest scope.

    Network Contributor on the subnet: https://learn.microsoft.com/azure/aks/concepts-network-cni-overview.
    Managed Identity Operator on the kubelet's identity:
    https://learn.microsoft.com/azure/aks/managed-identity-overview#pre-created-kubelet-managed-identity.
    Contributor on the resource groups with the capacity reservation groups of its pools:
    https://learn.microsoft.com/azure/aks/use-capacity-reservation-groups.
    """

    def identity(part: str) -> managedidentity.UserAssignedIdentity:
        return managedidentity.UserAssignedIdentity(
            f"{prefix}-{part}",
            # An identity's name may be longer (128); one limit for all that stands beside the network.
            resource_name_=fit("virtual network", args.name, part),
            resource_group_name=network.resource_group_name,
            location=args.region,
            tags=args.tags.azure(),
            opts=owner.child(),
        )

    control_plane, kubelet = identity("control-plane"), identity("kubelet")

    def may(part: str, role: str, scope: pulumi.Input[str]) -> authorization.RoleAssignment:
        return grant(owner, f"{prefix}-{part}", control_plane.principal_id, role, scope)

    return Identities(
        control_plane=control_plane,
        kubelet=kubelet,
        grants=(
            may("joins-subnet", NETWORK_CONTRIBUTOR, network.node_subnet_id),
            may("assigns-kubelet", MANAGED_IDENTITY_OPERATOR, kubelet.id),
        ),
        draws_on=tuple(
            may(f"draws-on-{_group_name(scope)}", CONTRIBUTOR, scope) for scope in reservation_scopes
        ),
    )


def grant(
    owner: Component,
    name: str,
    principal_id: pulumi.Input[str],
    role: str,
    scope: pulumi.Input[str],
    *,
    to: authorization.PrincipalType = authorization.PrincipalType.SERVICE_PRINCIPAL,
    protect: bool = False,
) -> authorization.RoleAssignment:
    """A built-in role for one identity, on one scope.

    Args:
        owner: The component that it is a part of.
        name: Its logical name.
        principal_id: The identity's object ID.
        role: The role's GUID.
        scope: Resource ID of what it is for.
        to: What kind of identity it is.
        protect: Whether no teardown takes it.
    """
    return authorization.RoleAssignment(
        name,
        principal_id=principal_id,
        # Given, Azure does not look the principal up in a directory that may not have it yet
        # (https://learn.microsoft.com/azure/role-based-access-control/troubleshooting, "new principal").
        principal_type=to,
        role_definition_id=pulumi.Output.from_input(scope).apply(lambda id_: _role(id_, role)),
        scope=scope,
        opts=owner.child(protect=protect or None),
    )


def subscription_of(resource_id: str) -> str:
    """The subscription in a resource ID (`/subscriptions/<subscription>/resourceGroups/...`).

    Raises:
        ValueError: It is no such ID.
    """
    match resource_id.split("/"):
        case ["", subscriptions, subscription, *_] if subscriptions.lower() == "subscriptions":
            return subscription
    raise ValueError(f"{resource_id!r} is no Azure resource ID (/subscriptions/...)")


def _group_name(scope: str) -> str:
    """A logical name for a resource group, of any subscription."""
    return f"{subscription_of(scope)}-{scope.rpartition('/')[2]}".lower()


def _role(scope: str, role: str) -> str:
    # Azure reads the ID back with the subscription in it; written without, each refresh would show a
    # change.
    return f"/subscriptions/{subscription_of(scope)}/providers/Microsoft.Authorization/roleDefinitions/{role}"
