"""Resource groups, virtual networks, subnets and what hangs on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.addresses import inside, overlapping, valid
from gpuplatform.sandbox.cloud.azure.common import (
    GROUP,
    IN_GROUP,
    IN_USE,
    NETWORK,
    NOT_FOUND,
    SUBNET,
    normal,
)
from gpuplatform.sandbox.cloud.rule import (
    Call,
    CloudError,
    NameRule,
    Reference,
    Rule,
)
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES"]


_NO_NETWORK = "Code=ResourceNotFound: The virtual network '{value}' was not found."


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
    network = call.world.named(NETWORK, normal(_network_id(call)))
    if network is None:
        return
    siblings = call.world.linked(NETWORK, normal(network.id), SUBNET)
    space = list(wire.at(wire.plain(network.inputs), "addressSpace.addressPrefixes[]"))
    for prefix in _prefixes(call.inputs):
        if space and not inside(prefix, space):
            raise CloudError(
                f"Code=NetcfgSubnetRangeOutsideVnet: Subnet '{call.name}' is not valid in virtual network"
                f" '{network.name}': {prefix} lies outside of {', '.join(space)}"
            )
        for sibling in siblings:
            if sibling.id == call.id:
                continue
            taken = _prefixes(wire.plain(sibling.inputs))
            if overlapping(prefix, taken):
                raise CloudError(
                    f"Code=NetcfgSubnetRangesOverlap: Subnet '{call.name}' is not valid because its IP"
                    f" address"
                    f" range {prefix} overlaps with that of an existing subnet '{sibling.name}'"
                )


def _update_subnet(call: Call, old: Mapping[str, Any]) -> None:
    """An address that something has cannot go; what remains must fit like a new subnet's."""
    gone = [prefix for prefix in _prefixes(old) if prefix not in _prefixes(call.inputs)]
    subnet = call.world.named(SUBNET, normal(call.id))
    if gone and subnet is not None and call.world.holders(subnet.key):
        raise CloudError(
            f"Code=InUsePrefixCannotBeDeleted: IpPrefix {gone[0]} on Subnet {call.name} has active"
            " allocations and cannot be deleted."
        )
    if _prefixes(old) != _prefixes(call.inputs):
        _create_subnet(call)


def _address_outputs(call: Call) -> dict[str, Any]:
    return {"ipAddress": f"203.0.113.{int(wire.digest(call.id, length=4), 16) % 254 + 1}"}  # RFC 5737


_IN_NETWORK = Reference("virtualNetworkName", NETWORK, _NO_NETWORK, cascades=True, value=_network_id)

RULES = (
    Rule(
        GROUP,
        names=NameRule(
            r"[-\w.()]{0,89}[-\w()]", "up to 90 of letters, digits and - _ . ( ), not ending with ."
        ),
    ),
    Rule(
        NETWORK,
        names=NameRule(r"[A-Za-z0-9][\w.-]{0,62}(?<![.-])", "2 to 64 of letters, digits and . _ -"),
        references=(IN_GROUP,),
        check=_check_network,
    ),
    Rule(
        SUBNET,
        names=NameRule(r"[A-Za-z0-9][\w.-]{0,78}(?<![.-])", "up to 80 of letters, digits and . _ -"),
        references=(
            IN_GROUP,
            _IN_NETWORK,
            Reference(
                "natGateway.id",
                "azure-native:network:NatGateway",
                NOT_FOUND,
                IN_USE.format(kind="NatGateway"),
            ),
            Reference(
                "networkSecurityGroup.id",
                "azure-native:network:NetworkSecurityGroup",
                NOT_FOUND,
                IN_USE.format(kind="NetworkSecurityGroup"),
            ),
            Reference(
                "routeTable.id",
                "azure-native:network:RouteTable",
                NOT_FOUND,
                IN_USE.format(kind="RouteTable"),
            ),
        ),
        create=_create_subnet,
        update=_update_subnet,
    ),
    Rule(
        "azure-native:network:NatGateway",
        references=(
            IN_GROUP,
            Reference(
                "publicIpAddresses[].id",
                "azure-native:network:PublicIPAddress",
                NOT_FOUND,
                IN_USE.format(kind="PublicIPAddress"),
            ),
        ),
    ),
    Rule(
        "azure-native:network:PublicIPAddress",
        references=(IN_GROUP,),
        outputs=_address_outputs,
    ),
    Rule("azure-native:network:NetworkSecurityGroup", references=(IN_GROUP,)),
    Rule("azure-native:network:RouteTable", references=(IN_GROUP,)),
)
