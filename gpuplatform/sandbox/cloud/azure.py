"""The simulated Azure: what AKS clusters stand on.

Which inputs force a replacement: pulumi/pulumi-azure-native, provider/pkg/gen/replacement.go (forceNewMap), and
every parameter of the resource's path (provider/pkg/provider/diff.go), read in 2026. Much that cannot change is
missing there; the provider then asks for an update, and Azure refuses it (PropertyChangeNotAllowed).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gpuplatform.sandbox.cloud import machines, wire
from gpuplatform.sandbox.cloud.addresses import inside, overlapping, valid
from gpuplatform.sandbox.cloud.azure_functions import FUNCTIONS, TENANT, guid
from gpuplatform.sandbox.cloud.names import AZURE
from gpuplatform.sandbox.cloud.rule import (
    Account,
    Call,
    Cloud,
    CloudError,
    NameRule,
    Reference,
    Rule,
    by_token,
    without_version,
)
from gpuplatform.sandbox.cloud.world import API, World
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["CLOUD", "DEFAULT_SUBSCRIPTION"]

DEFAULT_SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"

GROUP = "azure-native:resources:ResourceGroup"
NETWORK = "azure-native:network:VirtualNetwork"
SUBNET = "azure-native:network:Subnet"
CLUSTER = "azure-native:containerservice:ManagedCluster"
POOL = "azure-native:containerservice:AgentPool"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"

_PATHS = {
    GROUP: "",
    NETWORK: "Microsoft.Network/virtualNetworks",
    SUBNET: "Microsoft.Network/virtualNetworks/{virtualNetworkName}/subnets",
    CLUSTER: "Microsoft.ContainerService/managedClusters",
    POOL: "Microsoft.ContainerService/managedClusters/{resourceName}/agentPools",
    "azure-native:containerservice:MaintenanceConfiguration":
        "Microsoft.ContainerService/managedClusters/{resourceName}/maintenanceConfigurations",
    IDENTITY: "Microsoft.ManagedIdentity/userAssignedIdentities",
    "azure-native:managedidentity:FederatedIdentityCredential":
        "Microsoft.ManagedIdentity/userAssignedIdentities/{resourceName}/federatedIdentityCredentials",
    "azure-native:network:NatGateway": "Microsoft.Network/natGateways",
    "azure-native:network:PublicIPAddress": "Microsoft.Network/publicIPAddresses",
    "azure-native:network:NetworkSecurityGroup": "Microsoft.Network/networkSecurityGroups",
    "azure-native:network:RouteTable": "Microsoft.Network/routeTables",
    "azure-native:keyvault:Vault": "Microsoft.KeyVault/vaults",
    "azure-native:storage:StorageAccount": "Microsoft.Storage/storageAccounts",
}  # fmt: skip
"""ARM type below the resource group, with parents' names: learn.microsoft.com/azure/templates."""

_NOT_FOUND = "Code=ResourceNotFound: The Resource '{value}' was not found."
_NO_GROUP = "Code=ResourceGroupNotFound: Resource group '{value}' could not be found."
_NO_NETWORK = "Code=ResourceNotFound: The virtual network '{value}' was not found."
_IN_USE = "Code=InUse{kind}CannotBeDeleted: {{id}} is in use by {{by}} and cannot be deleted."


def _account(config: Mapping[str, Any], _world: World) -> Account:
    owner = config.get("subscriptionId") or DEFAULT_SUBSCRIPTION
    return Account(owner=owner, region=config.get("location") or "", scope=owner, config=config)


def _normal(handle: str) -> str:
    return handle.lower()


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
    for path in ("virtualNetworkName", "resourceName"):
        parts = parts.replace(f"{{{path}}}", str(call.get(path)))
    scope = call.get("scope")
    inside_of = scope if isinstance(scope, str) else f"{base}/resourceGroups/{group}" if group else base
    return f"{inside_of}/providers/{parts}/{call.name or guid(call.urn, str(call.world.made()))}"


def _outputs(call: Call) -> dict[str, Any]:
    kind = _type(call.token)
    for path in ("{virtualNetworkName}/", "{resourceName}/"):
        kind = kind.replace(path, "")
    return {
        "name": call.name,
        "type": kind or "Microsoft.Resources/resourceGroups",
        "location": _location(call),
        "provisioningState": "Succeeded",
        "azureApiVersion": "sandbox",
        "etag": f'W/"{guid(call.id)}"',
    }


def _location(call: Call) -> str:
    """Its own, else the resource group's; `West US 2` and `westus2` are one."""
    own = call.get("location")
    if not own:
        group = call.world.named(GROUP, _normal(str(call.get("resourceGroupName"))))
        own = group.outputs.get("location") if group else call.account.region
    return str(own or "").replace(" ", "").lower()


def _handles(call: Call, _outputs: Mapping[str, Any]) -> Iterator[str]:
    yield call.id
    if without_version(call.token) == GROUP:
        yield call.name


_IN_GROUP = Reference("resourceGroupName", GROUP, _NO_GROUP, cascades=True)


# The network


def _check_network(call: Call) -> Iterator[Problem]:
    for index, prefix in enumerate(wire.at(call.inputs, "addressSpace.addressPrefixes[]")):
        if not valid(prefix):
            yield Problem(f"addressSpace.addressPrefixes[{index}]", f"{prefix!r} is no CIDR block")


def _prefixes(inputs: Mapping[str, Any]) -> list[str]:
    return [*wire.at(inputs, "addressPrefix"), *wire.at(inputs, "addressPrefixes[]")]


def _network_id(call: Call) -> str:
    group, name = call.get("resourceGroupName"), call.get("virtualNetworkName")
    return (
        f"/subscriptions/{call.account.owner}/resourceGroups/{group}/providers/Microsoft.Network"
        f"/virtualNetworks/{name}"
    )


def _create_subnet(call: Call) -> None:
    network = call.world.named(NETWORK, _normal(_network_id(call)))
    if network is None:
        return
    siblings = call.world.linked(NETWORK, _normal(network.id), SUBNET)
    space = list(wire.at(wire.plain(network.inputs), "addressSpace.addressPrefixes[]"))
    for prefix in _prefixes(call.inputs):
        if space and not inside(prefix, space):
            raise CloudError(
                f"Code=NetcfgSubnetRangeOutsideVnet: Subnet '{call.name}' is not valid in virtual network"
                f" '{network.name}': {prefix} lies outside of {', '.join(space)}"
            )
        for sibling in siblings:
            taken = _prefixes(wire.plain(sibling.inputs))
            if overlapping(prefix, taken):
                raise CloudError(
                    f"Code=NetcfgSubnetRangesOverlap: Subnet '{call.name}' is not valid because its IP address"
                    f" range {prefix} overlaps with that of an existing subnet '{sibling.name}'"
                )


def _address_outputs(call: Call) -> dict[str, Any]:
    return {"ipAddress": f"203.0.113.{int(wire.digest(call.id, length=4), 16) % 254 + 1}"}  # RFC 5737


# AKS

_POOL_NAME = NameRule(
    r"[a-z][a-z0-9]{0,11}", "a lower-case letter, then up to 11 lower-case letters or digits"
)


def _check_cluster(call: Call) -> Iterator[Problem]:
    pools = call.get("agentPoolProfiles") or []
    for index, pool in enumerate(pools if isinstance(pools, list) else []):
        yield from _check_profile(f"agentPoolProfiles[{index}].", pool, pool.get("name"))
    if pools and not any(pool.get("mode") in ("System", wire.UNKNOWN) for pool in pools):
        yield Problem("agentPoolProfiles", "one pool at least must have the mode System")


def _check_pool(call: Call) -> Iterator[Problem]:
    yield from _check_profile("", call.inputs, None)  # the name is checked as any resource's


def _check_profile(base: str, pool: Mapping[str, Any], name: Any) -> Iterator[Problem]:
    """What the AKS API refuses of a pool without asking anybody: learn.microsoft.com/rest/api/aks/agent-pools."""
    if isinstance(name, str) and name != wire.UNKNOWN and not re.fullmatch(_POOL_NAME.pattern, name):
        yield Problem(f"{base}name", f"{name!r} is no valid pool name: {_POOL_NAME.says}")
    spot = pool.get("scaleSetPriority") == "Spot"
    if spot and pool.get("upgradeSettings"):
        yield Problem(f"{base}upgradeSettings", "Spot pools can't set max surge")
    if pool.get("scaleSetEvictionPolicy") and not spot:
        yield Problem(f"{base}scaleSetEvictionPolicy", "cannot be specified unless scaleSetPriority is Spot")
    if spot and pool.get("mode") == "System":
        yield Problem(f"{base}scaleSetPriority", "a System pool cannot be a Spot pool")
    for tag in pool.get("tags") or {}:
        if tag.lower() == "skipgpudriverinstall":
            yield Problem(
                f"{base}tags.{tag}", "no longer works (since 2025-07-14): use gpuProfile.driver None"
            )
    least, most = pool.get("minCount"), pool.get("maxCount")
    if isinstance(least, int | float) and isinstance(most, int | float) and least > most:
        yield Problem(f"{base}minCount", f"{least:g} is more than maxCount, {most:g}")
    if (least is not None or most is not None) and not pool.get("enableAutoScaling"):
        yield Problem(f"{base}enableAutoScaling", "minCount and maxCount need enableAutoScaling")


def _update_cluster(call: Call, old: Mapping[str, Any]) -> None:
    before = {pool["name"] for pool in old.get("agentPoolProfiles") or []}
    after = {pool.get("name") for pool in call.get("agentPoolProfiles") or []}
    if after - before:
        raise CloudError(
            "Code=InvalidParameter: A new agent pool was introduced. Adding agent pools to an existing cluster is"
            " not allowed through managed cluster operations. For agent pool specific change, please use per agent"
            " pool operations"
        )


def _cluster_id(call: Call) -> str:
    group, name = call.get("resourceGroupName"), call.get("resourceName")
    return (
        f"/subscriptions/{call.account.owner}/resourceGroups/{group}/providers/Microsoft.ContainerService"
        f"/managedClusters/{name}"
    )


def _identity_id(call: Call) -> str:
    group, name = call.get("resourceGroupName"), call.get("resourceName")
    return (
        f"/subscriptions/{call.account.owner}/resourceGroups/{group}/providers/Microsoft.ManagedIdentity"
        f"/userAssignedIdentities/{name}"
    )


def _cluster_outputs(call: Call) -> dict[str, Any]:
    location, digits = _location(call), wire.digest(call.id, length=8)
    prefix = call.get("dnsPrefix") or call.name
    domain = f"{prefix}-{digits}.hcp.{location}.azmk8s.io"
    group = call.get("nodeResourceGroup") or f"MC_{call.get('resourceGroupName')}_{call.name}_{location}"
    private = bool(call.get("apiServerAccessProfile.enablePrivateCluster"))
    issuer = f"https://{location}.oic.prod-aks.azure.com/{TENANT}/{guid(call.id)}/"
    result: dict[str, Any] = {
        "fqdn": domain,
        "azurePortalFQDN": domain.replace(".hcp.", ".portal.hcp."),
        "nodeResourceGroup": group,
        "currentKubernetesVersion": f"{call.get('kubernetesVersion', '1.35')}.0",
        "powerState": {"code": "Running"},
        "maxAgentPools": 100,
        "resourceUID": guid(call.id, "uid"),
        "identityProfile": {
            "kubeletidentity": {
                "clientId": guid(call.id, "kubelet", "client"),
                "objectId": guid(call.id, "kubelet", "object"),
                "resourceId": f"/subscriptions/{call.account.owner}/resourceGroups/{group}/providers"
                f"/Microsoft.ManagedIdentity/userAssignedIdentities/{call.name}-agentpool",
            }
        },
    }
    result["privateFQDN"] = ""
    if private:
        result["privateFQDN"] = f"{prefix}-{digits}.{guid(call.id)}.privatelink.{location}.azmk8s.io"
    if call.get("oidcIssuerProfile.enabled"):
        result["oidcIssuerProfile"] = {"issuerURL": issuer}
    if call.get("identity.type") == "SystemAssigned":
        result["identity"] = {"principalId": guid(call.id, "principal"), "tenantId": TENANT}
    return result


def _cluster_handles(_call: Call, outputs: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(API, outputs[name]) for name in ("fqdn", "privateFQDN") if outputs.get(name)]


def _identity_outputs(call: Call) -> dict[str, Any]:
    return {
        "clientId": guid(call.id, "client"),
        "principalId": guid(call.id, "principal"),
        "tenantId": TENANT,
    }


_POOL_FIXED = (
    # Refused by the API as "Changing property 'properties.X' is not allowed" (learn.microsoft.com/azure/aks/
    # create-node-pools and the agent pool's REST reference); gpuProfile.driver: docs, "create-time only".
    "availabilityZones", "enableEncryptionAtHost", "enableFIPS", "enableNodePublicIP", "enableUltraSSD",
    "gpuProfile.driver", "hostGroupID", "kubeletConfig", "kubeletDiskType", "linuxOSConfig", "maxPods",
    "osDiskSizeGB", "osDiskType", "osType", "podSubnetID", "proximityPlacementGroupID",
    "scaleSetEvictionPolicy", "scaleSetPriority", "spotMaxPrice", "vnetSubnetID",
)  # fmt: skip

_IN_NETWORK = Reference("virtualNetworkName", NETWORK, _NO_NETWORK, cascades=True, value=_network_id)
_IN_CLUSTER = Reference("resourceName", CLUSTER, _NOT_FOUND, cascades=True, value=_cluster_id)
_OF_IDENTITY = Reference("resourceName", IDENTITY, _NOT_FOUND, cascades=True, value=_identity_id)
_SUBNET_OF_POOL = Reference("vnetSubnetID", SUBNET, _NOT_FOUND, _IN_USE.format(kind="Subnet"))

_RULES = (
    Rule(
        GROUP,
        names=NameRule(
            r"[-\w.()]{0,89}[-\w()]", "up to 90 of letters, digits and - _ . ( ), not ending with ."
        ),
        replace=("location",),
    ),
    Rule(
        NETWORK,
        names=NameRule(r"[A-Za-z0-9][\w.-]{0,62}(?<![.-])", "2 to 64 of letters, digits and . _ -"),
        replace=("location",),
        references=(_IN_GROUP,),
        check=_check_network,
    ),
    Rule(
        SUBNET,
        names=NameRule(r"[A-Za-z0-9][\w.-]{0,78}(?<![.-])", "up to 80 of letters, digits and . _ -"),
        replace=("virtualNetworkName",),
        references=(
            _IN_GROUP,
            _IN_NETWORK,
            Reference(
                "natGateway.id",
                "azure-native:network:NatGateway",
                _NOT_FOUND,
                _IN_USE.format(kind="NatGateway"),
            ),
            Reference(
                "networkSecurityGroup.id",
                "azure-native:network:NetworkSecurityGroup",
                _NOT_FOUND,
                _IN_USE.format(kind="NetworkSecurityGroup"),
            ),
            Reference(
                "routeTable.id",
                "azure-native:network:RouteTable",
                _NOT_FOUND,
                _IN_USE.format(kind="RouteTable"),
            ),
        ),
        create=_create_subnet,
    ),
    Rule(
        "azure-native:network:NatGateway",
        replace=("location", "zones", "sku"),
        references=(
            _IN_GROUP,
            Reference(
                "publicIpAddresses[].id",
                "azure-native:network:PublicIPAddress",
                _NOT_FOUND,
                _IN_USE.format(kind="PublicIPAddress"),
            ),
        ),
    ),
    Rule(
        "azure-native:network:PublicIPAddress",
        replace=("location", "publicIPAddressVersion", "publicIPPrefix", "sku", "zones"),
        references=(_IN_GROUP,),
        outputs=_address_outputs,
    ),
    Rule("azure-native:network:NetworkSecurityGroup", replace=("location",), references=(_IN_GROUP,)),
    Rule("azure-native:network:RouteTable", replace=("location",), references=(_IN_GROUP,)),
    Rule(
        IDENTITY,
        names=NameRule(r"[A-Za-z0-9][\w-]{2,127}", "3 to 128 of letters, digits, - and _"),
        replace=("location",),
        references=(_IN_GROUP,),
        outputs=_identity_outputs,
    ),
    Rule(
        "azure-native:managedidentity:FederatedIdentityCredential",
        replace=("resourceName",),
        references=(_IN_GROUP, _OF_IDENTITY),
    ),
    Rule(
        "azure-native:authorization:RoleAssignment",
        replace=("principalId", "scope", "roleDefinitionId"),
    ),
    Rule(
        CLUSTER,
        names=NameRule(r"[A-Za-z0-9]([\w-]{0,61}[A-Za-z0-9])?", "1 to 63 of letters, digits, - and _"),
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
        ),  # fmt: skip
        immutable=("agentPoolProfiles.vnetSubnetID", "apiServerAccessProfile.enablePrivateCluster"),
        references=(
            _IN_GROUP,
            Reference("agentPoolProfiles[].vnetSubnetID", SUBNET, _NOT_FOUND, _IN_USE.format(kind="Subnet")),
        ),
        machines=("agentPoolProfiles[].vmSize",),
        check=_check_cluster,
        update=_update_cluster,
        outputs=_cluster_outputs,
        handles=_cluster_handles,
    ),
    Rule(
        POOL,
        names=_POOL_NAME,
        replace=("resourceName", "gpuInstanceProfile", "vmSize", "networkProfile.nodePublicIPTags"),
        immutable=_POOL_FIXED,
        references=(_IN_GROUP, _IN_CLUSTER, _SUBNET_OF_POOL),
        machines=("vmSize",),
        nodes="count",
        check=_check_pool,
    ),
    Rule(
        "azure-native:containerservice:MaintenanceConfiguration",
        name="configName",
        names=NameRule(
            r"default|aksManagedAutoUpgradeSchedule|aksManagedNodeOSUpgradeSchedule",
            "default, aksManagedAutoUpgradeSchedule or aksManagedNodeOSUpgradeSchedule",
        ),
        replace=("resourceName",),
        references=(_IN_GROUP, _IN_CLUSTER),
    ),
)


def _offered(call: Call, sku: str) -> None:
    location = _location(call)
    text = f"The VM size of {sku} is not available in location '{location}'."
    machines.refuse(
        "azure",
        sku,
        location,
        [f"{zone}" for zone in wire.at(call.inputs, "availabilityZones[]")],
        unknown=f"Code=VMSizeNotSupported: The VM size of {sku} is not allowed in your subscription.",
        not_in_region=f"Code=NotAllowed: {text}",
        not_in_zone=lambda zone: (
            f"Code=AvailabilityZoneNotSupported: {sku} is not in zone '{zone}' of '{location}'."
        ),
    )


CLOUD = Cloud(
    package="azure-native",
    rules=by_token(_RULES),
    account=_account,
    naming=AZURE,
    # Every parameter of the path; the others are in the rules.
    always_replace=("resourceGroupName",),
    id=_id,
    outputs=_outputs,
    handles=_handles,
    normal=_normal,
    conflict=lambda call: f"cannot create already existing resource '{call.id}'",
    gone="Code=ResourceNotFound: The Resource '{id}' was not found.",
    immutable="Code=PropertyChangeNotAllowed: Changing property 'properties.{path}' is not allowed.",
    offered=_offered,
    stockout="Code=AllocationFailed: Allocation failed. There is no capacity for {sku} in {where}.",
    quota=(
        "Code=ErrCode_InsufficientVCPUQuota: Insufficient vcpu quota requested for {sku} in {where}; remaining 0."
        " Request an increase for its family and for the region."
    ),
    throttled="Code=TooManyRequests: The request is being throttled as the limit has been reached.",
    timeout="Code=OperationTimedOut: context deadline exceeded while waiting for the operation to finish",
    invokes=FUNCTIONS,
)
