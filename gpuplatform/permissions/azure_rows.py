"""What Azure's resource types ask for: a call of Azure Resource Manager each, and the joins it checks.

Source of the names: each provider's operations
(https://learn.microsoft.com/azure/role-based-access-control/resource-provider-operations). The provider
azure-native sends one PUT, GET or DELETE for a resource: `TYPE/write`, `TYPE/read`, `TYPE/delete`.
"""

from __future__ import annotations

from typing import Final

from gpuplatform.permissions.model import Row, Table

__all__ = ["GRANTABLE", "ON_RESERVATIONS", "TABLE", "TO_GROUPS"]

_DOCS: Final = "https://learn.microsoft.com/azure/"
_OPERATIONS: Final = f"{_DOCS}role-based-access-control/permissions/"

# Source: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
GRANTABLE: Final[dict[str, str]] = {
    "4d97b98b-1d4f-4787-a291-c67834d212e7": "Network Contributor: the cluster, on its subnet",
    "f1a07417-d97a-45cb-824c-7a7467783830": "Managed Identity Operator: the cluster, on its nodes' identity",
    "ba92f5b4-2d11-453d-a403-e96b0029c9fe": "Storage Blob Data Contributor: a team's pods, on containers",
    "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1": "Storage Blob Data Reader: likewise, to read only",
    "e147488a-f6f5-4113-8e2d-b22465e65bf6": "Key Vault Crypto Service Encryption User: a bucket, on its key",
}
"""Built-in roles that a stack's resources grant, by ID, with who gets them on what."""

TO_GROUPS: Final[dict[str, str]] = {
    "4abbcc35-e782-43d8-92f1-2d3f1bd2ca9f": "Azure Kubernetes Service Cluster User Role: cluster.viewers",
}
"""What a stack grants to groups, and to nobody else: the address of its cluster, with no right inside."""

ON_RESERVATIONS: Final[dict[str, str]] = {
    "b24988ac-6180-42a0-ab88-20f7382dd24c": "Contributor: the cluster, on its reservations' resource groups",
}
"""What a stack grants only where its pools draw on capacity reservations
(https://learn.microsoft.com/azure/aks/use-capacity-reservation-groups). Far wider than the others, and a
condition knows no scopes: so it is only in the list where it is needed."""

_SUBNET_JOIN: Final = "Microsoft.Network/virtualNetworks/subnets/join/action"
_SERVICE_ENDPOINT: Final = "Microsoft.Network/virtualNetworks/subnets/joinViaServiceEndpoint/action"
_ASSIGN: Final = "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action"
_USER_CREDENTIAL: Final = "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action"


def _arm(
    token: str, kind: str, page: str, *, joins: tuple[str, ...] = (), delete: bool = True, also: str = ""
) -> Row:
    """A resource of Azure Resource Manager.

    Args:
        token: Its type token.
        kind: Its type as Azure names it.
        page: The page of operations that lists it.
        joins: What it is connected to asks, at creation and at each change.
        delete: Whether it can be deleted by itself.
        also: One more action to read it.
    """
    write = (f"{kind}/write", *joins)
    return Row(
        type=f"azure-native:{token}",
        source=page if page.startswith("https://") else _OPERATIONS + page,
        read=(f"{kind}/read", also) if also else (f"{kind}/read",),
        create=write,
        update=write,
        delete=(f"{kind}/delete",) if delete else (),
    )


_ROWS: Final = (
    # `az login` and the provider look their subscription up.
    Row(
        type="pulumi:providers:azure-native",
        source=f"{_OPERATIONS}management-and-governance#microsoftresources",
        read=("Microsoft.Resources/subscriptions/read",),
    ),
    # The Kubernetes provider takes the user's kubeconfig, never the administrator's; what it may do in the
    # cluster, Kubernetes' RBAC says. Deliberately not a preview's: a custom role is the subscription's, and
    # of a cluster with local accounts the same call returns an administrator. `cluster.viewers` get it on the
    # stack's cluster alone (`gpuplatform.azure.access`); whoever deploys may write clusters anyway.
    Row(
        type="pulumi:providers:kubernetes",
        source=f"{_DOCS}aks/control-kubeconfig-access",
        read=("Microsoft.ContainerService/managedClusters/read",),
        create=(_USER_CREDENTIAL,),
    ),
    Row(
        type="kubernetes:",
        source=f"{_DOCS}aks/control-kubeconfig-access",
        read=("Microsoft.ContainerService/managedClusters/read",),
    ),
    _arm(
        "resources:ResourceGroup",
        "Microsoft.Resources/subscriptions/resourceGroups",
        "management-and-governance#microsoftresources",
    ),
    _arm("network:VirtualNetwork", "Microsoft.Network/virtualNetworks", "networking#microsoftnetwork"),
    _arm(
        "network:Subnet",
        "Microsoft.Network/virtualNetworks/subnets",
        "networking#microsoftnetwork",
        joins=(
            "Microsoft.Network/natGateways/join/action",
            "Microsoft.Network/networkSecurityGroups/join/action",
        ),
    ),
    _arm(
        "network:NatGateway",
        "Microsoft.Network/natGateways",
        "networking#microsoftnetwork",
        joins=("Microsoft.Network/publicIPAddresses/join/action",),
    ),
    _arm("network:PublicIPAddress", "Microsoft.Network/publicIPAddresses", "networking#microsoftnetwork"),
    _arm(
        "network:NetworkSecurityGroup",
        "Microsoft.Network/networkSecurityGroups",
        "networking#microsoftnetwork",
    ),
    _arm(
        "network:PrivateEndpoint",
        "Microsoft.Network/privateEndpoints",
        "networking#microsoftnetwork",
        # Whoever may approve connects at once; without, somebody else must approve.
        joins=(_SUBNET_JOIN, "Microsoft.Storage/storageAccounts/privateEndpointConnectionsApproval/action"),
    ),
    _arm(
        "network:PrivateDnsZoneGroup",
        "Microsoft.Network/privateEndpoints/privateDnsZoneGroups",
        "networking#microsoftnetwork",
        joins=("Microsoft.Network/privateDnsZones/join/action",),
    ),
    _arm("privatedns:PrivateZone", "Microsoft.Network/privateDnsZones", "networking#microsoftnetwork"),
    _arm(
        "privatedns:VirtualNetworkLink",
        "Microsoft.Network/privateDnsZones/virtualNetworkLinks",
        "networking#microsoftnetwork",
        joins=("Microsoft.Network/virtualNetworks/join/action",),
    ),
    _arm(
        "compute:ProximityPlacementGroup",
        "Microsoft.Compute/proximityPlacementGroups",
        "compute#microsoftcompute",
    ),
    _arm(
        "containerservice:ManagedCluster",
        "Microsoft.ContainerService/managedClusters",
        # "AKS cluster identity permissions", of whom creates and operates a cluster.
        f"{_DOCS}aks/concepts-identity",
        joins=(_SUBNET_JOIN, _ASSIGN, _USER_CREDENTIAL),
    ),
    _arm(
        "containerservice:MaintenanceConfiguration",
        "Microsoft.ContainerService/managedClusters/maintenanceConfigurations",
        "containers#microsoftcontainerservice",
    ),
    _arm(
        "containerservice:AgentPool",
        "Microsoft.ContainerService/managedClusters/agentPools",
        "containers#microsoftcontainerservice",
        joins=(
            _SUBNET_JOIN,
            # A machine in a group is a change of the group.
            "Microsoft.Compute/proximityPlacementGroups/read",
            "Microsoft.Compute/proximityPlacementGroups/write",
            "Microsoft.Compute/capacityReservationGroups/read",
            "Microsoft.Compute/capacityReservationGroups/deploy/action",
        ),
    ),
    _arm(
        "managedidentity:UserAssignedIdentity",
        "Microsoft.ManagedIdentity/userAssignedIdentities",
        "identity#microsoftmanagedidentity",
    ),
    _arm(
        "managedidentity:FederatedIdentityCredential",
        "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials",
        "identity#microsoftmanagedidentity",
    ),
    # Which roles, and to whom: `condition` says.
    _arm(
        "authorization:RoleAssignment",
        "Microsoft.Authorization/roleAssignments",
        "management-and-governance#microsoftauthorization",
        also="Microsoft.Authorization/roleDefinitions/read",
    ),
    _arm(
        "storage:StorageAccount",
        "Microsoft.Storage/storageAccounts",
        "storage#microsoftstorage",
        # Its own identity reads its key, and subnets are let in through service endpoints. Deliberately
        # absent: `listKeys`, whose keys read every object.
        joins=(_ASSIGN, _SERVICE_ENDPOINT),
    ),
    _arm(
        "storage:BlobServiceProperties",
        "Microsoft.Storage/storageAccounts/blobServices",
        "storage#microsoftstorage",
        delete=False,
    ),
    _arm(
        "storage:BlobContainer",
        "Microsoft.Storage/storageAccounts/blobServices/containers",
        "storage#microsoftstorage",
    ),
    _arm(
        "storage:ManagementPolicy",
        "Microsoft.Storage/storageAccounts/managementPolicies",
        "storage#microsoftstorage",
    ),
    _arm(
        "storage:FileServiceProperties",
        "Microsoft.Storage/storageAccounts/fileServices",
        "storage#microsoftstorage",
        delete=False,
    ),
    _arm(
        "storage:FileShare",
        "Microsoft.Storage/storageAccounts/fileServices/shares",
        "storage#microsoftstorage",
    ),
    _arm(
        "keyvault:Vault",
        "Microsoft.KeyVault/vaults",
        "security#microsoftkeyvault",
        joins=(_SERVICE_ENDPOINT,),
        # A deleted vault keeps its name; the provider looks there before it makes one. Deliberately absent:
        # `locations/deletedVaults/purge/action`, which makes what the keys encrypt unreadable for good.
        also="Microsoft.KeyVault/locations/deletedVaults/read",
    ),
    # Through Azure Resource Manager a key is made and read, but neither used nor deleted: it goes with its
    # vault. `read` gives its public half.
    _arm(
        "keyvault:Key",
        "Microsoft.KeyVault/vaults/keys",
        "security#microsoftkeyvault",
        delete=False,
    ),
    _arm(
        "storagecache:AmlFilesystem",
        "Microsoft.StorageCache/amlFilesystems",
        "storage#microsoftstoragecache",
        joins=(_SUBNET_JOIN, _ASSIGN),
        also="Microsoft.StorageCache/locations/ascoperations/read",
    ),
    _arm(
        "consumption:Budget",
        "Microsoft.Consumption/budgets",
        "management-and-governance#microsoftconsumption",
    ),
    Row(
        type="azure-native:authorization:RoleDefinition",
        source=f"{_OPERATIONS}management-and-governance#microsoftauthorization",
        bootstrap="whoever may write role definitions may put anything into their own",
    ),
    *(
        Row(
            type=f"azure-native:authorization:{lock}",
            source=f"{_DOCS}azure-resource-manager/management/lock-resources",
            bootstrap="locks keep the pipeline off its own identities",
        )
        for lock in (
            "ManagementLockAtResourceGroupLevel",
            "ManagementLockAtResourceLevel",
            "ManagementLockByScope",
        )
    ),
)

TABLE: Final[Table] = {row.type: row for row in _ROWS}
