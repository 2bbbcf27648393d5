"""The simulated Azure: what AKS clusters stand on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gpuplatform.replacement import without_version
from gpuplatform.sandbox.cloud import machines, wire
from gpuplatform.sandbox.cloud.azure import (
    cluster,
    compute,
    endpoints,
    filesystems,
    identity,
    keys,
    locks,
    money,
    network,
    storage,
)
from gpuplatform.sandbox.cloud.azure.common import (
    ACCOUNT,
    CLUSTER,
    CONTAINER,
    ENDPOINT,
    GROUP,
    IDENTITY,
    KEY,
    LOCK,
    NETWORK,
    POOL,
    PROXIMITY,
    SHARE,
    SUBNET,
    VAULT,
    ZONE,
    location,
    normal,
)
from gpuplatform.sandbox.cloud.azure.functions import FUNCTIONS, guid
from gpuplatform.sandbox.cloud.names import AZURE
from gpuplatform.sandbox.cloud.rule import (
    Account,
    Call,
    Cloud,
    by_token,
)
from gpuplatform.sandbox.cloud.world import World

__all__ = ["CLOUD", "DEFAULT_SUBSCRIPTION"]

DEFAULT_SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"

_PATHS = {
    GROUP: "",
    NETWORK: "Microsoft.Network/virtualNetworks",
    SUBNET: "Microsoft.Network/virtualNetworks/{virtualNetworkName}/subnets",
    CLUSTER: "Microsoft.ContainerService/managedClusters",
    POOL: "Microsoft.ContainerService/managedClusters/{resourceName}/agentPools",
    "azure-native:containerservice:MaintenanceConfiguration":
        "Microsoft.ContainerService/managedClusters/{resourceName}/maintenanceConfigurations",
    PROXIMITY: "Microsoft.Compute/proximityPlacementGroups",
    IDENTITY: "Microsoft.ManagedIdentity/userAssignedIdentities",
    "azure-native:managedidentity:FederatedIdentityCredential":
        "Microsoft.ManagedIdentity/userAssignedIdentities/{resourceName}/federatedIdentityCredentials",
    "azure-native:network:NatGateway": "Microsoft.Network/natGateways",
    "azure-native:network:PublicIPAddress": "Microsoft.Network/publicIPAddresses",
    "azure-native:network:NetworkSecurityGroup": "Microsoft.Network/networkSecurityGroups",
    "azure-native:network:RouteTable": "Microsoft.Network/routeTables",
    VAULT: "Microsoft.KeyVault/vaults",
    KEY: "Microsoft.KeyVault/vaults/{vaultName}/keys",
    ACCOUNT: "Microsoft.Storage/storageAccounts",
    "azure-native:storage:BlobServiceProperties":
        "Microsoft.Storage/storageAccounts/{accountName}/blobServices",
    "azure-native:storage:FileServiceProperties":
        "Microsoft.Storage/storageAccounts/{accountName}/fileServices",
    "azure-native:storage:ManagementPolicy":
        "Microsoft.Storage/storageAccounts/{accountName}/managementPolicies",
    CONTAINER: "Microsoft.Storage/storageAccounts/{accountName}/blobServices/default/containers",
    "azure-native:storage:Blob":
        "Microsoft.Storage/storageAccounts/{accountName}/blobServices/default/containers/{containerName}/blobs",
    SHARE: "Microsoft.Storage/storageAccounts/{accountName}/fileServices/default/shares",
    "azure-native:storagecache:AmlFilesystem": "Microsoft.StorageCache/amlFilesystems",
    ENDPOINT: "Microsoft.Network/privateEndpoints",
    "azure-native:network:PrivateDnsZoneGroup":
        "Microsoft.Network/privateEndpoints/{privateEndpointName}/privateDnsZoneGroups",
    ZONE: "Microsoft.Network/privateDnsZones",
    "azure-native:privatedns:VirtualNetworkLink":
        "Microsoft.Network/privateDnsZones/{privateZoneName}/virtualNetworkLinks",
    LOCK: "Microsoft.Authorization/locks",
}  # fmt: skip

"""ARM type below the resource group, with parents' names: learn.microsoft.com/azure/templates."""


def _account(config: Mapping[str, Any], _world: World) -> Account:
    owner = config.get("subscriptionId") or DEFAULT_SUBSCRIPTION
    return Account(owner=owner, region=config.get("location") or "", scope=owner, config=config)


def _type(token: str) -> str:
    known = _PATHS.get(without_version(token))
    if known is not None:
        return known
    _, module, kind = without_version(token).split(":")
    return f"Microsoft.{module.capitalize()}/{kind[0].lower()}{kind[1:]}s"


def _id(call: Call) -> str:
    group = call.get("resourceGroupName")
    base = f"/subscriptions/{call.account.owner}"
    if without_version(call.token) == GROUP:
        return f"{base}/resourceGroups/{call.name}"
    parts = _type(call.token)
    parts = re.sub(r"{(\w+)}", lambda found: str(call.get(found[1])), parts)
    scope = call.get("scope")
    inside_of = scope if isinstance(scope, str) else f"{base}/resourceGroups/{group}" if group else base
    return f"{inside_of}/providers/{parts}/{call.name or guid(call.urn, str(call.world.made()))}"


def _outputs(call: Call) -> dict[str, Any]:
    kind = re.sub(r"({\w+}|default)/", "", _type(call.token))
    return {
        "name": call.name,
        "type": kind or "Microsoft.Resources/resourceGroups",
        "location": location(call),
        "provisioningState": "Succeeded",
        "azureApiVersion": "sandbox",
        "etag": f'W/"{guid(call.id)}"',
    }


def _handles(call: Call, _outputs: Mapping[str, Any]) -> Iterator[str]:
    yield call.id
    if without_version(call.token) == GROUP:
        yield call.name


def _offered(call: Call, sku: str) -> None:
    place = location(call)
    text = f"The VM size of {sku} is not available in location '{place}'."
    machines.refuse(
        "azure",
        sku,
        place,
        [f"{zone}" for zone in wire.at(call.inputs, "availabilityZones[]")],
        unknown=f"Code=VMSizeNotSupported: The VM size of {sku} is not allowed in your subscription.",
        not_in_region=f"Code=NotAllowed: {text}",
        not_in_zone=lambda zone: (
            f"Code=AvailabilityZoneNotSupported: {sku} is not in zone '{zone}' of '{place}'."
        ),
    )


_RULES = (
    *network.RULES,
    *endpoints.RULES,
    *identity.RULES,
    *compute.RULES,
    *cluster.RULES,
    *keys.RULES,
    *storage.RULES,
    *filesystems.RULES,
    *money.RULES,
)

CLOUD = Cloud(
    package="azure-native",
    rules=by_token((*map(locks.guarded, _RULES), *locks.RULES)),
    account=_account,
    naming=AZURE,
    id=_id,
    outputs=_outputs,
    handles=_handles,
    normal=normal,
    conflict=lambda call: f"cannot create already existing resource '{call.id}'",
    gone="Code=ResourceNotFound: The Resource '{id}' was not found.",
    immutable="Code=PropertyChangeNotAllowed: Changing property 'properties.{path}' is not allowed.",
    offered=_offered,
    stockout="Code=AllocationFailed: Allocation failed. There is no capacity for {sku} in {where}.",
    quota=(
        "Code=ErrCode_InsufficientVCPUQuota: Insufficient vcpu quota requested for {sku} in {where};"
        " remaining 0."
        " Request an increase for its family and for the region."
    ),
    throttled="Code=TooManyRequests: The request is being throttled as the limit has been reached.",
    timeout="Code=OperationTimedOut: context deadline exceeded while waiting for the operation to finish",
    invokes=FUNCTIONS,
)
