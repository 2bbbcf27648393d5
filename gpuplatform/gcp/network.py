"""The VPC of one environment: one regional subnet with ranges for pods and services, NAT, nothing public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Final

import pulumi

from gpuplatform.component import Component
from gpuplatform.config.layout import GcpLayout, fitting, gcp_layout, gcp_private_services
from gpuplatform.contracts import NetworkArgs
from gpuplatform.gcp.resource import GcpResource
from gpuplatform.naming import fit

__all__ = ["GcpNetwork", "GcpNetworkArgs", "GcpNetworkIds"]

PODS_RANGE = "pods"
SERVICES_RANGE = "services"

WEBHOOK_PORTS: Final = ("8082", "9443")
"""Kueue's visibility API and its webhooks (kubernetes-sigs/kueue charts/kueue)."""


@dataclass(frozen=True, kw_only=True)
class GcpNetworkArgs(NetworkArgs):
    """What a `GcpNetwork` is made of: the arguments of every network, and those of Google Cloud.

    Nodes, pods, services and the control plane are numbered from the CIDR. Zones are such as `us-central1-a`;
    a subnet spans its whole region, so they shape nothing here: they are those of the cluster. Networks,
    subnets, routers and NATs take no labels on Google Cloud.

    Attributes:
        private_services: Whether Google's managed services, such as file systems, get a range of the CIDR and
            a peering.
    """

    private_services: bool = False


@dataclass(frozen=True, kw_only=True)
class GcpNetworkIds:
    """A network that exists already, for a `GkeCluster` in it.

    Its subnet needs Private Google Access and a Cloud NAT: the nodes have no public addresses.

    Attributes:
        id: The VPC's ID or self link.
        node_subnet_id: The subnet's ID or self link, in the cluster's region.
        pods_range: Name of the subnet's secondary range for pods.
        services_range: Name of its secondary range for services.
        zones: Where nodes may be.
        control_plane_cidr: A free /28 for the control plane; Google picks one where it is left out.
        ready: What must exist before a node can start there.
        private_services: The peering with Google's managed services, where it was made here.
    """

    id: pulumi.Input[str]
    node_subnet_id: pulumi.Input[str]
    pods_range: pulumi.Input[str]
    services_range: pulumi.Input[str]
    zones: tuple[str, ...]
    control_plane_cidr: IPv4Network | None = None
    ready: Sequence[pulumi.Resource] = ()
    private_services: pulumi.Resource | None = None


class GcpNetwork(Component):
    """A VPC with one private subnet and NAT for what is not Google's.

    GKE makes the firewall rules that nodes and control plane need, and a VPC lets nothing else in
    (https://cloud.google.com/kubernetes-engine/docs/concepts/firewall-rules). Theirs let the control plane
    reach the nodes at ports 443 and 10250; the one rule here adds the ports of Kueue, whose webhooks and
    visibility API the control plane calls.

    Outputs:
        id: The VPC's ID.
        node_subnet_ids: The one subnet's ID, as a list for the sake of the other clouds.
        pods_range: Name of the secondary range for pods.
        services_range: Name of the secondary range for services.

    Attributes:
        ids: The same for a `GkeCluster`.

    Raises:
        Refusal: The CIDR cannot hold the nodes, or has no room for managed services.
    """

    TOKEN = "gpuplatform:index:GcpNetwork"  # noqa: S105 - a type token, no secret

    id: pulumi.Output[str]
    node_subnet_ids: list[pulumi.Output[str]]
    pods_range: str
    services_range: str
    ids: GcpNetworkIds

    def __init__(self, name: str, args: GcpNetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        layout = fitting(gcp_layout(args.cidr, args.nodes_max))
        services = gcp_private_services(args.cidr, layout) if args.private_services else None
        super().__init__(name, opts)
        network = GcpResource(
            "gcp:compute/network:Network",
            f"{name}-vpc",
            {
                "name": fit("GCP resource", args.name),
                "autoCreateSubnetworks": False,
                "routingMode": "REGIONAL",
            },
            self.child(),
        )
        subnet = self._subnet(name, args, network, layout)
        webhooks = self._webhooks(name, args, network, layout)
        self.id = network.id
        self.node_subnet_ids = [subnet.id]
        self.pods_range = PODS_RANGE
        self.services_range = SERVICES_RANGE
        self.ids = GcpNetworkIds(
            id=network.id,
            node_subnet_id=subnet.id,
            pods_range=PODS_RANGE,
            services_range=SERVICES_RANGE,
            zones=args.zones,
            control_plane_cidr=layout.control_plane,
            # Without NAT nodes could not pull their images, without the rule no chart's webhook would answer.
            ready=(self._nat(name, args, network, subnet), webhooks),
            private_services=self._peering(name, args, network, services) if services else None,
        )
        self.finish(
            id=self.id,
            node_subnet_ids=self.node_subnet_ids,
            pods_range=self.pods_range,
            services_range=self.services_range,
        )

    def _subnet(
        self, name: str, args: GcpNetworkArgs, network: GcpResource, layout: GcpLayout
    ) -> GcpResource:
        ranges = ((PODS_RANGE, layout.pods), (SERVICES_RANGE, layout.services))
        props = {
            "name": fit("GCP resource", args.name, "nodes"),
            "network": network.id,
            "region": args.region,
            "ipCidrRange": str(layout.nodes),
            # Nodes without public addresses reach Google's APIs and registries, and only so
            # (https://cloud.google.com/vpc/docs/private-google-access).
            "privateIpGoogleAccess": True,
            "secondaryIpRanges": [
                {"rangeName": range_name, "ipCidrRange": str(block)} for range_name, block in ranges
            ],
        }
        return GcpResource("gcp:compute/subnetwork:Subnetwork", f"{name}-nodes", props, self.child())

    def _webhooks(
        self, name: str, args: GcpNetworkArgs, network: GcpResource, layout: GcpLayout
    ) -> GcpResource:
        props = {
            "name": fit("GCP resource", args.name, "webhooks"),
            "network": network.id,
            "direction": "INGRESS",
            "sourceRanges": [str(layout.control_plane)],
            "allows": [{"protocol": "tcp", "ports": list(WEBHOOK_PORTS)}],
        }
        return GcpResource("gcp:compute/firewall:Firewall", f"{name}-webhooks", props, self.child())

    def _peering(
        self, name: str, args: GcpNetworkArgs, network: GcpResource, block: IPv4Network
    ) -> GcpResource:
        """Private services access: a range of addresses for Google's services, and the peering with them.

        A VPC has one such peering for all of them
        (https://cloud.google.com/vpc/docs/configure-private-services-access). It takes a while after the last
        file system's deletion until Google lets go of it, and a VPC that is still peered is not deleted.
        """
        address = GcpResource(
            "gcp:compute/globalAddress:GlobalAddress",
            f"{name}-services-range",
            {
                "name": fit("GCP resource", args.name, "services"),
                "network": network.id,
                "purpose": "VPC_PEERING",
                "addressType": "INTERNAL",
                "address": str(block.network_address),
                "prefixLength": block.prefixlen,
                "labels": args.tags.gcp(),
            },
            self.child(),
        )
        props = {
            "network": network.id,
            "service": "servicenetworking.googleapis.com",
            "reservedPeeringRanges": [address.name],
            "deletionPolicy": "REMOVE_PEERING",
        }
        return GcpResource(
            "gcp:servicenetworking/connection:Connection", f"{name}-services", props, self.child()
        )

    def _nat(self, name: str, args: GcpNetworkArgs, network: GcpResource, subnet: GcpResource) -> GcpResource:
        router = GcpResource(
            "gcp:compute/router:Router",
            f"{name}-router",
            {
                "name": fit("GCP resource", args.name, "router"),
                "network": network.id,
                "region": args.region,
            },
            self.child(),
        )
        props = {
            "name": fit("GCP resource", args.name, "nat"),
            "router": router.name,
            "region": args.region,
            "natIpAllocateOption": "AUTO_ONLY",
            # This subnet only: networks that are added for GPU traffic have no business outside.
            "sourceSubnetworkIpRangesToNat": "LIST_OF_SUBNETWORKS",
            "subnetworks": [{"name": subnet.id, "sourceIpRangesToNats": ["ALL_IP_RANGES"]}],
            # A node has 64 ports unless this is on, which a data loader with many workers uses up
            # (https://cloud.google.com/nat/docs/ports-and-addresses); the two exclude one another.
            "enableDynamicPortAllocation": True,
            "enableEndpointIndependentMapping": False,
            "logConfig": {"enable": True, "filter": "ERRORS_ONLY"},
        }
        return GcpResource("gcp:compute/routerNat:RouterNat", f"{name}-nat", props, self.child())
