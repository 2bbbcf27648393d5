"""The networks of GPU traffic: VPCs, subnets, and the objects by which pods in a GKE cluster name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

import pulumi

from gpuplatform.component import Component
from gpuplatform.contracts import ClusterHandle
from gpuplatform.errors import Refusal
from gpuplatform.gcp.fabric_layout import gpu_subnets
from gpuplatform.gcp.resource import GcpResource
from gpuplatform.kubernetes import KubernetesObject
from gpuplatform.naming import fit
from gpuplatform.profile import NodeProfile
from gpuplatform.profile.fabric import NoFabric, NvlinkDomain, Roce
from gpuplatform.profile.gcp import NodeNetwork, node_networks

__all__ = ["GkeGpuNetworks", "GkeGpuNetworksArgs", "NodeInterface", "in_one_zone"]

NETWORKING = "networking.gke.io/v1"


@dataclass(frozen=True, kw_only=True)
class NodeInterface:
    """One extra interface of a pool's nodes.

    Attributes:
        network: The VPC's name.
        subnetwork: The subnet's name.
    """

    network: pulumi.Input[str]
    subnetwork: pulumi.Input[str]


@dataclass(frozen=True, kw_only=True)
class GkeGpuNetworksArgs:
    """What a `GkeGpuNetworks` is made of.

    Attributes:
        name: Prefix of every physical name, such as `vision-prod`.
        project: The project's ID.
        region: The cluster's region.
        cidr: What the cluster itself is numbered from; these networks stay beside it.
        cluster: The cluster, made with multi-networking.
        profiles: The cluster's pools.
        zones: Each pool's zones, by the pool's name.

    Raises:
        Refusal: A pool with a fabric is in several zones, or there are too many of them.
    """

    name: str
    project: str
    region: str
    cidr: IPv4Network
    cluster: ClusterHandle
    profiles: Sequence[NodeProfile]
    zones: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        for profile in self.profiles:
            in_one_zone(profile, self.zones[profile.pool])


class GkeGpuNetworks(Component):
    """The VPCs that a cluster's pools need for GPUDirect beside the cluster's own, and their objects in it.

    TCPX and TCPXO networks serve all pools of the cluster; RoCE networks belong to a pool, since their VPC is
    bound to one zone. Deliberately absent: ways out. GPU traffic has no business outside its own network.

    Attributes:
        interfaces: Each pool's extra interfaces in the nodes' order, by the pool's name.
        objects: What each pool's nodes come after, by the pool's name.
    """

    TOKEN = "gpuplatform:index:GkeGpuNetworks"  # noqa: S105 - a type token, no secret

    interfaces: dict[str, tuple[NodeInterface, ...]]
    objects: dict[str, tuple[pulumi.Resource, ...]]

    def __init__(
        self, name: str, args: GkeGpuNetworksArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        wanted = {profile.pool: node_networks(profile.pool, profile.fabric) for profile in args.profiles}
        ranges = gpu_subnets(args.cidr, list(wanted.values()))
        super().__init__(name, opts)
        self._name = name
        self._args = args
        self._ranges = ranges
        self._vpcs: dict[str, GcpResource] = {}
        self._subnets: dict[str, GcpResource] = {}
        self._objects: dict[str, pulumi.Resource] = {}
        self.interfaces = {}
        self.objects = {}
        for profile in args.profiles:
            networks = wanted[profile.pool]
            self.interfaces[profile.pool] = tuple(self._interface(profile, each) for each in networks)
            named = dict.fromkeys(network.name for network in networks if network.name)
            self.objects[profile.pool] = tuple(self._objects[each] for each in named)
        self.finish()

    def _interface(self, profile: NodeProfile, network: NodeNetwork) -> NodeInterface:
        vpc = self._vpc(profile, network)
        if not network.subnet:
            # The network profile of bare-metal machines makes it, under this name
            # (GoogleCloudPlatform/cluster-toolkit, modules/network/gpu-rdma-vpc).
            return NodeInterface(
                network=vpc.name, subnetwork=pulumi.Output.concat("default-subnet-1-", vpc.name)
            )
        subnet = self._subnet(network, vpc)
        if network.name and network.name not in self._objects:
            self._objects[network.name] = self._object(network, vpc, subnet)
        return NodeInterface(network=vpc.name, subnetwork=subnet.name)

    def _vpc(self, profile: NodeProfile, network: NodeNetwork) -> GcpResource:
        if network.vpc in self._vpcs:
            return self._vpcs[network.vpc]
        physical = fit("GCP resource", self._args.name, network.vpc)
        props: dict[str, Any] = {"name": physical, "autoCreateSubnetworks": False, "routingMode": "REGIONAL"}
        if network.mtu is not None:
            props["mtu"] = network.mtu
        if network.device == "RDMA":
            props["networkProfile"] = self._network_profile(profile)
        vpc = GcpResource("gcp:compute/network:Network", f"{self._name}-{network.vpc}", props, self.child())
        self._vpcs[network.vpc] = vpc
        if network.device == "NetDevice":
            self._inside(network, vpc, physical)
        return vpc

    def _network_profile(self, profile: NodeProfile) -> str:
        """One of Google's, one a zone (https://cloud.google.com/vpc/docs/rdma-network-profiles)."""
        roce = profile.fabric.roce if isinstance(profile.fabric, NvlinkDomain) else profile.fabric
        assert isinstance(roce, Roce)  # noqa: S101 - no other fabric has RDMA interfaces
        (zone,) = self._args.zones[profile.pool]
        return f"projects/{self._args.project}/global/networkProfiles/{zone}-{roce.network_profile}"

    def _inside(self, network: NodeNetwork, vpc: GcpResource, physical: str) -> None:
        """Nodes reach each other on every port, and nobody else does; an RDMA network takes no such rule."""
        GcpResource(
            "gcp:compute/firewall:Firewall",
            f"{self._name}-{network.vpc}-inside",
            {
                "name": fit("GCP resource", physical, "inside"),
                "network": vpc.id,
                "direction": "INGRESS",
                "sourceRanges": [str(self._ranges[network.subnet])],
                "allows": [{"protocol": "tcp"}, {"protocol": "udp"}, {"protocol": "icmp"}],
            },
            self.child(),
        )

    def _subnet(self, network: NodeNetwork, vpc: GcpResource) -> GcpResource:
        if network.subnet not in self._subnets:
            self._subnets[network.subnet] = GcpResource(
                "gcp:compute/subnetwork:Subnetwork",
                f"{self._name}-{network.subnet}-subnet",
                {
                    "name": fit("GCP resource", self._args.name, network.subnet),
                    "network": vpc.id,
                    "region": self._args.region,
                    "ipCidrRange": str(self._ranges[network.subnet]),
                },
                self.child(),
            )
        return self._subnets[network.subnet]

    def _object(self, network: NodeNetwork, vpc: GcpResource, subnet: GcpResource) -> pulumi.Resource:
        """The pair of objects that makes a subnet a network of the cluster; pods name it in an annotation."""
        cluster = self._args.cluster
        metadata = {"name": network.name}
        parameters = KubernetesObject(
            f"{self._name}-{network.name}-parameters",
            NETWORKING,
            "GKENetworkParamSet",
            {
                "metadata": metadata,
                "spec": {"vpc": vpc.name, "vpcSubnet": subnet.name, "deviceMode": network.device},
            },
            self.child(
                provider=cluster.provider, deleted_with=cluster.cluster, depends_on=list(cluster.ready)
            ),
        )
        reference = {"group": "networking.gke.io", "kind": "GKENetworkParamSet", "name": network.name}
        return KubernetesObject(
            f"{self._name}-{network.name}-network",
            NETWORKING,
            "Network",
            {"metadata": metadata, "spec": {"type": "Device", "parametersRef": reference}},
            self.child(
                provider=cluster.provider,
                deleted_with=cluster.cluster,
                depends_on=[parameters, *cluster.ready],
            ),
        )


def in_one_zone(profile: NodeProfile, zones: tuple[str, ...]) -> None:
    """Refuses a pool whose fabric would end at a zone's border.

    Raises:
        Refusal: The pool has a fabric and not exactly one zone.
    """
    if isinstance(profile.fabric, NoFabric) or len(zones) == 1:
        return
    raise Refusal(
        f"{profile.sku} in {', '.join(zones) or 'no zone'}: its fabric is inside one zone",
        where=f"node_pools.{profile.pool}.zones",
        rule="nodes in two zones reach each other by TCP only, and an RDMA network is bound to one zone",
        way_out=f"name one, such as zones: [{zones[0] if zones else 'ZONE'}], or say fabric: none",
    )
