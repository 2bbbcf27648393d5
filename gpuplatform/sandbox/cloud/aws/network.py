"""VPC, subnets, routes, security groups, endpoints and launch templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.addresses import inside, overlapping, valid
from gpuplatform.sandbox.cloud.aws.common import (
    EIP,
    ROUTE_TABLE,
    SECURITY_GROUP,
    SUBNET,
    VPC,
)
from gpuplatform.sandbox.cloud.aws.functions import knows_zone, zone_id, zone_name
from gpuplatform.sandbox.cloud.aws.launch import PLACEMENT_GROUP, TEMPLATE
from gpuplatform.sandbox.cloud.rule import (
    Call,
    CloudError,
    NameRule,
    Reference,
    Rule,
)
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES"]

ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
NAT_GATEWAY = "aws:ec2/natGateway:NatGateway"


_IN_VPC = "DependencyViolation: The vpc '{id}' has dependencies and cannot be deleted."

_NO_VPC = "InvalidVpcID.NotFound: The vpc ID '{value}' does not exist"

_NO_SUBNET = "InvalidSubnetID.NotFound: The subnet ID '{value}' does not exist"

_IN_SUBNET = "DependencyViolation: The subnet '{id}' has dependencies and cannot be deleted."

_NO_GROUP = "InvalidGroup.NotFound: The security group '{value}' does not exist"

_IN_GROUP = "DependencyViolation: resource {id} has a dependent object"

_NO_TABLE = "InvalidRouteTableID.NotFound: The routeTable ID '{value}' does not exist"

_VPC = Reference("vpcId", VPC, _NO_VPC, _IN_VPC)


_WIDEST, _NARROWEST = 16, 28


def _check_vpc(call: Call) -> Iterator[Problem]:
    cidr = call.get("cidrBlock")
    if cidr and (not valid(cidr) or not _WIDEST <= int(str(cidr).partition("/")[2]) <= _NARROWEST):
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


def _check_placement_group(call: Call) -> Iterator[Problem]:
    strategy = call.get("strategy")
    if isinstance(strategy, str) and strategy not in {"cluster", "partition", "spread"}:
        yield Problem("strategy", f"{strategy!r} is none of cluster, partition, spread")


def _create_association(call: Call) -> None:
    """A subnet has one table. Whether the same one again is refused is not documented; here it is."""
    subnet, table = call.get("subnetId", ""), call.get("routeTableId", "")
    if call.world.linked(SUBNET, subnet, ASSOCIATION):
        raise CloudError(
            f"Resource.AlreadyAssociated: the specified association for route table {table} conflicts with an"
            " existing association"
        )


def _create_nat_gateway(call: Call) -> None:
    address = call.get("allocationId", "")
    if call.world.linked(EIP, address, NAT_GATEWAY):
        raise CloudError(f"Resource.AlreadyAssociated: Elastic IP address [{address}] is already associated")


def _create_endpoint(call: Call) -> None:
    """A gateway endpoint is a route in each of its tables, and a table has one to a service."""
    service = call.get("serviceName", "")
    for table in call.inputs.get("routeTableIds") or ():
        for other in call.world.linked(ROUTE_TABLE, table, ENDPOINT):
            if other.inputs.get("serviceName") == service:
                prefixes = other.outputs.get("prefixListId")
                raise CloudError(
                    f"RouteAlreadyExists: route table {table} already has a route with"
                    f" destination-prefix-list-id {prefixes}"
                )


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
        NAT_GATEWAY,
        "InvalidNatGatewayID.NotFound: The NAT gateway ID '{value}' does not exist",
    ),
)


def _deeper(prefix: str, references: tuple[Reference, ...]) -> tuple[Reference, ...]:
    return tuple(Reference(f"{prefix}.{r.path}", r.to, r.missing, unless=r.unless) for r in references)


RULES = (
    Rule(
        VPC,
        check=_check_vpc,
        outputs=_vpc_outputs,
        handles=_vpc_handles,
    ),
    Rule(
        SUBNET,
        references=(_VPC,),
        check=_check_subnet,
        create=_create_subnet,
        outputs=_subnet_outputs,
    ),
    Rule("aws:ec2/internetGateway:InternetGateway", references=(_VPC,)),
    Rule(EIP, outputs=_eip_outputs),
    Rule(
        NAT_GATEWAY,
        create=_create_nat_gateway,
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
        references=(_VPC, *_deeper("routes[]", _ROUTE_TARGETS)),
    ),
    Rule(
        "aws:ec2/route:Route",
        references=(Reference("routeTableId", ROUTE_TABLE, _NO_TABLE, cascades=True), *_ROUTE_TARGETS),
    ),
    Rule(
        ASSOCIATION,
        create=_create_association,
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
        references=(_VPC,),
    ),
    Rule(
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        references=_RULE,
    ),
    Rule(
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
        references=_RULE,
    ),
    Rule(
        "aws:ec2/securityGroupRule:SecurityGroupRule",
        references=(_RULE[0], _security_group("sourceSecurityGroupId")),
    ),
    Rule(
        ENDPOINT,
        create=_create_endpoint,
        references=(
            _VPC,
            Reference("routeTableIds[]", ROUTE_TABLE, _NO_TABLE),
            Reference("subnetIds[]", SUBNET, _NO_SUBNET, _IN_SUBNET),
            _security_group("securityGroupIds[]"),
        ),
        outputs=_endpoint_outputs,
    ),
    Rule(
        PLACEMENT_GROUP,
        names=NameRule(r"[\x20-\x7e]{1,255}", "up to 255 ASCII characters"),
        check=_check_placement_group,
        id=lambda call: call.name,
        outputs=lambda call: {"placementGroupId": f"pg-{wire.digest(call.id, length=17)}"},
    ),
    Rule(
        TEMPLATE,
        names=NameRule(r"[A-Za-z0-9().\-/_]{3,128}", "3 to 128 of letters, digits and ( ) . - / _"),
        references=(
            _security_group("vpcSecurityGroupIds[]"),
            _security_group("networkInterfaces[].securityGroups[]"),
        ),
        outputs=_template_outputs,
    ),
)
