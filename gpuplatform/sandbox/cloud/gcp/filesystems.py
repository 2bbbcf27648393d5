"""Managed Lustre and Filestore, and the peering that they are reached by."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.addresses import overlapping
from gpuplatform.sandbox.cloud.gcp.common import (
    IN_NETWORK,
    IN_USE,
    NAME,
    NETWORK,
    NOT_FOUND,
    SUBNET,
    normal,
    project_of,
)
from gpuplatform.sandbox.cloud.rule import Call, CloudError, NameRule, Reference, Rule
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES"]

RANGE = "gcp:compute/globalAddress:GlobalAddress"
PEERING = "gcp:servicenetworking/connection:Connection"

_NO_PEERING = (
    "googleapi: Error 400: network {network} has no private services access: connect it to"
    " servicenetworking.googleapis.com first., failedPrecondition"
)


def _block(call: Call) -> str:
    address, prefix = call.get("address"), call.get("prefixLength")
    return f"{address}/{int(prefix)}" if address and prefix else ""


def _check_range(call: Call) -> Iterator[Problem]:
    if call.get("purpose") == "VPC_PEERING" and not call.get("prefixLength"):
        yield Problem("prefixLength", "a range for VPC_PEERING has a prefix length")
    if block := _block(call):
        try:
            ipaddress.IPv4Network(block)
        except ValueError as error:
            yield Problem("address", str(error))


def _create_range(call: Call) -> None:
    block, network = _block(call), normal(str(call.get("network")))
    for subnet in call.world.linked(NETWORK, network, SUBNET) if block else ():
        inputs = wire.plain(subnet.inputs)
        taken = [*wire.at(inputs, "ipCidrRange"), *wire.at(inputs, "secondaryIpRanges[].ipCidrRange")]
        if overlapping(block, taken):
            raise CloudError(
                f"googleapi: Error 400: Invalid value for field 'resource.address': {block} overlaps with"
                f" subnetwork '{subnet.name}'., invalid"
            )


def _refuse_unpeered(call: Call, network: Any) -> None:
    if not call.world.linked(NETWORK, normal(str(network)), PEERING):
        raise CloudError(_NO_PEERING.format(network=network))


def _create_lustre(call: Call) -> None:
    _refuse_unpeered(call, call.get("network"))


def _check_lustre(call: Call) -> Iterator[Problem]:
    filesystem, capacity = str(call.get("filesystem") or ""), call.get("capacityGib")
    if filesystem not in ("", wire.UNKNOWN) and not (filesystem.isalnum() and len(filesystem) <= _FSNAME):
        yield Problem("filesystem", f"{filesystem!r} is not 1 to {_FSNAME} letters and digits")
    if isinstance(capacity, str) and capacity != wire.UNKNOWN and not capacity.isdigit():
        yield Problem("capacityGib", f"{capacity!r} is no whole number of GiB")


_FSNAME = 8


def _lustre_outputs(call: Call) -> dict[str, Any]:
    return {
        "name": call.id,
        "mountPoint": f"{_address(call)}@tcp:/{call.get('filesystem')}",
        "state": "ACTIVE",
    }


def _create_filestore(call: Call) -> None:
    if call.get("networks[].connectMode") == "PRIVATE_SERVICE_ACCESS":
        _refuse_unpeered(call, call.get("networks[].network"))


def _delete_filestore(call: Call) -> None:
    if call.get("deletionProtectionEnabled"):
        raise CloudError(
            f"googleapi: Error 400: instance {call.name} is protected against deletion:"
            " deletion_protection_enabled., failedPrecondition"
        )


def _filestore_outputs(call: Call) -> dict[str, Any]:
    networks = [
        {**network, "ipAddresses": [_address(call)], "reservedIpRange": network.get("reservedIpRange", "")}
        for network in call.get("networks") or ()
    ]
    return {"networks": networks, "createTime": call.created or "2026-01-01T00:00:00Z"}


def _address(call: Call) -> str:
    """One of RFC 5737's, for documentation."""
    return f"198.51.100.{int(wire.digest(call.id, length=4), 16) % 254 + 1}"


def _instance_id(call: Call) -> str:
    return f"projects/{project_of(call)}/locations/{call.get('location')}/instances/{call.name}"


RULES = (
    Rule(RANGE, names=NAME, references=(IN_NETWORK,), check=_check_range, create=_create_range),
    Rule(
        PEERING,
        references=(
            IN_NETWORK,
            Reference("reservedPeeringRanges[]", RANGE, NOT_FOUND, IN_USE),
        ),
        id=lambda call: f"{normal(str(call.get('network')))}:{call.get('service')}",
        outputs=lambda _call: {"peering": "servicenetworking-googleapis-com"},
    ),
    Rule(
        "gcp:lustre/instance:Instance",
        names=NAME,
        references=(IN_NETWORK,),
        check=_check_lustre,
        create=_create_lustre,
        id=_instance_id,
        outputs=_lustre_outputs,
    ),
    Rule(
        "gcp:filestore/instance:Instance",
        names=NameRule(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", "1 to 63 of lower-case letters, digits and -"),
        references=(Reference("networks[].network", NETWORK, NOT_FOUND, IN_USE),),
        create=_create_filestore,
        delete=_delete_filestore,
        id=_instance_id,
        outputs=_filestore_outputs,
    ),
)
