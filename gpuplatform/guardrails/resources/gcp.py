"""GCP: GKE node pools and clusters with their inline pools, and the ways around them: Compute Engine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gpuplatform.guardrails.footprint import ControlPlane, NodeGroup, RawResource, Unknown
from gpuplatform.guardrails.inventory import References
from gpuplatform.guardrails.resources import props
from gpuplatform.guardrails.resources.labels import physical_name, pool_name, purpose
from gpuplatform.guardrails.resources.unseen import unseen

__all__ = ["KEYS", "READERS", "TEMPLATES"]

CLUSTER: Final = "gcp:container/cluster:Cluster"
NODE_POOL: Final = "gcp:container/nodePool:NodePool"
INSTANCE: Final = "gcp:compute/instance:Instance"
TEMPLATE: Final = "gcp:compute/instanceTemplate:InstanceTemplate"
REGION_TEMPLATE: Final = "gcp:compute/regionInstanceTemplate:RegionInstanceTemplate"
GROUP_MANAGER: Final = "gcp:compute/instanceGroupManager:InstanceGroupManager"
REGION_GROUP_MANAGER: Final = "gcp:compute/regionInstanceGroupManager:RegionInstanceGroupManager"

TEMPLATES: Final = (TEMPLATE, REGION_TEMPLATE)
"""They run nothing by themselves: what refers to one takes its machine type."""

KEYS: Final = {
    CLUSTER: ("name", "id", "selfLink"),
    TEMPLATE: ("id", "name", "selfLink", "selfLinkUnique"),
    REGION_TEMPLATE: ("id", "name", "selfLink"),
}

# A regional cluster spreads each pool over three zones where none are named
# (https://cloud.google.com/kubernetes-engine/docs/concepts/regional-clusters).
_REGIONAL_ZONES: Final = 3
# https://cloud.google.com/kubernetes-engine/docs/reference/rest/v1/NodeConfig, machineType
_DEFAULT_NODE: Final = "e2-medium"
_ZONE: Final = re.compile(r"(?P<region>[a-z]+-[a-z]+\d+)-[a-z]")


def _cluster(raw: RawResource, _references: References) -> Iterator[ControlPlane | NodeGroup]:
    region, _ = _location(raw)
    version = props.text(raw.props, "minMasterVersion")
    yield ControlPlane(
        name=physical_name(raw.props, "name", raw),
        where=raw.urn,
        cloud="gcp",
        region=region,
        kubernetes_version=version if isinstance(version, Unknown) else ".".join(version.split(".")[:2]),
        support=_support(raw),
    )
    pools = props.items(raw.props, "nodePools")
    if isinstance(pools, Unknown):
        yield unseen(raw, "gcp", region, pools)
        return
    for pool in pools:
        if isinstance(pool, Mapping):
            yield _pool(raw, pool, raw)
        else:
            yield unseen(raw, "gcp", region, Unknown("nodePools"))
    autopilot = props.flag(raw.props, "enableAutopilot")
    if not pools and autopilot is False and props.flag(raw.props, "removeDefaultNodePool") is not True:
        yield _pool(raw, {**raw.props, "name": "default-pool"}, raw)
    if autopilot is not False:
        yield unseen(raw, "gcp", region, Unknown("which machines Autopilot adds by itself"))
    elif props.flag(raw.props, "clusterAutoscaling", "enabled") is not False:
        yield unseen(raw, "gcp", region, Unknown("which machines node auto-provisioning adds by itself"))


def _support(raw: RawResource) -> str | Unknown:
    channel = props.text(raw.props, "releaseChannel", "channel")
    if isinstance(channel, Unknown):
        return channel
    return "extended" if channel == "EXTENDED" else "standard"


def _node_pool(raw: RawResource, references: References) -> Iterator[NodeGroup]:
    clusters = references.find(raw, "cluster", (CLUSTER,), props.value(raw.props, "cluster"))
    yield _pool(raw, raw.props, clusters[0] if len(clusters) == 1 else None)


def _pool(raw: RawResource, pool: Mapping[str, Any], cluster: RawResource | None) -> NodeGroup:
    region, zones = _place(raw, pool, cluster)
    config = props.mapping(pool, "nodeConfig")
    known: Mapping[str, Any] = {} if isinstance(config, Unknown) else config
    labels = props.mapping(known, "labels")
    least, most = _counts(pool, zones)
    return NodeGroup(
        name=pool_name(labels, pool, "name", raw),
        where=raw.urn,
        cloud="gcp",
        machine=config if isinstance(config, Unknown) else _machine(known, _DEFAULT_NODE),
        region=region,
        zones=zones,
        nodes_min=least,
        nodes_max=most,
        capacity=_capacity(known, pool),
        fabric=_fabric(pool),
        asks_for_gpus=config if isinstance(config, Unknown) else _asks(known),
        purpose=purpose(labels),
    )


def _machine(config: Mapping[str, Any], default: str) -> str | Unknown:
    """The machine type; with what is attached to it where it is an N1 host, as the catalogue names it."""
    machine = props.text(config, "machineType")
    if isinstance(machine, Unknown):
        return machine
    machine = machine.rsplit("/", 1)[-1] or default
    accelerators = props.items(config, "guestAccelerators")
    if not machine.startswith("n1-") or not accelerators:
        return machine
    if isinstance(accelerators, Unknown):
        return accelerators
    kind = props.text(config, "guestAccelerators", 0, "type")
    count = props.number(config, "guestAccelerators", 0, "count", default=1)
    if isinstance(kind, Unknown):
        return kind
    return count if isinstance(count, Unknown) else f"{machine}+{kind.rsplit('/', 1)[-1]}:{count}"


def _asks(config: Mapping[str, Any]) -> bool | Unknown:
    accelerators = props.items(config, "guestAccelerators")
    attached: bool | Unknown = accelerators if isinstance(accelerators, Unknown) else False
    if not isinstance(accelerators, Unknown):
        counts = [
            props.number(config, "guestAccelerators", index, "count", default=1)
            for index in range(len(accelerators))
        ]
        attached = props.asks(count if isinstance(count, Unknown) else count > 0 for count in counts)
    return props.asks((attached, props.tainted(config, "taints"), props.labelled(config, "labels")))


def _capacity(config: Mapping[str, Any], pool: Mapping[str, Any]) -> str:
    if props.flag(pool, "queuedProvisioning", "enabled") is True:
        return "queued"
    if props.flag(config, "flexStart") is True:
        return "flex-start"
    if props.text(config, "reservationAffinity", "consumeReservationType") == "SPECIFIC_RESERVATION":
        return "reservation"
    spot = props.flag(config, "spot") is True or props.flag(config, "preemptible") is True
    return "spot" if spot else "on-demand"


def _fabric(pool: Mapping[str, Any]) -> bool | Unknown:
    """Whether further networks than the cluster's reach the nodes: by name, or by GKE's profile."""
    network = props.value(pool, "networkConfig")
    if isinstance(network, Unknown):
        return network
    extra = props.items(pool, "networkConfig", "additionalNodeNetworkConfigs")
    profile = props.text(pool, "networkConfig", "acceleratorNetworkProfile")
    return props.asks(
        (
            extra if isinstance(extra, Unknown) else bool(extra),
            profile if isinstance(profile, Unknown) else profile != "",
        )
    )


def _counts(pool: Mapping[str, Any], zones: tuple[str, ...] | Unknown) -> tuple[int | Unknown, int | Unknown]:
    """Least and most nodes of all zones together: GKE counts by zone, except where a total is given."""
    if props.value(pool, "autoscaling") is None:
        # initialNodeCount is what stays where nothing scales the pool.
        key = "nodeCount" if props.value(pool, "nodeCount") is not None else "initialNodeCount"
        count = _times(props.number(pool, key, default=1), zones)
        return count, count
    if isinstance(props.value(pool, "autoscaling"), Unknown):
        unknown = Unknown("autoscaling")
        return unknown, unknown
    if props.value(pool, "autoscaling", "totalMaxNodeCount") is not None:
        return (
            props.number(pool, "autoscaling", "totalMinNodeCount", default=0),
            props.number(pool, "autoscaling", "totalMaxNodeCount", default=0),
        )
    if props.value(pool, "autoscaling", "maxNodeCount") is None:
        return 0, Unknown("autoscaling.maxNodeCount")
    return (
        _times(props.number(pool, "autoscaling", "minNodeCount", default=0), zones),
        _times(props.number(pool, "autoscaling", "maxNodeCount", default=0), zones),
    )


def _times(count: int | Unknown, zones: tuple[str, ...] | Unknown) -> int | Unknown:
    if isinstance(count, Unknown) or count == 0:
        return count
    return zones if isinstance(zones, Unknown) else count * (len(zones) or _REGIONAL_ZONES)


def _place(
    raw: RawResource, pool: Mapping[str, Any], cluster: RawResource | None
) -> tuple[str | Unknown, tuple[str, ...] | Unknown]:
    """Region and zones; an empty tuple is a regional pool that leaves its zones to GKE."""
    region, own = _location(raw)
    if cluster is not None and cluster is not raw and not props.text(raw.props, "location"):
        region, own = _location(cluster)
    zones = _zone_names(pool)
    if zones == () and cluster is not None and (inherited := _zone_names(cluster.props)) != ():
        # A zonal cluster's nodeLocations are the zones beside its own.
        zones = inherited if isinstance(inherited, Unknown) else tuple(sorted({*inherited, *own}))
    if zones == ():
        zones = own
    if isinstance(region, Unknown) and zones == ():
        return region, region
    return region, zones


def _zone_names(props_: Mapping[str, Any]) -> tuple[str, ...] | Unknown:
    zones = props.texts(props_, "nodeLocations")
    return zones if isinstance(zones, Unknown) else tuple(sorted(zones))


def _location(raw: RawResource) -> tuple[str | Unknown, tuple[str, ...]]:
    """Region, and the zone where the resource is in just one."""
    for key in ("location", "zone", "region"):
        found = props.text(raw.props, key)
        if isinstance(found, Unknown):
            return found, ()
        if found:
            place = found.rsplit("/", 1)[-1]
            match = _ZONE.fullmatch(place)
            return (match["region"], (place,)) if match else (place, ())
    return raw.provider_region or Unknown("location"), ()


def _instance(raw: RawResource, _references: References) -> Iterator[NodeGroup]:
    runs = 0 if raw.type in TEMPLATES else 1
    yield _machines(raw, raw, runs, runs)


def _group_manager(raw: RawResource, references: References) -> Iterator[NodeGroup]:
    versions = props.items(raw.props, "versions")
    spelled = (
        []
        if isinstance(versions, Unknown)
        else [props.value(raw.props, "versions", index, "instanceTemplate") for index in range(len(versions))]
    )
    found = references.find(raw, "versions", TEMPLATES, *spelled)
    # Without a size an autoscaler in a resource of its own sets it.
    size: int | Unknown = Unknown("targetSize")
    if props.value(raw.props, "targetSize") is not None:
        size = props.number(raw.props, "targetSize", default=0)
    yield _machines(raw, found[0] if found else None, 0 if isinstance(size, Unknown) else size, size)


def _machines(
    raw: RawResource, described_by: RawResource | None, least: int, most: int | Unknown
) -> NodeGroup:
    region, zones = _location(raw)
    config: Mapping[str, Any] = described_by.props if described_by else {}
    return NodeGroup(
        name=physical_name(raw.props, "name", raw),
        where=raw.urn,
        cloud="gcp",
        machine=_machine(config, "") if described_by else Unknown("the instance template's machine type"),
        region=region,
        zones=zones,
        nodes_min=least,
        nodes_max=most,
        capacity=_provisioning(config),
        # An N1 host is nothing without what is attached to it; any other type asks by itself.
        asks_for_gpus=None,
    )


# https://cloud.google.com/compute/docs/instances/provisioning-models
_MODELS: Final = {"SPOT": "spot", "FLEX_START": "flex-start", "RESERVATION_BOUND": "reservation"}


def _provisioning(config: Mapping[str, Any]) -> str:
    """How a machine that is no node of GKE's is bought."""
    model = props.text(config, "scheduling", "provisioningModel")
    if props.flag(config, "scheduling", "preemptible") is True:
        return "spot"
    if props.text(config, "reservationAffinity", "type") == "SPECIFIC_RESERVATION":
        return "reservation"
    return "on-demand" if isinstance(model, Unknown) else _MODELS.get(model, "on-demand")


READERS: Final = {
    CLUSTER: _cluster,
    NODE_POOL: _node_pool,
    INSTANCE: _instance,
    TEMPLATE: _instance,
    REGION_TEMPLATE: _instance,
    GROUP_MANAGER: _group_manager,
    REGION_GROUP_MANAGER: _group_manager,
}
