"""AWS: EKS node groups and clusters, and the ways around them: templates, scaling groups, instances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gpuplatform.guardrails.footprint import ControlPlane, NodeGroup, RawResource, Unknown
from gpuplatform.guardrails.inventory import References
from gpuplatform.guardrails.resources import props
from gpuplatform.guardrails.resources.labels import physical_name, pool_name, purpose
from gpuplatform.guardrails.resources.unseen import unseen

__all__ = ["KEYS", "READERS", "TEMPLATES"]

CLUSTER: Final = "aws:eks/cluster:Cluster"
NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
LAUNCH_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
LAUNCH_CONFIGURATION: Final = "aws:ec2/launchConfiguration:LaunchConfiguration"
SCALING_GROUP: Final = "aws:autoscaling/group:Group"
INSTANCE: Final = "aws:ec2/instance:Instance"
SPOT_REQUEST: Final = "aws:ec2/spotInstanceRequest:SpotInstanceRequest"
SUBNET: Final = "aws:ec2/subnet:Subnet"

TEMPLATES: Final = (LAUNCH_TEMPLATE, LAUNCH_CONFIGURATION)
"""They run nothing by themselves: what refers to one takes its machine type."""

KEYS: Final = {
    LAUNCH_TEMPLATE: ("id", "name"),
    LAUNCH_CONFIGURATION: ("id", "name"),
    SUBNET: ("id",),
}

_CAPACITY: Final = {
    "": "on-demand",
    "ON_DEMAND": "on-demand",
    "SPOT": "spot",
    "CAPACITY_BLOCK": "capacity-block",
}

# https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html, instanceTypes
_DEFAULT_NODE: Final = "t3.medium"


def _cluster(raw: RawResource, _references: References) -> Iterator[ControlPlane | NodeGroup]:
    # Left out, EKS moves a cluster into extended support, at six times the price
    # (https://docs.aws.amazon.com/eks/latest/userguide/view-upgrade-policy.html).
    support = props.text(raw.props, "upgradePolicy", "supportType")
    yield ControlPlane(
        name=physical_name(raw.props, "name", raw),
        where=raw.urn,
        cloud="aws",
        region=_region(raw),
        kubernetes_version=props.text(raw.props, "version"),
        support=support if isinstance(support, Unknown) else (support or "EXTENDED").lower(),
    )
    if props.flag(raw.props, "computeConfig", "enabled") is not False:
        yield unseen(
            raw, "aws", _region(raw), Unknown("which machines EKS Auto Mode (computeConfig) adds by itself")
        )


def _node_group(raw: RawResource, references: References) -> Iterator[NodeGroup]:
    template = _template(raw, references)
    types = _types(raw, template)
    labels = props.mapping(raw.props, "labels")
    yield NodeGroup(
        name=pool_name(labels, raw.props, "nodeGroupName", raw),
        where=raw.urn,
        cloud="aws",
        machine=types if isinstance(types, Unknown) else types[0],
        also=() if isinstance(types, Unknown) else types[1:],
        region=_region(raw),
        zones=_zones(raw, references, "subnetIds"),
        nodes_min=props.number(raw.props, "scalingConfig", "minSize", default=0),
        nodes_max=_required(raw, "scalingConfig", "maxSize"),
        capacity=_capacity(raw, template),
        asks_for_gpus=_asks(raw, template),
        purpose=purpose(labels),
        fabric=_adapters(template),
    )


def _capacity(raw: RawResource, template: RawResource | Unknown | None) -> str:
    """The node group's word; where that is on-demand, a reservation is the template's to name."""
    said = props.text(raw.props, "capacityType")
    capacity = "on-demand" if isinstance(said, Unknown) else _CAPACITY.get(said, "on-demand")
    return _market(template) if capacity == "on-demand" and isinstance(template, RawResource) else capacity


def _adapters(template: RawResource | Unknown | None) -> bool | Unknown:
    """Whether the template attaches Elastic Fabric Adapters; without one EKS attaches a plain interface."""
    if not isinstance(template, RawResource):
        return Unknown("the launch template's interfaces") if template else False
    interfaces = props.items(template.props, "networkInterfaces")
    if isinstance(interfaces, Unknown):
        return interfaces
    kinds = [
        props.text(template.props, "networkInterfaces", index, "interfaceType")
        for index in range(len(interfaces))
    ]
    return props.asks(kind if isinstance(kind, Unknown) else kind.startswith("efa") for kind in kinds)


def _asks(raw: RawResource, template: RawResource | Unknown | None) -> bool | Unknown:
    image = props.text(raw.props, "amiType")
    signs: list[bool | Unknown] = [
        image if isinstance(image, Unknown) else any(word in image.upper() for word in ("NVIDIA", "GPU")),
        props.tainted(raw.props, "taints"),
        props.labelled(raw.props, "labels"),
    ]
    if image in {"", "CUSTOM"} and template is not None:
        own_image = Unknown("what the launch template's image is for")
        given = isinstance(template, Unknown) or props.text(template.props, "imageId") != ""
        signs.append(own_image if given else False)
    return props.asks(signs)


def _types(raw: RawResource, template: RawResource | Unknown | None) -> tuple[str, ...] | Unknown:
    types = props.texts(raw.props, "instanceTypes")
    if types and not isinstance(types, Unknown):
        return types
    if template is None:
        return types if isinstance(types, Unknown) else (_DEFAULT_NODE,)
    # AWS takes the types here or in the template, never in both; in a preview the ones here are then unknown.
    machine = template if isinstance(template, Unknown) else _machine(template)
    return machine if isinstance(machine, Unknown) else (machine or _DEFAULT_NODE,)


def _template(raw: RawResource, references: References, *path: str) -> RawResource | Unknown | None:
    """The launch template that `raw` refers to; `Unknown` where it refers to one that is not in sight."""
    at = path or ("launchTemplate",)
    if not props.mapping(raw.props, *at):
        return None
    spelled = [
        props.value(raw.props, *at, key) for key in ("id", "name", "launchTemplateId", "launchTemplateName")
    ]
    found = references.find(raw, at[0], TEMPLATES, *spelled)
    return found[0] if len(found) == 1 else Unknown("the launch template's instance type")


def _machine(template: RawResource) -> str | Unknown:
    if props.value(template.props, "instanceRequirements") is not None:
        return Unknown("the machine type that instanceRequirements will choose")
    return props.text(template.props, "instanceType")


def _launch_template(raw: RawResource, _references: References) -> Iterator[NodeGroup]:
    machine = _machine(raw)
    if machine == "":
        return  # it leaves the type to whoever uses it
    zone = props.text(raw.props, "placement", "availabilityZone")
    yield NodeGroup(
        name=raw.name,
        where=raw.urn,
        cloud="aws",
        machine=machine,
        region=_region(raw),
        zones=zone if isinstance(zone, Unknown) else tuple(filter(None, (zone,))),
        nodes_min=0,
        nodes_max=0,
        capacity=_market(raw),
        asks_for_gpus=None,
    )


def _market(raw: RawResource) -> str:
    """How a template, or a machine by itself, is bought; a reservation that is not named yet is one too."""
    market = props.text(raw.props, "instanceMarketOptions", "marketType")
    if market in {"spot", "capacity-block"}:
        return str(market)
    target = props.value(raw.props, "capacityReservationSpecification", "capacityReservationTarget")
    return "reservation" if target else "on-demand"


def _scaling_group(raw: RawResource, references: References) -> Iterator[NodeGroup]:
    template = _group_template(raw, references)
    types = _overrides(raw)
    if types == ():
        machine = _machine(template) if isinstance(template, RawResource) else template
        types = machine if isinstance(machine, Unknown) else (machine or "",)
    subnets = props.items(raw.props, "vpcZoneIdentifiers")
    yield NodeGroup(
        name=raw.name,
        where=raw.urn,
        cloud="aws",
        machine=types if isinstance(types, Unknown) else types[0],
        also=() if isinstance(types, Unknown) else types[1:],
        region=_region(raw),
        zones=_zones(raw, references, "vpcZoneIdentifiers")
        if subnets
        else props.texts(raw.props, "availabilityZones"),
        nodes_min=props.number(raw.props, "minSize", default=0),
        nodes_max=_required(raw, "maxSize"),
        capacity=_market(template) if isinstance(template, RawResource) else "on-demand",
        asks_for_gpus=None,
    )


def _group_template(raw: RawResource, references: References) -> RawResource | Unknown | None:
    mixed = ("mixedInstancesPolicy", "launchTemplate", "launchTemplateSpecification")
    template = _template(raw, references) or _template(raw, references, *mixed)
    configuration = props.text(raw.props, "launchConfiguration")
    if template is not None or not configuration:
        return template
    found = references.find(raw, "launchConfiguration", (LAUNCH_CONFIGURATION,), configuration)
    return found[0] if found else Unknown("the launch configuration's instance type")


def _overrides(raw: RawResource) -> tuple[str, ...] | Unknown:
    """The machine types of a mixed-instances policy."""
    path = ("mixedInstancesPolicy", "launchTemplate", "overrides")
    overrides = props.items(raw.props, *path)
    if isinstance(overrides, Unknown):
        return overrides
    types: list[str] = []
    for index in range(len(overrides)):
        if props.value(raw.props, *path, index, "instanceRequirements") is not None:
            return Unknown("the machine type that instanceRequirements will choose")
        machine = props.text(raw.props, *path, index, "instanceType")
        if isinstance(machine, Unknown):
            return machine
        types += [machine] if machine else []
    return tuple(types)


def _instance(raw: RawResource, references: References) -> Iterator[NodeGroup]:
    machine = props.text(raw.props, "instanceType")
    template = _template(raw, references)
    if not machine and template is not None:
        machine = template if isinstance(template, Unknown) else _machine(template)
    zone = props.text(raw.props, "availabilityZone")
    yield NodeGroup(
        name=raw.name,
        where=raw.urn,
        cloud="aws",
        machine=machine,
        region=_region(raw),
        zones=(zone,) if isinstance(zone, str) and zone else _zones(raw, references, "subnetId"),
        nodes_min=1,
        nodes_max=1,
        capacity="spot" if raw.type == SPOT_REQUEST else _market(raw),
        asks_for_gpus=None,
    )


def _zones(raw: RawResource, references: References, prop: str) -> tuple[str, ...] | Unknown:
    """The zones of the subnets that `raw` names: their IDs where the program gave IDs, else their names."""
    value = props.value(raw.props, prop)
    if value is None:
        return ()
    spelled: Iterable[object] = value if isinstance(value, list) else [value]
    subnets = references.find(raw, prop, (SUBNET,), *spelled)
    if not subnets:
        return Unknown(f"the zone of {prop}")
    zones = []
    for subnet in subnets:
        by_id, by_name = (props.text(subnet.props, key) for key in ("availabilityZoneId", "availabilityZone"))
        zone = by_id if isinstance(by_id, str) and by_id else by_name
        if isinstance(zone, Unknown) or not zone:
            return Unknown(f"the zone of subnet {subnet.name}")
        zones.append(zone)
    return tuple(sorted(set(zones)))


def _required(raw: RawResource, *path: str) -> int | Unknown:
    if props.value(raw.props, *path) is None:
        return Unknown(".".join(path))
    return props.number(raw.props, *path, default=0)


def _region(raw: RawResource) -> str | Unknown:
    """A resource's own region (AWS provider 7), else its provider's."""
    own = props.text(raw.props, "region")
    if isinstance(own, str) and own:
        return own
    return raw.provider_region or Unknown("the provider's region")


READERS: Final = {
    CLUSTER: _cluster,
    NODE_GROUP: _node_group,
    LAUNCH_TEMPLATE: _launch_template,
    LAUNCH_CONFIGURATION: _launch_template,
    SCALING_GROUP: _scaling_group,
    INSTANCE: _instance,
    SPOT_REQUEST: _instance,
}
