"""The simulated AWS: what EKS clusters and their storage stand on.

Error texts are the services' own where known.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.aws import cluster, identity, money, network, storage
from gpuplatform.sandbox.cloud.aws.common import (
    EIP,
    ROUTE_TABLE,
    SECURITY_GROUP,
    SUBNET,
    VPC,
    digits,
)
from gpuplatform.sandbox.cloud.aws.functions import FUNCTIONS
from gpuplatform.sandbox.cloud.names import BRIDGED
from gpuplatform.sandbox.cloud.rule import (
    Account,
    Call,
    Cloud,
    by_token,
)
from gpuplatform.sandbox.cloud.world import World

__all__ = ["CLOUD", "DEFAULT_ACCOUNT"]

DEFAULT_ACCOUNT = "123456789012"

"""AWS' own example account: the sandbox's, unless the provider allows only others."""


def _account(config: Mapping[str, Any], _world: World) -> Account:
    allowed = _decoded(config.get("allowedAccountIds"))
    owner = allowed[0] if isinstance(allowed, list) and allowed else DEFAULT_ACCOUNT
    region = config.get("region") or "us-east-1"
    tags = wire.first(_decoded(config.get("defaultTags")) or {}, "tags", {})
    return Account(owner=owner, region=region, scope=owner, config={**config, "defaultTags": tags})


def _decoded(value: Any) -> Any:
    """Structured values of a provider's configuration arrive as JSON text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


_PREFIX = {
    VPC: "vpc", SUBNET: "subnet", EIP: "eipalloc", ROUTE_TABLE: "rtb", SECURITY_GROUP: "sg",
    "aws:ec2/internetGateway:InternetGateway": "igw",
    "aws:ec2/natGateway:NatGateway": "nat",
    "aws:ec2/routeTableAssociation:RouteTableAssociation": "rtbassoc",
    "aws:ec2/launchTemplate:LaunchTemplate": "lt",
    "aws:ec2/vpcEndpoint:VpcEndpoint": "vpce",
    "aws:ec2/capacityReservation:CapacityReservation": "cr",
    "aws:ec2/networkInterface:NetworkInterface": "eni",
    "aws:ec2/flowLog:FlowLog": "fl",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": "sgr",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": "sgr",
}  # fmt: skip


def _id(call: Call) -> str:
    if call.token in _PREFIX:
        return f"{_PREFIX[call.token]}-{digits(call)}"
    return call.name or f"{call.token.rpartition(':')[2].lower()}-{digits(call)}"


def _outputs(call: Call) -> dict[str, Any]:
    service = call.token.split(":")[1].split("/")[0]
    kind = call.token.rpartition(":")[2]
    kind = kind[0].lower() + kind[1:]
    tags = {**call.account.config.get("defaultTags", {}), **(call.get("tags") or {})}
    return {
        "arn": f"arn:aws:{service}:{call.region}:{call.account.owner}:{kind}/{call.id}",
        "region": call.region,
        "ownerId": call.account.owner,
        "tagsAll": tags,
        "name": call.name or call.id,
    }


def _handles(call: Call, outputs: Mapping[str, Any]) -> Iterator[str]:
    yield from (call.id, call.name, outputs.get("arn", ""))


CLOUD = Cloud(
    package="aws",
    rules=by_token((*network.RULES, *identity.RULES, *cluster.RULES, *storage.RULES, *money.RULES)),
    account=_account,
    naming=BRIDGED,
    id=_id,
    outputs=_outputs,
    handles=_handles,
    conflict=lambda call: f"ResourceAlreadyExists: {call.token.rpartition(':')[2]} {call.id} already exists",
    gone="ResourceNotFound: {id} does not exist",
    immutable="InvalidParameterValue: {path} cannot be changed",
    offered=cluster.offered,
    stockout=(
        "AsgInstanceLaunchFailures: Could not launch instances. InsufficientInstanceCapacity - We"
        " currently do not"
        " have sufficient {sku} capacity in the Availability Zone you requested ({where})."
    ),
    quota=(
        "AsgInstanceLaunchFailures: You've reached your quota for the vCPUs of {sku} in {where}:"
        " VcpuLimitExceeded - You have requested more vCPU capacity than your current vCPU limit allows."
    ),
    throttled="ThrottlingException: Rate exceeded",
    timeout="timeout while waiting for state to become 'ACTIVE' (last state: 'CREATING')",
    invokes=FUNCTIONS,
)
