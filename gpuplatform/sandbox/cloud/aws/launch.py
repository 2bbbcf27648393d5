"""What EKS and EC2 refuse of a launch template once a node group is made from it."""

from __future__ import annotations

import base64
import binascii
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.aws.common import SUBNET
from gpuplatform.sandbox.cloud.rule import Call, CloudError
from gpuplatform.sandbox.cloud.world import Thing

__all__ = [
    "PLACEMENT_GROUP",
    "TEMPLATE",
    "placement_group_of",
    "refuse_template",
    "template_inputs",
    "template_of",
]

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
PLACEMENT_GROUP = "aws:ec2/placementGroup:PlacementGroup"

_EFA = frozenset({"efa", "efa-only"})
_MOST_DEVICE_INDEX = 1
_ENA_ONLY_FIRST = frozenset({"p6-b300", "p6e-gb200"})
"""Families whose first network card has no EFA (EC2 User Guide, efa-acc-inst-types)."""


def template_of(call: Call) -> Thing | None:
    """The launch template of a node group."""
    named = call.get("launchTemplate.id") or call.get("launchTemplate.name")
    return call.world.named(TEMPLATE, named) if named else None


def template_inputs(call: Call) -> Mapping[str, Any]:
    """Its inputs; none where there is no template."""
    template = template_of(call)
    return wire.plain(template.inputs) if template else {}


def placement_group_of(call: Call) -> str:
    """The placement group that a node group's instances stand in; empty where they stand in none."""
    return str(wire.first(template_inputs(call), "placement.groupName", ""))


def refuse_template(call: Call, values: Mapping[str, Any]) -> None:
    """Raises the cloud's error for what a managed node group cannot take, or its instances cannot be."""
    _market(call, values)
    _reservation(call, values)
    _user_data(call, values)
    machine = values.get("instanceType") or call.get("instanceTypes[]")
    _image(call, machine)
    interfaces = values.get("networkInterfaces") or []
    if interfaces and values.get("vpcSecurityGroupIds"):
        raise CloudError(
            "InvalidParameterCombination: Network interfaces and an instance-level security groups may not be"
            " specified on the same request"
        )
    for problem in (*_misplaced(interfaces), *_too_many_adapters(interfaces, machine)):
        raise CloudError(problem)


def _market(call: Call, values: Mapping[str, Any]) -> None:
    market = wire.first(values, "instanceMarketOptions.marketType")
    if market == "spot":
        raise CloudError(
            "InvalidParameterException: Instance market options are not supported with the launch template."
        )
    if values.get("instanceType") and call.get("instanceTypes[]"):
        raise CloudError(
            "InvalidRequestException: You cannot specify an instance type in both the launch template and the"
            " node group."
        )
    if values and call.get("diskSize"):
        raise CloudError("InvalidParameterException: Disk size must be specified within the launch template.")


def _reservation(call: Call, values: Mapping[str, Any]) -> None:
    block = call.get("capacityType", "ON_DEMAND") == "CAPACITY_BLOCK"
    market = wire.first(values, "instanceMarketOptions.marketType")
    if block != (market == "capacity-block"):
        raise CloudError(
            "InvalidParameterException: capacityType CAPACITY_BLOCK and a launch template with the market"
            " type capacity-block need each other."
        )
    wanted = "capacityReservationSpecification"
    target = f"{wanted}.capacityReservationTarget"
    if block and not wire.first(values, f"{target}.capacityReservationId"):
        raise CloudError("InvalidParameterException: A capacity block needs its reservation's id.")
    if block and not values.get("instanceType"):
        raise CloudError(
            "InvalidParameterException: A capacity block needs its instance type in the template."
        )
    preference = wire.first(values, f"{wanted}.capacityReservationPreference")
    if wire.first(values, target) and preference not in {None, "capacity-reservations-only"}:
        raise CloudError(
            f"InvalidParameterCombination: a capacity reservation target and the preference {preference!r}"
            " exclude each other"
        )
    # A block, a single reservation and a cluster placement group lie in one zone.
    single = wire.first(values, f"{target}.capacityReservationId") or _cluster_placement(call)
    if single and len(_zones(call)) > 1:
        raise CloudError(
            f"InvalidParameterException: Subnets in zones {', '.join(sorted(_zones(call)))} were given, and"
            f" {single} lies in one"
        )


def _cluster_placement(call: Call) -> str:
    name = placement_group_of(call)
    group = call.world.named(PLACEMENT_GROUP, name) if name else None
    return name if group and group.inputs.get("strategy") == "cluster" else ""


def _zones(call: Call) -> set[str]:
    subnets = (call.world.named(SUBNET, subnet) for subnet in wire.at(call.inputs, "subnetIds[]"))
    return {str(subnet.outputs["availabilityZoneId"]) for subnet in subnets if subnet}


def _user_data(call: Call, values: Mapping[str, Any]) -> None:
    """EKS merges its own part into it, so it must be in the image's form."""
    given = values.get("userData")
    if not isinstance(given, str) or not given:
        return
    try:
        text = base64.b64decode(given, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise CloudError("InvalidUserData.Malformed: Invalid BASE64 encoding of user data.") from error
    if str(call.get("amiType", "")).startswith("BOTTLEROCKET"):
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise CloudError(
                "Ec2LaunchTemplateInvalidConfiguration: User data was not a TOML format that could be"
                " processed."
            ) from error
    elif "content-type: multipart/mixed" not in text.lower():
        raise CloudError(
            "Ec2LaunchTemplateInvalidConfiguration: User data was not in the MIME multipart format."
        )


def _image(call: Call, machine: Any) -> None:
    """The architecture of image and machine, as far as the catalogue knows the machine."""
    from gpuplatform.catalog import load

    image = str(call.get("amiType", ""))
    sku = load().sku("aws", machine) if isinstance(machine, str) else None
    if sku is None or not image or image == "CUSTOM":
        return
    if ("ARM_64" in image) != (sku.arch == "arm64"):
        raise CloudError(
            f"InvalidParameterException: [{machine}] is not a valid instance type for requested amiType"
            f" {image}"
        )


def _misplaced(interfaces: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """EC2's errors for cards and devices."""
    places = [_place(interface) for interface in interfaces]
    for card, device in places:
        if device > _MOST_DEVICE_INDEX:
            yield (
                f"InvalidParameterValue: The number {device} for the device index exceeds the maximum allowed"
                f" value at network card index {card}. Specify 0 to {_MOST_DEVICE_INDEX}."
            )
    if len(set(places)) != len(places):
        yield "InvalidParameterValue: Two network interfaces have the same network card and device index"
    if interfaces and (0, 0) not in places:
        yield "InvalidParameterValue: An instance needs an interface at network card 0, device 0"
    for interface, place in zip(interfaces, places, strict=True):
        if place == (0, 0) and interface.get("interfaceType") == "efa-only":
            yield "InvalidParameterCombination: The primary network interface cannot be efa-only"


def _too_many_adapters(interfaces: Sequence[Mapping[str, Any]], machine: Any) -> Iterator[str]:
    """EC2's errors for adapters that the machine does not take, as far as the catalogue knows it."""
    from gpuplatform.catalog import load

    sku = load().sku("aws", machine) if isinstance(machine, str) else None
    cards = [_place(interface)[0] for interface in interfaces if interface.get("interfaceType") in _EFA]
    if sku is None or not cards:
        return
    if not sku.efa_interfaces:
        yield f"UnsupportedOperation: EFA interfaces are not supported on {machine}"
    elif len(cards) > sku.efa_interfaces:
        yield (
            f"AttachmentLimitExceeded: {len(cards)} EFA interfaces are requested on {machine}, which takes"
            f" {sku.efa_interfaces}"
        )
    if sku.family in _ENA_ONLY_FIRST and 0 in cards:
        yield "AttachmentLimitExceeded: Network Card 0 (requested: 1, limit: 0)"


def _place(interface: Mapping[str, Any]) -> tuple[int, int]:
    return _number(interface, "networkCardIndex"), _number(interface, "deviceIndex")


def _number(interface: Mapping[str, Any], key: str) -> int:
    """Left out, it is 0; on the wire every number is a float."""
    value = interface.get(key)
    return int(value) if isinstance(value, int | float) else 0
