"""Azure Managed Lustre: file systems in subnets of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.azure.common import CONTAINER, IN_GROUP, IN_USE, NOT_FOUND, SUBNET, normal
from gpuplatform.sandbox.cloud.rule import Call, CloudError, NameRule, Reference, Rule
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES"]

FILESYSTEM = "azure-native:storagecache:AmlFilesystem"

_STEPS = {"40": 48, "125": 16, "250": 8, "500": 4}
"""TiB of the smallest, which is the step too, by the SKU's MB/s
(https://learn.microsoft.com/azure/azure-managed-lustre/create-file-system-portal)."""

_SUBNETS = ((16, 27), (40, 26), (92, 25), (196, 24), (400, 23))
"""Up to how many TiB go into a subnet of which prefix length
(https://learn.microsoft.com/azure/azure-managed-lustre/amlfs-prerequisites)."""


def _check(call: Call) -> Iterator[Problem]:
    sku, size = str(call.get("sku.name", "")), call.get("storageCapacityTiB")
    found = re.fullmatch(r"AMLFS-Durable-Premium-(\d+)", sku)
    step = _STEPS.get(found[1]) if found else None
    if sku and sku != wire.UNKNOWN and step is None:
        yield Problem("sku.name", f"{sku} is no SKU of Azure Managed Lustre")
    if step and isinstance(size, int | float) and (size <= 0 or size % step):
        yield Problem("storageCapacityTiB", f"{size:g} TiB is no multiple of {step}")
    if len(call.inputs.get("zones") or ()) != 1:
        yield Problem("zones", "must contain a single availability zone")
    if not call.get("maintenanceWindow"):
        yield Problem("maintenanceWindow", "is required")


def _create(call: Call) -> None:
    """Its subnet holds it and no other; what it reads it reaches by the account's keys."""
    subnet = call.world.named(SUBNET, normal(str(call.get("filesystemSubnet"))))
    if subnet is None:
        return
    if call.world.linked(SUBNET, normal(subnet.id), FILESYSTEM):
        raise CloudError(f"Code=InvalidParameter: Subnet '{subnet.name}' is used by another AML file system.")
    size = call.get("storageCapacityTiB")
    prefix = next((p for most, p in _SUBNETS if isinstance(size, int | float) and size <= most), 23)
    for cidr in wire.at(wire.plain(subnet.inputs), "addressPrefix"):
        if isinstance(cidr, str) and IPv4Network(cidr).prefixlen > prefix:
            raise CloudError(
                f"Code=SubnetNotLargeEnough: Subnet '{subnet.name}' ({cidr}) has not enough addresses for"
                f" {size:g} TiB; a /{prefix} has."
            )


def _address(call: Call) -> str:
    subnet = call.world.named(SUBNET, normal(str(call.get("filesystemSubnet"))))
    for cidr in wire.at(wire.plain(subnet.inputs), "addressPrefix") if subnet else ():
        if isinstance(cidr, str):
            return str(IPv4Network(cidr)[4])  # Azure keeps the first four
    return "203.0.113.4"


def _outputs(call: Call) -> dict[str, Any]:
    address = _address(call)
    return {
        "clientInfo": {
            "mgsAddress": address,
            "lustreVersion": "2.15.7",
            "mountCommand": f"mount -t lustre {address}@tcp:/lustrefs /lustre",
        },
        "health": {"state": "Available"},
    }


RULES = (
    Rule(
        FILESYSTEM,
        names=NameRule(r"[a-zA-Z0-9]([\w-]{0,78}[a-zA-Z0-9])?", "up to 80 of letters, digits, _ and -"),
        references=(
            IN_GROUP,
            Reference("filesystemSubnet", SUBNET, NOT_FOUND, IN_USE.format(kind="Subnet")),
            Reference("hsm.settings.container", CONTAINER, NOT_FOUND),
            Reference("hsm.settings.loggingContainer", CONTAINER, NOT_FOUND),
        ),
        check=_check,
        create=_create,
        outputs=_outputs,
    ),
)
