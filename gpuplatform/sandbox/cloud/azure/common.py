"""Names of types, and places, that Azure's parts share."""

from __future__ import annotations

from collections.abc import Callable

from gpuplatform.sandbox.cloud.rule import (
    Call,
    Reference,
)

__all__ = [
    "ACCOUNT",
    "CLUSTER",
    "CONTAINER",
    "ENDPOINT",
    "GROUP",
    "IDENTITY",
    "IN_GROUP",
    "IN_USE",
    "KEY",
    "LOCK",
    "NETWORK",
    "NOT_FOUND",
    "NO_GROUP",
    "POOL",
    "PROXIMITY",
    "SHARE",
    "SUBNET",
    "VAULT",
    "ZONE",
    "location",
    "normal",
    "parent",
    "vault_name",
]


GROUP = "azure-native:resources:ResourceGroup"

NETWORK = "azure-native:network:VirtualNetwork"

SUBNET = "azure-native:network:Subnet"

CLUSTER = "azure-native:containerservice:ManagedCluster"

POOL = "azure-native:containerservice:AgentPool"

PROXIMITY = "azure-native:compute:ProximityPlacementGroup"

IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"

ACCOUNT = "azure-native:storage:StorageAccount"

CONTAINER = "azure-native:storage:BlobContainer"

SHARE = "azure-native:storage:FileShare"

VAULT = "azure-native:keyvault:Vault"

KEY = "azure-native:keyvault:Key"

LOCK = "azure-native:authorization:ManagementLockAtResourceGroupLevel"

ENDPOINT = "azure-native:network:PrivateEndpoint"

ZONE = "azure-native:privatedns:PrivateZone"

NOT_FOUND = "Code=ResourceNotFound: The Resource '{value}' was not found."

NO_GROUP = "Code=ResourceGroupNotFound: Resource group '{value}' could not be found."

IN_USE = "Code=InUse{kind}CannotBeDeleted: {{id}} is in use by {{by}} and cannot be deleted."


def normal(handle: str) -> str:
    """One spelling: Azure ignores case in ids and names."""
    return handle.lower()


def parent(kind: str, path: str) -> Callable[[Call], str]:
    """The id of what a resource is inside of, from the input with its name."""

    def made(call: Call) -> str:
        group = call.get("resourceGroupName")
        return f"/subscriptions/{call.account.owner}/resourceGroups/{group}/providers/{kind}/{call.get(path)}"

    return made


def vault_name(uri: str) -> str:
    """A vault's name, from its URI."""
    return uri.removeprefix("https://").partition(".")[0]


def location(call: Call) -> str:
    """Its own, else the resource group's; `West US 2` and `westus2` are one."""
    own = call.get("location")
    if not own:
        group = call.world.named(GROUP, normal(str(call.get("resourceGroupName"))))
        own = group.outputs.get("location") if group else call.account.region
    return str(own or "").replace(" ", "").lower()


IN_GROUP = Reference("resourceGroupName", GROUP, NO_GROUP, cascades=True)
