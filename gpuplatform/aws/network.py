"""The VPC of one environment: private subnets for nodes, small public ones for NAT, nothing open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any, Literal

import pulumi
from pulumi_aws import ec2

from gpuplatform.aws.zones import placement
from gpuplatform.component import Component
from gpuplatform.config.layout import AwsLayout, TooSmall, aws_layout
from gpuplatform.errors import Refusal
from gpuplatform.tags import Tags

__all__ = ["AwsNetwork", "AwsNetworkArgs", "AwsNetworkIds"]

Nat = Literal["single", "per-zone"]


@dataclass(frozen=True, kw_only=True)
class AwsNetworkArgs:
    """What a network is made for.

    Attributes:
        name: Prefix of every `Name` tag, such as `vision-prod`.
        cidr: The VPC's block, /16 to /28.
        zones: Zone IDs (`use1-az4`) or the account's own zone names (`us-east-1a`), one private and one
            public subnet each.
        nodes_max: Nodes at every autoscaler's maximum, so that the subnets hold them with their pods.
        region: Such as `us-east-1`.
        tags: Tags of every resource.
        nat: One NAT gateway for all zones (cheaper; the zone's outage takes the others' way out along, and
            traffic between zones is billed), or one in each.
    """

    name: str
    cidr: IPv4Network
    zones: tuple[str, ...]
    nodes_max: int
    region: str
    tags: Tags
    nat: Nat = "single"


@dataclass(frozen=True, kw_only=True)
class AwsNetworkIds:
    """A network that exists already, for a cluster of one's own in it.

    Its private subnets need a way out (NAT, or endpoints for ECR, S3, EKS, STS and EC2) and, for internal
    load balancers, the tag `kubernetes.io/role/internal-elb`.

    Attributes:
        id: The VPC's ID.
        subnet_by_zone: One private subnet's ID for each zone, keyed as pools name the zone.
        ready: What must exist before a node can start there.
    """

    id: pulumi.Input[str]
    subnet_by_zone: Mapping[str, pulumi.Input[str]]
    ready: Sequence[pulumi.Resource] = ()


class AwsNetwork(Component):
    """A VPC with private subnets, NAT, and a gateway endpoint that keeps traffic to S3 off the NAT gateway.

    Deliberately absent: network ACLs (security groups do the same, statefully) and flow logs.

    Outputs:
        id: The VPC's ID.
        node_subnet_ids: IDs of the private subnets, in the order of the zones.
        subnet_by_zone: The same, by zone.

    Attributes:
        ready: The private subnets' way out: a node without one pulls no image and never joins, and on the way
            down it must outlive the nodes.

    Raises:
        Refusal: The CIDR cannot hold the nodes.
    """

    TOKEN = "gpuplatform:index:AwsNetwork"  # noqa: S105 - a type token, no secret

    id: pulumi.Output[str]
    node_subnet_ids: list[pulumi.Output[str]]
    subnet_by_zone: dict[str, pulumi.Output[str]]
    ready: Sequence[pulumi.Resource]

    def __init__(self, name: str, args: AwsNetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        layout = _layout(args)
        super().__init__(name, opts)
        self._name = name
        self._args = args
        vpc = ec2.Vpc(
            f"{name}-vpc",
            cidr_block=str(args.cidr),
            # Without both, nodes cannot register: the private API endpoint is a private DNS name.
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=self._tags("vpc"),
            opts=self.child(),
        )
        # Adopts the group that AWS creates with a VPC; no rules given means that it has none.
        ec2.DefaultSecurityGroup(
            f"{name}-default", vpc_id=vpc.id, tags=self._tags("default"), opts=self.child()
        )
        self.ready = []
        self._private = self._subnets(vpc, layout, "private", "kubernetes.io/role/internal-elb")
        gateways = self._ways_out(vpc, self._subnets(vpc, layout, "public", "kubernetes.io/role/elb"))
        tables = [self._private_routes(vpc, zone, gateways) for zone in args.zones]
        ec2.VpcEndpoint(
            f"{name}-s3",
            vpc_id=vpc.id,
            service_name=f"com.amazonaws.{args.region}.s3",
            vpc_endpoint_type="Gateway",
            route_table_ids=[table.id for table in tables],
            tags=self._tags("s3"),
            opts=self.child(),
        )
        self.id = vpc.id
        self.subnet_by_zone = {zone: subnet.id for zone, subnet in self._private.items()}
        self.node_subnet_ids = list(self.subnet_by_zone.values())
        self.finish(id=self.id, node_subnet_ids=self.node_subnet_ids, subnet_by_zone=self.subnet_by_zone)

    def _tags(self, *parts: str, **more: str) -> dict[str, str]:
        return self._args.tags.aws(Name="-".join((self._args.name, *parts)), **more)

    def _subnets(
        self, vpc: Any, layout: AwsLayout, kind: Literal["private", "public"], role: str
    ) -> dict[str, Any]:
        blocks = layout.private if kind == "private" else layout.public
        return {
            zone: ec2.Subnet(
                f"{self._name}-{kind}-{zone}",
                vpc_id=vpc.id,
                cidr_block=str(block),
                # Load balancer controllers find subnets by this tag
                # (https://docs.aws.amazon.com/eks/latest/userguide/network-load-balancing.html).
                tags=self._tags(kind, zone, **{role: "1"}),
                opts=self.child(),
                **placement(zone),
            )
            for zone, block in blocks.items()
        }

    def _ways_out(self, vpc: Any, publics: Mapping[str, Any]) -> dict[str, Any]:
        """An internet gateway, and the NAT gateways by the zone that they stand in."""
        name = self._name
        internet = ec2.InternetGateway(
            f"{name}-internet", vpc_id=vpc.id, tags=self._tags("internet"), opts=self.child()
        )
        table = self._table(vpc, "public")
        way_out = ec2.Route(
            f"{name}-public-out",
            route_table_id=table.id,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=internet.id,
            opts=self.child(),
        )
        for zone, subnet in publics.items():
            self._associate(subnet, table, "public", zone)
        standing = self._args.zones if self._args.nat == "per-zone" else self._args.zones[:1]
        return {zone: self._nat(zone, publics[zone], way_out) for zone in standing}

    def _nat(self, zone: str, subnet: Any, way_out: Any) -> Any:
        address = ec2.Eip(
            f"{self._name}-nat-{zone}",
            domain="vpc",
            tags=self._tags("nat", zone),
            # AWS allocates no address in a VPC without an internet gateway.
            opts=self.child(depends_on=[way_out]),
        )
        return ec2.NatGateway(
            f"{self._name}-nat-{zone}",
            subnet_id=subnet.id,
            allocation_id=address.id,
            tags=self._tags("nat", zone),
            # A gateway without a route to the internet goes into the state "failed".
            opts=self.child(depends_on=[way_out]),
        )

    def _private_routes(self, vpc: Any, zone: str, gateways: Mapping[str, Any]) -> Any:
        """A table for each zone even behind a single gateway: going to one per zone then changes a route."""
        table = self._table(vpc, "private", zone)
        gateway = gateways.get(zone) or next(iter(gateways.values()))
        # A resource of its own, not the table's inline list: that list would remove a user's peering routes.
        route = ec2.Route(
            f"{self._name}-private-{zone}-out",
            route_table_id=table.id,
            destination_cidr_block="0.0.0.0/0",
            nat_gateway_id=gateway.id,
            opts=self.child(),
        )
        association = self._associate(self._private[zone], table, "private", zone)
        self.ready = [*self.ready, route, association]
        return table

    def _table(self, vpc: Any, *parts: str) -> Any:
        return ec2.RouteTable(
            "-".join((self._name, *parts)), vpc_id=vpc.id, tags=self._tags(*parts), opts=self.child()
        )

    def _associate(self, subnet: Any, table: Any, *parts: str) -> Any:
        return ec2.RouteTableAssociation(
            "-".join((self._name, *parts)), subnet_id=subnet.id, route_table_id=table.id, opts=self.child()
        )


def _layout(args: AwsNetworkArgs) -> AwsLayout:
    layout = aws_layout(args.cidr, args.zones, args.nodes_max)
    if isinstance(layout, TooSmall):
        raise Refusal(
            str(layout),
            where="network.cidr",
            way_out="widen the CIDR, or lower the pools' maximum node counts",
        )
    return layout
