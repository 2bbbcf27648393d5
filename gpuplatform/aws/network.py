"""The VPC of one environment: private subnets for nodes, small public ones for NAT, nothing open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any, Literal

import pulumi

from gpuplatform.aws.resource import AwsResource
from gpuplatform.aws.zones import placement
from gpuplatform.component import Component
from gpuplatform.config.layout import aws_layout, fitting
from gpuplatform.contracts import NetworkArgs

__all__ = ["AwsNetwork", "AwsNetworkArgs", "AwsNetworkIds"]

Nat = Literal["single", "per-zone"]


@dataclass(frozen=True, kw_only=True)
class AwsNetworkArgs(NetworkArgs):
    """What an `AwsNetwork` is made of: the arguments of every network, and those of AWS.

    The CIDR is a /16 to a /28. Zones are IDs (`use1-az4`) or the account's own names (`us-east-1a`), one
    private and one public subnet each.

    Attributes:
        nat: One NAT gateway for all zones (cheaper; the zone's outage takes the others' way out along, and
            traffic between zones is billed), or one in each.
    """

    nat: Nat = "single"


@dataclass(frozen=True, kw_only=True)
class AwsNetworkIds:
    """A network that exists already, for an `EksCluster` in it.

    Its private subnets need a way out (NAT, or endpoints for ECR, S3, EKS, STS and EC2) and, for internal
    load balancers, the tag `kubernetes.io/role/internal-elb`.

    Attributes:
        id: The VPC's ID.
        subnet_by_zone: One private subnet's ID for each zone, keyed as pools name the zone.
        ready: What must exist before a node can start there.
        cidr: What it is numbered from; a shared file system lets these addresses in.
    """

    id: pulumi.Input[str]
    subnet_by_zone: Mapping[str, pulumi.Input[str]]
    ready: Sequence[pulumi.Resource] = ()
    cidr: IPv4Network | None = None


@dataclass(frozen=True, kw_only=True)
class _Routes:
    """How a private subnet is routed."""

    table: AwsResource
    out: AwsResource
    association: AwsResource


class AwsNetwork(Component):
    """A VPC with private subnets, NAT, and a gateway endpoint that keeps traffic to S3 off the NAT gateway.

    Deliberately absent: network ACLs (security groups do the same, statefully) and flow logs.

    Outputs:
        id: The VPC's ID.
        node_subnet_ids: IDs of the private subnets, in the order of the zones.
        subnet_by_zone: The same, by zone.

    Attributes:
        ids: The same for an `EksCluster`.

    Raises:
        Refusal: The CIDR cannot hold the nodes.
    """

    TOKEN = "gpuplatform:index:AwsNetwork"  # noqa: S105 - a type token, no secret

    id: pulumi.Output[str]
    node_subnet_ids: list[pulumi.Output[str]]
    subnet_by_zone: dict[str, pulumi.Output[str]]
    ids: AwsNetworkIds

    def __init__(self, name: str, args: AwsNetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        layout = fitting(aws_layout(args.cidr, args.zones, args.nodes_max))
        super().__init__(name, opts)
        self._name = name
        self._args = args
        vpc = self._create(
            "vpc:Vpc",
            f"{name}-vpc",
            {
                "cidrBlock": str(args.cidr),
                # Without both, nodes cannot register: the private API endpoint is a private DNS name.
                "enableDnsHostnames": True,
                "enableDnsSupport": True,
                "tags": self._tags("vpc"),
            },
        )
        # Adopts the group that AWS creates with a VPC; no rules given means that it has none.
        self._create(
            "defaultSecurityGroup:DefaultSecurityGroup",
            f"{name}-default",
            {"vpcId": vpc.id, "tags": self._tags("default")},
        )
        self._private = self._subnets(vpc, "private", layout.private, "kubernetes.io/role/internal-elb")
        gateways = self._ways_out(vpc, self._subnets(vpc, "public", layout.public, "kubernetes.io/role/elb"))
        routes = [self._private_routes(vpc, zone, gateways) for zone in args.zones]
        self._create(
            "vpcEndpoint:VpcEndpoint",
            f"{name}-s3",
            {
                "vpcId": vpc.id,
                "serviceName": f"com.amazonaws.{args.region}.s3",
                "vpcEndpointType": "Gateway",
                "routeTableIds": [route.table.id for route in routes],
                "tags": self._tags("s3"),
            },
        )
        self.id = vpc.id
        self.subnet_by_zone = {zone: subnet.id for zone, subnet in self._private.items()}
        self.node_subnet_ids = list(self.subnet_by_zone.values())
        self.ids = AwsNetworkIds(
            id=self.id,
            subnet_by_zone=self.subnet_by_zone,
            # A node without a way out pulls no image and never joins, and on the way down it must outlive
            # the nodes.
            ready=[resource for route in routes for resource in (route.out, route.association)],
            cidr=args.cidr,
        )
        self.finish(id=self.id, node_subnet_ids=self.node_subnet_ids, subnet_by_zone=self.subnet_by_zone)

    def _create(
        self, kind: str, logical: str, props: Mapping[str, Any], after: Sequence[pulumi.Resource] = ()
    ) -> AwsResource:
        return AwsResource(f"aws:ec2/{kind}", logical, props, self.child(depends_on=list(after)))

    def _tags(self, *parts: str, **more: str) -> dict[str, str]:
        return self._args.tags.aws(Name="-".join((self._args.name, *parts)), **more)

    def _subnets(
        self, vpc: AwsResource, kind: str, blocks: Mapping[str, IPv4Network], role: str
    ) -> dict[str, AwsResource]:
        return {
            zone: self._create(
                "subnet:Subnet",
                f"{self._name}-{kind}-{zone}",
                {
                    "vpcId": vpc.id,
                    "cidrBlock": str(block),
                    # Load balancer controllers find subnets by this tag
                    # (https://docs.aws.amazon.com/eks/latest/userguide/network-load-balancing.html).
                    "tags": self._tags(kind, zone, **{role: "1"}),
                    **placement(zone),
                },
            )
            for zone, block in blocks.items()
        }

    def _ways_out(self, vpc: AwsResource, publics: Mapping[str, AwsResource]) -> dict[str, AwsResource]:
        """An internet gateway, and the NAT gateways by the zone that they stand in."""
        internet = self._create(
            "internetGateway:InternetGateway",
            f"{self._name}-internet",
            {"vpcId": vpc.id, "tags": self._tags("internet")},
        )
        table = self._table(vpc, "public")
        way_out = self._route(table, "public", {"gatewayId": internet.id})
        for zone, subnet in publics.items():
            self._associate(subnet, table, "public", zone)
        standing = self._args.zones if self._args.nat == "per-zone" else self._args.zones[:1]
        return {zone: self._nat(zone, publics[zone], way_out) for zone in standing}

    def _nat(self, zone: str, subnet: AwsResource, way_out: AwsResource) -> AwsResource:
        logical, tags = f"{self._name}-nat-{zone}", self._tags("nat", zone)
        # Both need the way out first: AWS allocates no address in a VPC without an internet gateway, and a
        # NAT gateway without a route to the internet goes into the state "failed".
        address = self._create("eip:Eip", logical, {"domain": "vpc", "tags": tags}, [way_out])
        return self._create(
            "natGateway:NatGateway",
            logical,
            {"subnetId": subnet.id, "allocationId": address.id, "tags": tags},
            [way_out],
        )

    def _private_routes(self, vpc: AwsResource, zone: str, gateways: Mapping[str, AwsResource]) -> _Routes:
        """A table for each zone even behind a single gateway: going to one per zone then changes a route."""
        table = self._table(vpc, "private", zone)
        gateway = gateways.get(zone) or next(iter(gateways.values()))
        return _Routes(
            table=table,
            out=self._route(table, f"private-{zone}", {"natGatewayId": gateway.id}),
            association=self._associate(self._private[zone], table, "private", zone),
        )

    def _table(self, vpc: AwsResource, *parts: str) -> AwsResource:
        return self._create(
            "routeTable:RouteTable",
            "-".join((self._name, *parts)),
            {"vpcId": vpc.id, "tags": self._tags(*parts)},
        )

    def _route(self, table: AwsResource, part: str, target: Mapping[str, pulumi.Input[str]]) -> AwsResource:
        """A resource of its own, not the table's inline list: that would remove a user's peering routes."""
        return self._create(
            "route:Route",
            f"{self._name}-{part}-out",
            {"routeTableId": table.id, "destinationCidrBlock": "0.0.0.0/0", **target},
        )

    def _associate(self, subnet: AwsResource, table: AwsResource, *parts: str) -> AwsResource:
        return self._create(
            "routeTableAssociation:RouteTableAssociation",
            "-".join((self._name, *parts)),
            {"subnetId": subnet.id, "routeTableId": table.id},
        )
