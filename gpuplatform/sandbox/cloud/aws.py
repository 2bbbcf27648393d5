"""The simulated AWS: what EKS clusters stand on.

Which inputs force a replacement is hashicorp/terraform-provider-aws' `ForceNew`, file internal/service/SERVICE/
RESOURCE.go, read in 2026. Error texts are the services' own where known.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gpuplatform.sandbox.cloud import aws_eks, machines, wire
from gpuplatform.sandbox.cloud.addresses import inside, overlapping, valid
from gpuplatform.sandbox.cloud.aws_functions import FUNCTIONS, knows_zone, zone_id, zone_name
from gpuplatform.sandbox.cloud.names import BRIDGED
from gpuplatform.sandbox.cloud.rule import (
    Account,
    Call,
    Cloud,
    CloudError,
    NameRule,
    Reference,
    Rule,
    by_token,
)
from gpuplatform.sandbox.cloud.world import World
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["CLOUD", "DEFAULT_ACCOUNT"]

DEFAULT_ACCOUNT = "123456789012"
"""AWS' own example account: the sandbox's, unless the provider allows only others."""

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
EIP = "aws:ec2/eip:Eip"
ROUTE_TABLE = "aws:ec2/routeTable:RouteTable"
SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"
ROLE = "aws:iam/role:Role"
KEY = "aws:kms/key:Key"

_IN_VPC = "DependencyViolation: The vpc '{id}' has dependencies and cannot be deleted."
_NO_VPC = "InvalidVpcID.NotFound: The vpc ID '{value}' does not exist"
_NO_SUBNET = "InvalidSubnetID.NotFound: The subnet ID '{value}' does not exist"
_IN_SUBNET = "DependencyViolation: The subnet '{id}' has dependencies and cannot be deleted."
_NO_GROUP = "InvalidGroup.NotFound: The security group '{value}' does not exist"
_IN_GROUP = "DependencyViolation: resource {id} has a dependent object"
_NO_TABLE = "InvalidRouteTableID.NotFound: The routeTable ID '{value}' does not exist"
_NO_ROLE = "NoSuchEntity: The role with name {value} cannot be found."

_VPC = Reference("vpcId", VPC, _NO_VPC, _IN_VPC)
_IAM_NAME = r"[\w+=,.@-]"


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
    "aws:ec2/internetGateway:InternetGateway": "igw", "aws:ec2/natGateway:NatGateway": "nat",
    "aws:ec2/routeTableAssociation:RouteTableAssociation": "rtbassoc", "aws:ec2/launchTemplate:LaunchTemplate": "lt",
    "aws:ec2/vpcEndpoint:VpcEndpoint": "vpce", "aws:ec2/capacityReservation:CapacityReservation": "cr",
    "aws:ec2/networkInterface:NetworkInterface": "eni", "aws:ec2/flowLog:FlowLog": "fl",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": "sgr",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": "sgr",
}  # fmt: skip


def _random(call: Call, *, length: int = 17) -> str:
    """Digits of an id. They depend on the maker and on how many things it has made, so a second one differs."""
    return wire.digest(call.urn, call.account.scope, str(call.world.made()), length=length)


def _id(call: Call) -> str:
    if call.token in _PREFIX:
        return f"{_PREFIX[call.token]}-{_random(call)}"
    return call.name or f"{call.token.rpartition(':')[2].lower()}-{_random(call)}"


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


# The network


def _check_vpc(call: Call) -> Iterator[Problem]:
    cidr = call.get("cidrBlock")
    if cidr and (not valid(cidr) or not 16 <= int(str(cidr).partition("/")[2]) <= 28):  # noqa: PLR2004
        yield Problem("cidrBlock", f"{cidr!r} is no block of /16 to /28 (InvalidVpc.Range)")


def _vpc_outputs(call: Call) -> dict[str, Any]:
    digits = wire.digest(call.id, length=17)
    return {
        "mainRouteTableId": f"rtb-{digits}",
        "defaultRouteTableId": f"rtb-{digits}",
        "defaultSecurityGroupId": f"sg-{digits}",
        "defaultNetworkAclId": f"acl-{digits}",
        "dhcpOptionsId": "dopt-sandbox",
    }


def _vpc_handles(_call: Call, outputs: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (ROUTE_TABLE, outputs["mainRouteTableId"]),
        (SECURITY_GROUP, outputs["defaultSecurityGroupId"]),
    ]


def _check_subnet(call: Call) -> Iterator[Problem]:
    for path in ("availabilityZone", "availabilityZoneId"):
        zone = call.get(path)
        if zone and not knows_zone(call.region, zone):
            yield Problem(path, f"{call.region} has no zone {zone!r} (InvalidParameterValue)")
    cidr = call.get("cidrBlock")
    if cidr and not valid(cidr):
        yield Problem("cidrBlock", f"{cidr!r} is no CIDR block")


def _create_subnet(call: Call) -> None:
    cidr, vpc = call.get("cidrBlock"), call.world.named(VPC, call.get("vpcId", ""))
    if not cidr or vpc is None:
        return
    if not inside(cidr, [vpc.inputs.get("cidrBlock", cidr)]):
        raise CloudError(f"InvalidSubnet.Range: The CIDR '{cidr}' is invalid.")
    siblings = call.world.linked(VPC, vpc.id, SUBNET)
    if overlapping(cidr, [s.inputs["cidrBlock"] for s in siblings if "cidrBlock" in s.inputs]):
        raise CloudError(f"InvalidSubnet.Conflict: The CIDR '{cidr}' conflicts with another subnet")


def _subnet_outputs(call: Call) -> dict[str, Any]:
    region = call.region
    name, zone = call.get("availabilityZone", ""), call.get("availabilityZoneId", "")
    name = name or zone_name(region, zone) or f"{region}a"
    return {"availabilityZone": name, "availabilityZoneId": zone or zone_id(region, name)}


def _eip_outputs(call: Call) -> dict[str, Any]:
    address = f"198.51.100.{int(wire.digest(call.id, length=4), 16) % 254 + 1}"  # RFC 5737, documentation
    return {"allocationId": call.id, "publicIp": address, "domain": "vpc"}


def _template_outputs(call: Call) -> dict[str, Any]:
    latest = int(call.previous.get("latestVersion", 0)) + 1
    return {"latestVersion": latest, "defaultVersion": latest if call.get("updateDefaultVersion") else 1}


def _endpoint_outputs(call: Call) -> dict[str, Any]:
    return {"prefixListId": f"pl-{wire.digest(call.region, length=8)}", "state": "available"}


# Identity and keys


def _json_problem(call: Call, path: str) -> Iterator[Problem]:
    document = call.get(path)
    if isinstance(document, str):
        try:
            json.loads(document)
        except ValueError as error:
            yield Problem(path, f"contains an invalid JSON policy: {error}")


def _check_role(call: Call) -> Iterator[Problem]:
    yield from _json_problem(call, "assumeRolePolicy")
    longest = call.get("maxSessionDuration")
    if longest is not None and not 3600 <= longest <= 43200:  # noqa: PLR2004 - one to twelve hours
        yield Problem("maxSessionDuration", f"{longest:g} s is not between 3600 and 43200")


def _check_policy(call: Call) -> Iterator[Problem]:
    yield from _json_problem(call, "policy")


def _iam(call: Call, kind: str) -> dict[str, Any]:
    path = call.get("path") or "/"
    return {"arn": f"arn:aws:iam::{call.account.owner}:{kind}{path}{call.name}", "path": path}


def _role_outputs(call: Call) -> dict[str, Any]:
    unique = wire.digest(call.id, length=17).upper()
    return _iam(call, "role") | {"uniqueId": f"AROA{unique}", "createDate": call.created, "maxSessionDuration":
                                 call.get("maxSessionDuration", 3600)}  # fmt: skip


def _oidc_arn(call: Call) -> str:
    host = str(call.get("url", "")).removeprefix("https://")
    return f"arn:aws:iam::{call.account.owner}:oidc-provider/{host}"


def _key_id(call: Call) -> str:
    digits = _random(call, length=32)
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _key_outputs(call: Call) -> dict[str, Any]:
    return {"keyId": call.id, "arn": f"arn:aws:kms:{call.region}:{call.account.owner}:key/{call.id}"}


def _security_group(path: str, *, holds: str = _IN_GROUP, cascades: bool = False) -> Reference:
    return Reference(path, SECURITY_GROUP, _NO_GROUP, holds, cascades)


_RULE = (
    _security_group("securityGroupId", cascades=True),
    _security_group("referencedSecurityGroupId"),
)
_ROUTE_TARGETS = (
    Reference(
        "gatewayId",
        "aws:ec2/internetGateway:InternetGateway",
        "InvalidGatewayID.NotFound: The gateway ID '{value}' does not exist",
        unless="^(vgw-|local$)",
    ),
    Reference(
        "natGatewayId",
        "aws:ec2/natGateway:NatGateway",
        "InvalidNatGatewayID.NotFound: The NAT gateway ID '{value}' does not exist",
    ),
)


def _deeper(prefix: str, references: tuple[Reference, ...]) -> tuple[Reference, ...]:
    return tuple(Reference(f"{prefix}.{r.path}", r.to, r.missing, unless=r.unless) for r in references)


_RULES = (
    Rule(
        VPC,
        name="",
        replace=("cidrBlock", "ipv4IpamPoolId", "ipv4NetmaskLength"),
        check=_check_vpc,
        outputs=_vpc_outputs,
        handles=_vpc_handles,
    ),
    Rule(
        SUBNET,
        name="",
        replace=("cidrBlock", "vpcId", "availabilityZone", "availabilityZoneId", "ipv6Native", "outpostArn"),
        references=(_VPC,),
        check=_check_subnet,
        create=_create_subnet,
        outputs=_subnet_outputs,
    ),
    Rule("aws:ec2/internetGateway:InternetGateway", name="", references=(_VPC,)),
    Rule(
        EIP, name="", replace=("domain", "networkBorderGroup", "publicIpv4Pool"), outputs=_eip_outputs
    ),
    Rule(
        "aws:ec2/natGateway:NatGateway",
        name="",
        replace=("allocationId", "subnetId", "connectivityType", "privateIp"),
        references=(
            Reference(
                "allocationId",
                EIP,
                "InvalidAllocationID.NotFound: The allocation ID '{value}' does not exist",
                "InvalidIPAddress.InUse: Address {id} is in use.",
            ),
            Reference("subnetId", SUBNET, _NO_SUBNET, _IN_SUBNET),
        ),
    ),
    Rule(
        ROUTE_TABLE,
        name="",
        replace=("vpcId",),
        references=(_VPC, *_deeper("routes[]", _ROUTE_TARGETS)),
    ),
    Rule(
        "aws:ec2/route:Route",
        name="",
        replace=(
            "routeTableId",
            "destinationCidrBlock",
            "destinationIpv6CidrBlock",
            "destinationPrefixListId",
        ),
        references=(Reference("routeTableId", ROUTE_TABLE, _NO_TABLE, cascades=True), *_ROUTE_TARGETS),
    ),
    Rule(
        "aws:ec2/routeTableAssociation:RouteTableAssociation",
        name="",
        replace=("subnetId", "gatewayId"),
        references=(
            Reference("subnetId", SUBNET, _NO_SUBNET, cascades=True),
            Reference(
                "routeTableId",
                ROUTE_TABLE,
                _NO_TABLE,
                "DependencyViolation: The routeTable '{id}' has dependencies and cannot be deleted.",
            ),
        ),
    ),
    Rule(
        SECURITY_GROUP,
        names=NameRule(
            r"(?!sg-)[\w .:/()#,@\[\]+=&;{}!$*-]{1,255}", "up to 255 characters, not starting with sg-"
        ),
        replace=("description", "vpcId", "namePrefix"),
        references=(_VPC,),
    ),
    Rule(
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        name="",
        references=_RULE,
        replace=("securityGroupId",),
    ),  # fmt: skip
    Rule(
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
        name="",
        references=_RULE,
        replace=("securityGroupId",),
    ),  # fmt: skip
    Rule(
        "aws:ec2/securityGroupRule:SecurityGroupRule",
        name="",
        replace=("securityGroupId", "type", "protocol", "fromPort", "toPort", "cidrBlocks", "self"),
        references=(_RULE[0], _security_group("sourceSecurityGroupId")),
    ),
    Rule(
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        name="",
        replace=("serviceName", "vpcId", "vpcEndpointType"),
        references=(
            _VPC,
            Reference("routeTableIds[]", ROUTE_TABLE, _NO_TABLE),
            Reference("subnetIds[]", SUBNET, _NO_SUBNET, _IN_SUBNET),
            _security_group("securityGroupIds[]"),
        ),
        outputs=_endpoint_outputs,
    ),
    Rule(
        aws_eks.TEMPLATE,
        names=NameRule(r"[A-Za-z0-9().\-/_]{3,128}", "3 to 128 of letters, digits and ( ) . - / _"),
        replace=("namePrefix",),
        references=(
            _security_group("vpcSecurityGroupIds[]"),
            _security_group("networkInterfaces[].securityGroups[]"),
        ),
        recomputed=("latestVersion",),
        outputs=_template_outputs,
    ),
    Rule(
        "aws:ec2/placementGroup:PlacementGroup", replace=("strategy", "partitionCount", "spreadLevel")
    ),
    Rule(
        ROLE,
        names=NameRule(rf"{_IAM_NAME}{{1,64}}", "1 to 64 of letters, digits and + = , . @ - _"),
        replace=("path", "namePrefix"),
        check=_check_role,
        outputs=_role_outputs,
    ),
    Rule(
        "aws:iam/policy:Policy",
        names=NameRule(rf"{_IAM_NAME}{{1,128}}", "1 to 128 of letters, digits and + = , . @ - _"),
        replace=("path", "description", "namePrefix"),
        check=_check_policy,
        id=lambda call: _iam(call, "policy")["arn"],
        outputs=lambda call: _iam(call, "policy"),
    ),
    Rule(
        "aws:iam/rolePolicy:RolePolicy",
        replace=("role", "namePrefix"),
        references=(
            Reference(
                "role", ROLE, _NO_ROLE, "DeleteConflict: Cannot delete entity, must delete policies first."
            ),
        ),
        check=_check_policy,
        id=lambda call: f"{call.get('role')}:{call.name}",
    ),
    Rule(
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        name="",
        replace=("role", "policyArn"),
        references=(
            Reference(
                "role",
                ROLE,
                _NO_ROLE,
                "DeleteConflict: Cannot delete entity, must detach all policies first.",
            ),
            Reference(
                "policyArn",
                "aws:iam/policy:Policy",
                "NoSuchEntity: Policy {value} does not exist or is not attachable.",
                "DeleteConflict: Cannot delete a policy attached to entities.",
                unless=r"^arn:aws[a-z-]*:iam::aws:policy/",
            ),
        ),
        id=lambda call: f"{call.get('role')}/{call.get('policyArn')}",
    ),
    Rule(
        "aws:iam/instanceProfile:InstanceProfile",
        replace=("path", "namePrefix"),
        references=(
            Reference(
                "role", ROLE, _NO_ROLE, "DeleteConflict: must remove roles from instance profile first."
            ),
        ),
        outputs=lambda call: _iam(call, "instance-profile"),
    ),
    Rule(
        "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
        name="",
        replace=("url",),
        id=_oidc_arn,
        outputs=lambda call: {"arn": call.id, "thumbprintLists": call.get("thumbprintLists", [])},
    ),
    Rule(KEY, name="", replace=("customerMasterKeySpec", "keyUsage"), id=_key_id, outputs=_key_outputs),
    Rule(
        "aws:kms/alias:Alias",
        prefix="alias/",
        names=NameRule(r"alias/[A-Za-z0-9/_-]{1,250}", "alias/ and letters, digits and / _ -"),
        replace=("namePrefix",),
        references=(
            Reference("targetKeyId", KEY, "NotFoundException: Invalid keyId '{value}'", cascades=True),
        ),
    ),
    Rule(
        "aws:cloudwatch/logGroup:LogGroup",
        names=NameRule(r"[.\-_/#A-Za-z0-9]{1,512}", "1 to 512 of letters, digits and . - _ / #"),
        replace=("namePrefix", "logGroupClass"),
    ),
    *aws_eks.RULES,
)


def _offered(call: Call, sku: str) -> None:
    zone_ids = []
    for subnet in wire.at(call.inputs, "subnetIds[]"):
        thing = call.world.named(SUBNET, subnet)
        if thing:
            zone_ids.append(str(thing.outputs["availabilityZoneId"]))
    where = f"in your requested Availability Zone ({', '.join(zone_ids) or call.region})"

    def not_in_zone(zone: str) -> str:
        name = zone_name(call.region, zone)
        return (
            f"Unsupported: Your requested instance type ({sku}) is not supported in your requested"
            f" Availability Zone ({name}, {zone})"
        )

    machines.refuse(
        "aws",
        sku,
        call.region,
        zone_ids,
        unknown=f"InvalidParameterException: The following supplied instance types do not exist: [{sku}]",
        not_in_region=f"Unsupported: Your requested instance type ({sku}) is not supported {where}",
        not_in_zone=not_in_zone,
    )


CLOUD = Cloud(
    package="aws",
    rules=by_token(_RULES),
    account=_account,
    naming=BRIDGED,
    # Every resource of pulumi-aws 7 has a region of its own; none can move.
    always_replace=("region",),
    id=_id,
    outputs=_outputs,
    handles=_handles,
    conflict=lambda call: f"ResourceAlreadyExists: {call.token.rpartition(':')[2]} {call.id} already exists",
    gone="ResourceNotFound: {id} does not exist",
    immutable="InvalidParameterValue: {path} cannot be changed",
    offered=_offered,
    stockout=(
        "AsgInstanceLaunchFailures: Could not launch instances. InsufficientInstanceCapacity - We currently do not"
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
