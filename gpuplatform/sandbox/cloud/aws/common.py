"""Names of types, and ids, that AWS' parts share."""

from __future__ import annotations

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.rule import (
    Call,
)

__all__ = ["BUCKET", "EIP", "KEY", "ROLE", "ROUTE_TABLE", "SECURITY_GROUP", "SUBNET", "VPC", "digits"]


VPC = "aws:ec2/vpc:Vpc"

SUBNET = "aws:ec2/subnet:Subnet"

EIP = "aws:ec2/eip:Eip"

ROUTE_TABLE = "aws:ec2/routeTable:RouteTable"

SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"

ROLE = "aws:iam/role:Role"

KEY = "aws:kms/key:Key"

BUCKET = "aws:s3/bucket:Bucket"


def digits(call: Call, *, length: int = 17) -> str:
    """Digits of an id, made of the maker and of how many things were made: a second one differs."""
    return wire.digest(call.urn, call.account.scope, str(call.world.made()), length=length)
