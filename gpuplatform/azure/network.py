"""The virtual network of one environment: its resource group, one node subnet, and one way out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

import pulumi
from pulumi_azure_native import network, resources

from gpuplatform.component import Component
from gpuplatform.config.layout import (
    AZURE_POD_CIDR,
    AZURE_SERVICE_CIDR,
    AzureLayout,
    azure_layout,
    fitting,
)
from gpuplatform.contracts import NetworkArgs
from gpuplatform.naming import fit

__all__ = ["AzureNetwork", "AzureNetworkArgs", "AzureNetworkIds"]


@dataclass(frozen=True, kw_only=True)
class AzureNetworkArgs(NetworkArgs):
    """What an `AzureNetwork` is made of: the arguments of every network, and those of Azure.

    Half of the CIDR becomes the node subnet. Zones are such as `("1", "2")`; a subnet spans all of them, so
    they shape nothing here: they are those of the cluster's system pool.

    Attributes:
        protect: Protects the resource group: deleting a group deletes everything in it, the cluster included.
    """

    protect: bool = True


@dataclass(frozen=True, kw_only=True)
class AzureNetworkIds:
    """A network that exists already, for an `AksCluster` in it.

    Attributes:
        resource_group_name: The group that the cluster goes into.
        node_subnet_id: The nodes' subnet; it has a NAT gateway.
        egress_cidrs: The NAT gateway's public addresses, such as `20.1.2.3/32`: the nodes reach a public
            Kubernetes API from there.
        zones: Availability zones of the nodes.
        pod_cidr: Numbers the pods; overlaps nothing that pods talk to.
        service_cidr: Numbers the services; overlaps nothing that pods talk to.
        ready: What must exist before a node can start there.
    """

    resource_group_name: pulumi.Input[str]
    node_subnet_id: pulumi.Input[str]
    egress_cidrs: Sequence[pulumi.Input[str]]
    zones: tuple[str, ...]
    pod_cidr: IPv4Network = AZURE_POD_CIDR
    service_cidr: IPv4Network = AZURE_SERVICE_CIDR
    ready: Sequence[pulumi.Resource] = ()


class AzureNetwork(Component):
    """A resource group and a virtual network whose nodes have no public address and one NAT gateway.

    Deliberately absent: a way in from the internet. The subnet's security group adds to Azure's default rules
    only what pods need among themselves; AKS opens a group of its own for a public Service, never this one.

    Outputs:
        id: The virtual network's resource ID.
        node_subnet_ids: The one node subnet's resource ID, as a list, as on the other clouds.
        resource_group_name: The group that holds the environment.
        egress_cidrs: Where the nodes' traffic to the internet comes from.

    Attributes:
        ids: The same for an `AksCluster`.

    Raises:
        Refusal: The CIDR cannot hold the nodes.
    """

    TOKEN = "gpuplatform:index:AzureNetwork"  # noqa: S105 - a type token, no secret

    id: pulumi.Output[str]
    node_subnet_ids: list[pulumi.Output[str]]
    resource_group_name: pulumi.Output[str]
    egress_cidrs: list[pulumi.Output[str]]
    ids: AzureNetworkIds

    def __init__(self, name: str, args: AzureNetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        layout = fitting(azure_layout(args.cidr, args.nodes_max))
        super().__init__(name, opts)
        tags = args.tags.azure()
        group = resources.ResourceGroup(
            f"{name}-group",
            resource_group_name=fit("resource group", args.name),
            location=args.region,
            tags=tags,
            opts=self.child(protect=args.protect),
        )
        nat_address, nat_gateway = self._way_out(name, args, group)
        security_group = network.NetworkSecurityGroup(
            f"{name}-security-group",
            network_security_group_name=_physical(args, "nsg"),
            resource_group_name=group.name,
            location=args.region,
            security_rules=[_pod_traffic(layout, direction) for direction in ("Inbound", "Outbound")],
            tags=tags,
            opts=self.child(),
        )
        # No `subnets` here: an update that lists some takes away those it does not list; one without the list
        # leaves all alone since API version 2023-11-01 (Azure/bicep-types-az#1687,
        # pulumi/pulumi-azure-native#611; the SDK's default is later).
        virtual_network = network.VirtualNetwork(
            f"{name}-vnet",
            virtual_network_name=_physical(args, "vnet"),
            resource_group_name=group.name,
            location=args.region,
            address_space=network.AddressSpaceArgs(address_prefixes=[str(args.cidr)]),
            tags=tags,
            opts=self.child(),
        )
        node_subnet = network.Subnet(
            f"{name}-nodes",
            subnet_name="nodes",
            resource_group_name=group.name,
            virtual_network_name=virtual_network.name,
            address_prefix=str(layout.nodes),
            nat_gateway=network.SubResourceArgs(id=nat_gateway.id),
            network_security_group=network.NetworkSecurityGroupArgs(id=security_group.id),
            # Nothing leaves but through the NAT gateway; create-time only.
            default_outbound_access=False,
            # Not deleted_with the virtual network: the NAT gateway would go first, and is still in use.
            opts=self.child(),
        )
        self.id = virtual_network.id
        self.node_subnet_ids = [node_subnet.id]
        self.resource_group_name = group.name
        self.egress_cidrs = [nat_address.ip_address.apply(lambda address: f"{address}/32")]
        self.ids = AzureNetworkIds(
            resource_group_name=group.name,
            node_subnet_id=node_subnet.id,
            egress_cidrs=self.egress_cidrs,
            zones=args.zones,
            pod_cidr=layout.pods,
            service_cidr=layout.services,
        )
        self.finish(
            id=self.id,
            node_subnet_ids=self.node_subnet_ids,
            resource_group_name=self.resource_group_name,
            egress_cidrs=self.egress_cidrs,
        )

    def _way_out(
        self, name: str, args: AzureNetworkArgs, group: resources.ResourceGroup
    ) -> tuple[network.PublicIPAddress, network.NatGateway]:
        """A NAT gateway with one address: 64,512 flows to each destination.

        Source: https://learn.microsoft.com/azure/aks/nat-gateway. It names no zone, so Azure places it in one
        and an outage there cuts the way out; the zone-redundant SKU (StandardV2) needs a later API version
        than the SDK's default.
        """
        address = network.PublicIPAddress(
            f"{name}-nat-address",
            public_ip_address_name=_physical(args, "nat-ip"),
            resource_group_name=group.name,
            location=args.region,
            sku=network.PublicIPAddressSkuArgs(name=network.PublicIPAddressSkuName.STANDARD),
            public_ip_allocation_method=network.IPAllocationMethod.STATIC,
            tags=args.tags.azure(),
            opts=self.child(),
        )
        gateway = network.NatGateway(
            f"{name}-nat",
            nat_gateway_name=_physical(args, "nat"),
            resource_group_name=group.name,
            location=args.region,
            sku=network.NatGatewaySkuArgs(name=network.NatGatewaySkuName.STANDARD),
            public_ip_addresses=[network.SubResourceArgs(id=address.id)],
            tags=args.tags.azure(),
            opts=self.child(),
        )
        return address, gateway


def _pod_traffic(layout: AzureLayout, direction: str) -> network.SecurityRuleArgs:
    """Packets between pods leave a node as they are, so the subnet's rules see pod addresses.

    Those belong to no virtual network, and the default rules would drop them
    (https://learn.microsoft.com/azure/aks/concepts-network-azure-cni-overlay#network-security-groups).
    """
    return network.SecurityRuleArgs(
        name=f"pods-{direction.lower()}",
        priority=100,
        direction=direction,
        access=network.SecurityRuleAccess.ALLOW,
        protocol=network.SecurityRuleProtocol.ASTERISK,
        source_address_prefixes=[str(layout.nodes), str(layout.pods)],
        source_port_range="*",
        destination_address_prefix=str(layout.pods),
        destination_port_range="*",
    )


def _physical(args: AzureNetworkArgs, part: str) -> str:
    # Of the network's resource types virtual networks have the shortest names (64; the others 80).
    return fit("virtual network", args.name, part)
