"""Azure: what replaces a resource, and what Azure refuses to change.

Source: pulumi/pulumi-azure-native, provider/pkg/gen/replacement.go (forceNewMap), read in 2026, and what the
API's specification lets nobody update (x-ms-mutability).

Every parameter of a resource's path replaces it too (provider/pkg/provider/diff.go). Much that cannot change
is missing there; the provider then asks for an update, and Azure refuses it (PropertyChangeNotAllowed): such
inputs are `immutable`.
"""

from __future__ import annotations

from typing import Final

from gpuplatform.replacement.rule import Replacement

__all__ = ["ALWAYS", "REPLACEMENTS"]

ALWAYS: Final = ("resourceGroupName",)
"""The parameter that all paths have; the others are in the rows."""

_POOL_FIXED = (
    # Refused by the API as "Changing property 'properties.X' is not allowed" (learn.microsoft.com/azure/aks/
    # create-node-pools and the agent pool's REST reference); gpuProfile.driver: docs, "create-time only".
    # capacityReservationGroupID: an existing pool takes one in preview versions of the API only
    # (learn.microsoft.com/azure/aks/use-capacity-reservation-groups).
    "availabilityZones", "capacityReservationGroupID", "enableEncryptionAtHost", "enableFIPS",
    "enableNodePublicIP", "enableUltraSSD", "gpuProfile.driver", "hostGroupID", "kubeletConfig",
    "kubeletDiskType", "linuxOSConfig", "maxPods", "osDiskSizeGB", "osDiskType", "osType", "podSubnetID",
    "proximityPlacementGroupID", "scaleSetEvictionPolicy", "scaleSetPriority", "spotMaxPrice",
    "vnetSubnetID",
)  # fmt: skip

REPLACEMENTS: Final = (
    Replacement(
        "azure-native:resources:ResourceGroup",
        replace=("location",),
    ),
    Replacement(
        "azure-native:network:VirtualNetwork",
        replace=("location",),
    ),
    Replacement(
        "azure-native:network:Subnet",
        replace=("virtualNetworkName",),
    ),
    Replacement(
        "azure-native:network:NatGateway",
        immutable=(
            "location",
            "sku",
            "zones",
        ),
    ),
    Replacement(
        "azure-native:network:PublicIPAddress",
        replace=(
            "location",
            "publicIPAddressVersion",
            "publicIPPrefix",
            "sku",
        ),
        immutable=("zones",),
    ),
    Replacement(
        "azure-native:network:NetworkSecurityGroup",
        immutable=("location",),
    ),
    Replacement(
        "azure-native:network:RouteTable",
        immutable=("location",),
    ),
    Replacement(
        "azure-native:managedidentity:UserAssignedIdentity",
        replace=("location",),
    ),
    Replacement(
        "azure-native:managedidentity:FederatedIdentityCredential",
        replace=("resourceName",),
    ),
    Replacement(
        "azure-native:authorization:RoleAssignment",
        replace=(
            "principalId",
            "scope",
        ),
    ),
    Replacement(
        "azure-native:containerservice:ManagedCluster",
        replace=(
            "diskEncryptionSetID",
            "dnsPrefix",
            "fqdnSubdomain",
            "linuxProfile",
            "location",
            "nodeResourceGroup",
            "windowsProfile",
            "networkProfile.serviceCidr",
            "networkProfile.serviceCidrs",
            "networkProfile.dnsServiceIP",
            "networkProfile.networkMode",
            "networkProfile.networkPlugin",
            "networkProfile.networkPluginMode",
            "networkProfile.podCidr",
            "networkProfile.networkDataplane",
            "networkProfile.networkPolicy",
            "networkProfile.outboundType",
        ),
        immutable=(
            "agentPoolProfiles.vnetSubnetID",
            "apiServerAccessProfile.enablePrivateCluster",
        ),
    ),
    Replacement(
        "azure-native:containerservice:AgentPool",
        replace=("resourceName", "gpuInstanceProfile", "vmSize", "networkProfile.nodePublicIPTags"),
        immutable=_POOL_FIXED,
    ),
    Replacement(
        "azure-native:containerservice:MaintenanceConfiguration",
        name="configName",
        replace=("resourceName",),
    ),
    Replacement(
        "azure-native:compute:ProximityPlacementGroup",
        replace=("location",),
        # learn.microsoft.com/azure/virtual-machines/co-location: what is in it has been placed by them.
        immutable=("intent", "proximityPlacementGroupType", "zones"),
    ),
    Replacement(
        "azure-native:authorization:RoleDefinition",
        name="",
        replace=("roleDefinitionId", "scope"),
    ),
    Replacement(
        "azure-native:authorization:ManagementLockAtResourceGroupLevel",
        name="lockName",
    ),
    # isHnsEnabled and location: forceNewMap. SKUs move between copies in one place and in several zones on
    # request only (learn.microsoft.com/azure/storage/common/redundancy-migration); that is the simulation's
    # to say, since other changes of the SKU are updates.
    Replacement(
        "azure-native:storage:StorageAccount",
        name="accountName",
        replace=("isHnsEnabled", "location"),
        immutable=("dnsEndpointType", "encryption.requireInfrastructureEncryption", "enableNfsV3"),
    ),
    Replacement(
        "azure-native:storage:BlobServiceProperties",
        name="blobServicesName",
        replace=("accountName",),
    ),
    Replacement(
        "azure-native:storage:FileServiceProperties",
        name="fileServicesName",
        replace=("accountName",),
    ),
    Replacement(
        "azure-native:storage:BlobContainer",
        name="containerName",
        replace=("accountName",),
    ),
    Replacement(
        "azure-native:storage:ManagementPolicy",
        replace=("accountName",),
    ),
    # "Can only be specified when creating a share": the API's description of enabledProtocols.
    Replacement(
        "azure-native:storage:FileShare",
        name="shareName",
        replace=("accountName",),
        immutable=("enabledProtocols",),
    ),
    Replacement(
        "azure-native:keyvault:Vault",
        replace=("location",),
        # Each of them goes one way only (learn.microsoft.com/rest/api/keyvault/keyvault/vaults).
        immutable=("properties.softDeleteRetentionInDays",),
    ),
    # ARM makes a key once and then returns the one that is there
    # (learn.microsoft.com/rest/api/keyvault/keyvault/keys/create-if-not-exist).
    Replacement(
        "azure-native:keyvault:Key",
        replace=("vaultName",),
        immutable=("properties.kty", "properties.keySize", "properties.curveName"),
    ),
    # "Plan carefully, as they can't be changed": learn.microsoft.com/azure/azure-managed-lustre/
    # create-file-system-portal; the subnet: amlfs-prerequisites.
    Replacement(
        "azure-native:storagecache:AmlFilesystem",
        replace=("location",),
        immutable=("filesystemSubnet", "hsm", "sku", "storageCapacityTiB", "zones"),
    ),
    Replacement(
        "azure-native:network:PrivateEndpoint",
        replace=("subnet",),
        immutable=("location", "privateLinkServiceConnections"),
    ),
    Replacement(
        "azure-native:network:PrivateDnsZoneGroup",
        replace=("privateEndpointName",),
    ),
    Replacement(
        "azure-native:privatedns:PrivateZone",
        immutable=("location",),
    ),
    Replacement(
        "azure-native:privatedns:VirtualNetworkLink",
        replace=("privateZoneName",),
        immutable=("location", "virtualNetwork"),
    ),
    # The provider compares no scope of its own for this type; the path has it.
    Replacement(
        "azure-native:consumption:Budget",
        replace=("scope",),
        immutable=("timePeriod.startDate",),
    ),
)
