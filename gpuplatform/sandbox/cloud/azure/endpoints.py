"""Private endpoints, and the zones in which they are found."""

from __future__ import annotations

from collections.abc import Iterator

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.azure.common import (
    ACCOUNT,
    ENDPOINT,
    IN_GROUP,
    IN_USE,
    NETWORK,
    NOT_FOUND,
    SUBNET,
    ZONE,
    normal,
    parent,
)
from gpuplatform.sandbox.cloud.rule import Call, CloudError, NameRule, Reference, Rule
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES"]

LINK = "azure-native:privatedns:VirtualNetworkLink"

_SETTLED = "Code=CannotDeleteResource: Cannot delete resource {id} while nested resources exist: {by}."


def _check_endpoint(call: Call) -> Iterator[Problem]:
    for index, connection in enumerate(call.inputs.get("privateLinkServiceConnections") or ()):
        if not connection.get("groupIds"):
            yield Problem(f"privateLinkServiceConnections[{index}].groupIds", "names no part of the service")


def _create_link(call: Call) -> None:
    """A network is linked to one zone of a name: else nobody could tell which one answers."""
    network = call.get("virtualNetwork.id")
    if not isinstance(network, str):
        return
    zone = str(call.get("privateZoneName")).lower()
    for other in call.world.linked(NETWORK, normal(network), LINK):
        if str(wire.first(wire.plain(other.inputs), "privateZoneName")).lower() == zone:
            raise CloudError(
                f"Code=BadRequest: A virtual network cannot be linked to multiple zones with overlapping"
                f" namespaces. You tried to link virtual network with '{zone}' and '{zone}' zones."
            )


RULES = (
    Rule(
        ENDPOINT,
        names=NameRule(r"[A-Za-z0-9][\w.-]{0,62}\w", "2 to 64 of letters, digits and . _ -"),
        references=(
            IN_GROUP,
            Reference("subnet.id", SUBNET, NOT_FOUND, IN_USE.format(kind="Subnet")),
            Reference("privateLinkServiceConnections[].privateLinkServiceId", ACCOUNT, NOT_FOUND),
        ),
        check=_check_endpoint,
    ),
    Rule(
        "azure-native:network:PrivateDnsZoneGroup",
        references=(
            IN_GROUP,
            Reference(
                "privateEndpointName",
                ENDPOINT,
                NOT_FOUND,
                cascades=True,
                value=parent("Microsoft.Network/privateEndpoints", "privateEndpointName"),
            ),
            Reference("privateDnsZoneConfigs[].privateDnsZoneId", ZONE, NOT_FOUND),
        ),
    ),
    Rule(ZONE, references=(IN_GROUP,)),
    Rule(
        LINK,
        references=(
            IN_GROUP,
            Reference(
                "privateZoneName",
                ZONE,
                NOT_FOUND,
                _SETTLED,
                value=parent("Microsoft.Network/privateDnsZones", "privateZoneName"),
            ),
            Reference("virtualNetwork.id", NETWORK, NOT_FOUND),
        ),
        create=_create_link,
    ),
)
