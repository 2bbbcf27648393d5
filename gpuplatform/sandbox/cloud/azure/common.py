"""Names of types, and places, that Azure's parts share."""

from __future__ import annotations

from gpuplatform.sandbox.cloud.rule import (
    Call,
    Reference,
)

__all__ = [
    "CLUSTER",
    "GROUP",
    "IDENTITY",
    "IN_GROUP",
    "IN_USE",
    "NETWORK",
    "NOT_FOUND",
    "NO_GROUP",
    "POOL",
    "PROXIMITY",
    "SUBNET",
    "location",
    "normal",
]


GROUP = "azure-native:resources:ResourceGroup"

NETWORK = "azure-native:network:VirtualNetwork"

SUBNET = "azure-native:network:Subnet"

CLUSTER = "azure-native:containerservice:ManagedCluster"

POOL = "azure-native:containerservice:AgentPool"

PROXIMITY = "azure-native:compute:ProximityPlacementGroup"

IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"

NOT_FOUND = "Code=ResourceNotFound: The Resource '{value}' was not found."

NO_GROUP = "Code=ResourceGroupNotFound: Resource group '{value}' could not be found."

IN_USE = "Code=InUse{kind}CannotBeDeleted: {{id}} is in use by {{by}} and cannot be deleted."


def normal(handle: str) -> str:
    """One spelling: Azure ignores case in ids and names."""
    return handle.lower()


def location(call: Call) -> str:
    """Its own, else the resource group's; `West US 2` and `westus2` are one."""
    own = call.get("location")
    if not own:
        group = call.world.named(GROUP, normal(str(call.get("resourceGroupName"))))
        own = group.outputs.get("location") if group else call.account.region
    return str(own or "").replace(" ", "").lower()


IN_GROUP = Reference("resourceGroupName", GROUP, NO_GROUP, cascades=True)
