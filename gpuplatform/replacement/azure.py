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
)
