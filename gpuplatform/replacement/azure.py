"""Azure. Source: pulumi/pulumi-azure-native, provider/pkg/gen/replacement.go (forceNewMap), read in 2026.

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
    "availabilityZones", "enableEncryptionAtHost", "enableFIPS", "enableNodePublicIP", "enableUltraSSD",
    "gpuProfile.driver", "hostGroupID", "kubeletConfig", "kubeletDiskType", "linuxOSConfig", "maxPods",
    "osDiskSizeGB", "osDiskType", "osType", "podSubnetID", "proximityPlacementGroupID",
    "scaleSetEvictionPolicy", "scaleSetPriority", "spotMaxPrice", "vnetSubnetID",
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
        replace=("location", "zones", "sku"),
    ),
    Replacement(
        "azure-native:network:PublicIPAddress",
        replace=("location", "publicIPAddressVersion", "publicIPPrefix", "sku", "zones"),
    ),
    Replacement(
        "azure-native:network:NetworkSecurityGroup",
        replace=("location",),
    ),
    Replacement(
        "azure-native:network:RouteTable",
        replace=("location",),
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
        replace=("principalId", "scope", "roleDefinitionId"),
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
        immutable=("agentPoolProfiles.vnetSubnetID", "apiServerAccessProfile.enablePrivateCluster"),
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
)
