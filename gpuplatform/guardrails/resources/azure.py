"""Azure: AKS agent pools and clusters with their inline pools, and the ways around them: virtual machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gpuplatform.guardrails.footprint import ControlPlane, NodeGroup, RawResource, Unknown
from gpuplatform.guardrails.inventory import References
from gpuplatform.guardrails.resources import props
from gpuplatform.guardrails.resources.labels import physical_name, pool_name, purpose
from gpuplatform.guardrails.resources.unseen import unseen

__all__ = ["KEYS", "READERS", "TEMPLATES"]

CLUSTER: Final = "azure-native:containerservice:ManagedCluster"
AGENT_POOL: Final = "azure-native:containerservice:AgentPool"
MACHINE: Final = "azure-native:compute:VirtualMachine"
SCALE_SET: Final = "azure-native:compute:VirtualMachineScaleSet"
RESOURCE_GROUP: Final = "azure-native:resources:ResourceGroup"

TEMPLATES: Final[tuple[str, ...]] = ()
"""Azure has no resource that only describes a machine for others to run."""

KEYS: Final = {CLUSTER: ("resourceName", "name"), RESOURCE_GROUP: ("resourceGroupName", "name")}

# ManagedClusterSKUTier: https://learn.microsoft.com/rest/api/aks/managed-clusters/create-or-update
_SUPPORT: Final = {"": "free", "free": "free", "standard": "standard", "premium": "extended"}


def _cluster(raw: RawResource, references: References) -> Iterator[ControlPlane | NodeGroup]:
    region = _region(raw, references)
    tier = props.text(raw.props, "sku", "tier")
    version = props.text(raw.props, "kubernetesVersion")
    yield ControlPlane(
        name=physical_name(raw.props, "resourceName", raw),
        where=raw.urn,
        cloud="azure",
        region=region,
        kubernetes_version=version if isinstance(version, Unknown) else ".".join(version.split(".")[:2]),
        support=tier
        if isinstance(tier, Unknown)
        else _SUPPORT.get(tier.casefold(), Unknown(f"sku.tier {tier}")),
    )
    pools = props.items(raw.props, "agentPoolProfiles")
    if isinstance(pools, Unknown):
        yield unseen(raw, "azure", region, pools)
        return
    for index, pool in enumerate(pools):
        path = f"agentPoolProfiles[{index}]"
        if isinstance(pool, Mapping):
            yield from _pool(raw, pool, "name", region)
        else:
            yield unseen(raw, "azure", region, Unknown(path))
    mode = props.text(raw.props, "nodeProvisioningProfile", "mode")
    if isinstance(mode, Unknown) or mode.casefold() == "auto":
        yield unseen(raw, "azure", region, Unknown("which machines node auto-provisioning adds by itself"))


def _agent_pool(raw: RawResource, references: References) -> Iterator[NodeGroup]:
    clusters = references.find(raw, "resourceName", (CLUSTER,), props.value(raw.props, "resourceName"))
    region = _region(clusters[0], references) if len(clusters) == 1 else Unknown("the cluster's location")
    yield from _pool(raw, raw.props, "agentPoolName", region)


def _pool(raw: RawResource, pool: Mapping[str, Any], name: str, region: str | Unknown) -> Iterator[NodeGroup]:
    labels = props.mapping(pool, "nodeLabels")
    for size, least, most in _sizes(pool):
        yield NodeGroup(
            name=pool_name(labels, pool, name, raw),
            where=raw.urn,
            cloud="azure",
            machine=size,
            region=region,
            zones=_zones(pool, "availabilityZones"),
            nodes_min=least,
            nodes_max=most,
            capacity=_capacity(
                props.text(pool, "scaleSetPriority"), props.value(pool, "capacityReservationGroupID")
            ),
            asks_for_gpus=_asks(pool),
            purpose=purpose(labels),
        )


def _capacity(priority: str | Unknown, reservation: Any) -> str:
    """How the machines are bought; a reservation that only the update names is one all the same."""
    if str(priority).casefold() in {"spot", "low"}:
        return "spot"
    return "reservation" if reservation else "on-demand"


def _sizes(pool: Mapping[str, Any]) -> Iterator[tuple[str | Unknown, int | Unknown, int | Unknown]]:
    """Machine size, least and most nodes; more than one only for pools of type VirtualMachines."""
    scale = ("virtualMachinesProfile", "scale")
    manual = props.items(pool, *scale, "manual")
    if isinstance(manual, Unknown):
        yield manual, manual, manual
        return
    for index in range(len(manual)):
        count = props.number(pool, *scale, "manual", index, "count", default=1)
        yield props.text(pool, *scale, "manual", index, "size"), count, count
    if props.value(pool, *scale, "autoscale") is not None:
        least = props.number(pool, *scale, "autoscale", "minCount", default=0)
        yield (
            props.text(pool, *scale, "autoscale", "size"),
            least,
            _most(pool, *scale, "autoscale", "maxCount"),
        )
    if props.value(pool, "virtualMachinesProfile") is not None:
        return
    # The API's default is one node (https://learn.microsoft.com/rest/api/aks/agent-pools/create-or-update).
    count = props.number(pool, "count", default=1)
    scaled = props.flag(pool, "enableAutoScaling")
    if scaled is False:
        yield props.text(pool, "vmSize"), count, count
    elif scaled is True:
        least = props.number(pool, "minCount", default=0)
        yield props.text(pool, "vmSize"), least, _most(pool, "maxCount")
    else:
        yield props.text(pool, "vmSize"), scaled, scaled


def _most(pool: Mapping[str, Any], *path: str) -> int | Unknown:
    if props.value(pool, *path) is None:
        return Unknown(".".join(path))
    return props.number(pool, *path, default=0)


def _asks(pool: Mapping[str, Any]) -> bool | Unknown:
    taints = props.texts(pool, "nodeTaints")
    profile = props.value(pool, "gpuProfile")
    instance_profile = props.text(pool, "gpuInstanceProfile")
    return props.asks(
        (
            profile if isinstance(profile, Unknown) else profile is not None,
            instance_profile if isinstance(instance_profile, Unknown) else instance_profile != "",
            # sku=gpu:NoSchedule is the taint of Microsoft's own guide
            # (https://learn.microsoft.com/azure/aks/use-nvidia-gpu).
            taints
            if isinstance(taints, Unknown)
            else any(props.marks_gpus(taint) or taint.startswith("sku=gpu") for taint in taints),
            props.labelled(pool, "nodeLabels"),
        )
    )


def _machine(raw: RawResource, references: References) -> Iterator[NodeGroup]:
    reservation = ("capacityReservation", "capacityReservationGroup", "id")
    yield NodeGroup(
        name=physical_name(raw.props, "vmName", raw),
        where=raw.urn,
        cloud="azure",
        machine=props.text(raw.props, "hardwareProfile", "vmSize"),
        region=_region(raw, references),
        zones=_zones(raw.props, "zones"),
        nodes_min=1,
        nodes_max=1,
        capacity=_capacity(props.text(raw.props, "priority"), props.value(raw.props, *reservation)),
        asks_for_gpus=None,
    )


def _scale_set(raw: RawResource, references: References) -> Iterator[NodeGroup]:
    profile = ("virtualMachineProfile",)
    reservation = (*profile, "capacityReservation", "capacityReservationGroup", "id")
    # What is written here is counted: an autoscale setting is a resource of its own, and is not read.
    count = props.number(raw.props, "sku", "capacity", default=0)
    yield NodeGroup(
        name=physical_name(raw.props, "vmScaleSetName", raw),
        where=raw.urn,
        cloud="azure",
        machine=props.text(raw.props, "sku", "name"),
        region=_region(raw, references),
        zones=_zones(raw.props, "zones"),
        nodes_min=count,
        nodes_max=count,
        capacity=_capacity(props.text(raw.props, *profile, "priority"), props.value(raw.props, *reservation)),
        asks_for_gpus=None,
    )


def _zones(pool: Mapping[str, Any], key: str) -> tuple[str, ...] | Unknown:
    zones = props.texts(pool, key)
    return zones if isinstance(zones, Unknown) else tuple(sorted(zones))


def _region(raw: RawResource, references: References) -> str | Unknown:
    """A resource's location as a short name; else its resource group's, which is Azure Native's default."""
    location = props.text(raw.props, "location")
    if location == "":
        groups = references.find(
            raw, "resourceGroupName", (RESOURCE_GROUP,), props.value(raw.props, "resourceGroupName")
        )
        location = props.text(groups[0].props, "location") if len(groups) == 1 else ""
    if isinstance(location, Unknown):
        return location
    # "East US" and "eastus" are one place (https://learn.microsoft.com/azure/reliability/regions-list).
    return location.replace(" ", "").lower() or raw.provider_region or Unknown("location")


READERS: Final = {
    CLUSTER: _cluster,
    AGENT_POOL: _agent_pool,
    MACHINE: _machine,
    SCALE_SET: _scale_set,
}
