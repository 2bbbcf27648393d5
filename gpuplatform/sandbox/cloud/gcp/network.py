"""VPC networks, subnetworks, routers and NAT."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.addresses import overlapping, valid
from gpuplatform.sandbox.cloud.gcp.common import (
    IN_NETWORK,
    NAME,
    NETWORK,
    NOT_FOUND,
    RESOURCE_POLICY,
    ROUTER,
    SUBNET,
    normal,
    project_of,
)
from gpuplatform.sandbox.cloud.rule import (
    Call,
    CloudError,
    Reference,
    Rule,
)
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES"]


def _check_subnet(call: Call) -> Iterator[Problem]:
    ranges = [("ipCidrRange", call.get("ipCidrRange"))]
    ranges += [
        (f"secondaryIpRanges[{i}].ipCidrRange", entry.get("ipCidrRange"))
        for i, entry in enumerate(wire.at(call.inputs, "secondaryIpRanges[]"))
    ]
    for path, cidr in ranges:
        if cidr not in (None, wire.UNKNOWN) and not valid(cidr):
            yield Problem(path, f"{cidr!r} is no CIDR block")


def _ranges(inputs: Mapping[str, Any]) -> list[str]:
    return [*wire.at(inputs, "ipCidrRange"), *wire.at(inputs, "secondaryIpRanges[].ipCidrRange")]


def _create_subnet(call: Call) -> None:
    network = normal(str(call.get("network")))
    for sibling in call.world.linked(NETWORK, network, SUBNET):
        for cidr in _ranges(call.inputs):
            if overlapping(cidr, _ranges(wire.plain(sibling.inputs))):
                raise CloudError(
                    f"googleapi: Error 400: Invalid IPCidrRange: {cidr} conflicts with existing subnetwork"
                    f" '{sibling.name}' in region '{sibling.outputs.get('region')}'., invalidIPCidrRange"
                )


def _subnet_outputs(call: Call) -> dict[str, Any]:
    cidr = str(call.get("ipCidrRange", ""))
    return {"gatewayAddress": re.sub(r"\d+/\d+$", "1", cidr)}


def _nat_id(call: Call) -> str:
    return f"{project_of(call)}/{call.region}/{call.get('router')}/{call.name}"


_MTU = (1300, 8896)
_NETWORK_PROFILE = re.compile(
    r"(.*/)?networkProfiles/[a-z]+-[a-z]+\d+-[a-z]-(vpc-roce|vpc-roce-metal|vpc-falcon)"
)


def _check_network(call: Call) -> Iterator[Problem]:
    mtu, profile = call.get("mtu"), call.get("networkProfile")
    least, most = _MTU
    if isinstance(mtu, int | float) and not least <= mtu <= most:
        yield Problem("mtu", f"{mtu:g} is not between {least} and {most}")
    if isinstance(profile, str) and profile != wire.UNKNOWN and not _NETWORK_PROFILE.fullmatch(profile):
        yield Problem("networkProfile", f"{profile!r} is no network profile, such as ZONE-vpc-roce")


def _create_firewall(call: Call) -> None:
    network = call.world.named(NETWORK, normal(str(call.get("network"))))
    if network is not None and network.inputs.get("networkProfile"):
        raise CloudError(
            f"googleapi: Error 400: Firewall rules are not supported in network '{network.name}' by its"
            " network profile., badRequest"
        )


RULES = (
    Rule(NETWORK, names=NAME, check=_check_network),
    Rule(
        SUBNET,
        names=NAME,
        references=(IN_NETWORK,),
        check=_check_subnet,
        create=_create_subnet,
        outputs=_subnet_outputs,
    ),
    Rule(ROUTER, names=NAME, references=(IN_NETWORK,)),
    Rule(
        "gcp:compute/routerNat:RouterNat",
        names=NAME,
        references=(
            # A NAT is a part of its router, gone with it.
            Reference("router", ROUTER, NOT_FOUND, cascades=True),
        ),
        id=_nat_id,
    ),
    Rule(
        "gcp:compute/firewall:Firewall",
        names=NAME,
        references=(IN_NETWORK,),
        create=_create_firewall,
    ),
    Rule(
        "gcp:compute/address:Address",
        names=NAME,
    ),
    Rule(
        RESOURCE_POLICY,
        names=NAME,
    ),
)
