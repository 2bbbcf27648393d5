"""AKS: clusters and their pools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.azure.common import (
    CLUSTER,
    IN_GROUP,
    IN_USE,
    NOT_FOUND,
    POOL,
    PROXIMITY,
    SUBNET,
    location,
)
from gpuplatform.sandbox.cloud.azure.functions import TENANT, guid
from gpuplatform.sandbox.cloud.rule import (
    Call,
    CloudError,
    NameRule,
    Reference,
    Rule,
)
from gpuplatform.sandbox.cloud.world import API
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES"]


_BOOT_DISK_MAX = 2048
"""ContainerServiceOSDisk in Azure/azure-rest-api-specs."""

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
    """What the API refuses of a pool by itself (learn.microsoft.com/rest/api/aks/agent-pools)."""
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
    yield from _check_place(base, pool)
    least, most = pool.get("minCount"), pool.get("maxCount")
    if isinstance(least, int | float) and isinstance(most, int | float) and least > most:
        yield Problem(f"{base}minCount", f"{least:g} is more than maxCount, {most:g}")
    if (least is not None or most is not None) and not pool.get("enableAutoScaling"):
        yield Problem(f"{base}enableAutoScaling", "minCount and maxCount need enableAutoScaling")


def _check_place(base: str, pool: Mapping[str, Any]) -> Iterator[Problem]:
    """What Azure cannot combine.

    learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview;
    learn.microsoft.com/azure/aks/reduce-latency-ppg.
    """
    near, reserved = pool.get("proximityPlacementGroupID"), pool.get("capacityReservationGroupID")
    if reserved and near:
        yield Problem(
            f"{base}proximityPlacementGroupID",
            "a proximity placement group is not supported with a capacity reservation group",
        )
    if reserved and pool.get("scaleSetPriority") == "Spot":
        yield Problem(f"{base}capacityReservationGroupID", "Spot VMs cannot use a capacity reservation group")
    if near and len(pool.get("availabilityZones") or []) > 1:
        yield Problem(
            f"{base}availabilityZones", "a proximity placement group maps to only one availability zone"
        )
    size = pool.get("osDiskSizeGB")
    if isinstance(size, int | float) and size > _BOOT_DISK_MAX:
        yield Problem(f"{base}osDiskSizeGB", f"{size:g} is more than {_BOOT_DISK_MAX}")


def _update_cluster(call: Call, old: Mapping[str, Any]) -> None:
    before = {pool["name"] for pool in old.get("agentPoolProfiles") or []}
    after = {pool.get("name") for pool in call.get("agentPoolProfiles") or []}
    if after - before:
        raise CloudError(
            "Code=InvalidParameter: A new agent pool was introduced. Adding agent pools to an existing"
            " cluster is"
            " not allowed through managed cluster operations. For agent pool specific change, please"
            " use per agent"
            " pool operations"
        )


def _cluster_id(call: Call) -> str:
    group, name = call.get("resourceGroupName"), call.get("resourceName")
    return (
        f"/subscriptions/{call.account.owner}/resourceGroups/{group}/providers/Microsoft.ContainerService"
        f"/managedClusters/{name}"
    )


def _cluster_outputs(call: Call) -> dict[str, Any]:
    place, digits = location(call), wire.digest(call.id, length=8)
    prefix = call.get("dnsPrefix") or call.name
    domain = f"{prefix}-{digits}.hcp.{place}.azmk8s.io"
    group = call.get("nodeResourceGroup") or f"MC_{call.get('resourceGroupName')}_{call.name}_{place}"
    private = bool(call.get("apiServerAccessProfile.enablePrivateCluster"))
    issuer = f"https://{place}.oic.prod-aks.azure.com/{TENANT}/{guid(call.id)}/"
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
        result["privateFQDN"] = f"{prefix}-{digits}.{guid(call.id)}.privatelink.{place}.azmk8s.io"
    if call.get("oidcIssuerProfile.enabled"):
        result["oidcIssuerProfile"] = {"issuerURL": issuer}
    if call.get("identity.type") == "SystemAssigned":
        result["identity"] = {"principalId": guid(call.id, "principal"), "tenantId": TENANT}
    return result


def _cluster_handles(_call: Call, outputs: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(API, outputs[name]) for name in ("fqdn", "privateFQDN") if outputs.get(name)]


_IN_CLUSTER = Reference("resourceName", CLUSTER, NOT_FOUND, cascades=True, value=_cluster_id)

_SUBNET_OF_POOL = Reference("vnetSubnetID", SUBNET, NOT_FOUND, IN_USE.format(kind="Subnet"))

# Not checked to exist: a group may be somebody else's.
_NEAR = Reference("proximityPlacementGroupID", PROXIMITY, holds=IN_USE.format(kind="ProximityPlacementGroup"))

RULES = (
    Rule(
        CLUSTER,
        names=NameRule(r"[A-Za-z0-9]([\w-]{0,61}[A-Za-z0-9])?", "1 to 63 of letters, digits, - and _"),
        references=(
            IN_GROUP,
            Reference("agentPoolProfiles[].vnetSubnetID", SUBNET, NOT_FOUND, IN_USE.format(kind="Subnet")),
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
        references=(IN_GROUP, _IN_CLUSTER, _SUBNET_OF_POOL, _NEAR),
        machines=("vmSize",),
        nodes="count",
        check=_check_pool,
    ),
    Rule(
        "azure-native:containerservice:MaintenanceConfiguration",
        names=NameRule(
            r"default|aksManagedAutoUpgradeSchedule|aksManagedNodeOSUpgradeSchedule",
            "default, aksManagedAutoUpgradeSchedule or aksManagedNodeOSUpgradeSchedule",
        ),
        references=(IN_GROUP, _IN_CLUSTER),
    ),
)
