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


RULES = (
    Rule(
        NETWORK,
        names=NAME,
        replace=(
            "autoCreateSubnetworks",
            "description",
            "internalIpv6Range",
            "networkProfile",
            "params",
            "project",
        ),
    ),
    Rule(
        SUBNET,
        names=NAME,
        # A smaller `ipCidrRange` forces a replacement too, a larger one does not (ForceNewIfChange); a path
        # cannot say that, so both update here.
        replace=(
            "description",
            "externalIpv6Prefix",
            "internalIpv6Prefix",
            "network",
            "params",
            "project",
            "region",
            "reservedInternalRange",
            "resolveSubnetMask",
        ),
        references=(IN_NETWORK,),
        check=_check_subnet,
        create=_create_subnet,
        outputs=_subnet_outputs,
    ),
    Rule(
        ROUTER,
        names=NAME,
        replace=("encryptedInterconnectRouter", "nccGateway", "network", "params", "project", "region"),
        references=(IN_NETWORK,),
    ),
    Rule(
        "gcp:compute/routerNat:RouterNat",
        names=NAME,
        replace=("endpointTypes", "initialNatIps", "project", "region", "router", "type"),
        references=(
            # A NAT is a part of its router, gone with it.
            Reference("router", ROUTER, NOT_FOUND, cascades=True),
        ),
        id=_nat_id,
    ),
    Rule(
        "gcp:compute/firewall:Firewall",
        names=NAME,
        replace=("direction", "params", "project"),
        references=(IN_NETWORK,),
    ),
    Rule(
        "gcp:compute/address:Address",
        names=NAME,
        replace=(
            "address",
            "addressType",
            "description",
            "ipCollection",
            "ipVersion",
            "ipv6EndpointType",
            "network",
            "networkTier",
            "prefixLength",
            "project",
            "purpose",
            "region",
            "subnetwork",
        ),
    ),
    Rule(
        "gcp:compute/resourcePolicy:ResourcePolicy",
        names=NAME,
        replace=(
            "diskConsistencyGroupPolicy.enabled",
            "groupPlacementPolicy.gpuTopology",
            "project",
            "region",
            "workloadPolicy.acceleratorTopology",
            "workloadPolicy.maxTopologyDistance",
            "workloadPolicy.type",
        ),
    ),
)
