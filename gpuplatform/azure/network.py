"""The virtual network of one environment: its resource group, one node subnet, and one way out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from typing import Final

import pulumi
from pulumi_azure_native import network, resources

from gpuplatform.azure.resource import AzureResource
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

__all__ = ["AzureNetwork", "AzureNetworkArgs", "AzureNetworkIds", "FileEndpoints"]

FILE_ZONE: Final = "privatelink.file.core.windows.net"
LUSTRE_PORTS: Final = ["988", "1018-1023"]
ALL_PORTS: Final = ["0-65535"]


@dataclass(frozen=True, kw_only=True)
class AzureNetworkArgs(NetworkArgs):
    """What an `AzureNetwork` is made of: the arguments of every network, and those of Azure.

    Half of the CIDR becomes the node subnet. Zones are such as `("1", "2")`; a subnet spans all of them, so
    they shape nothing here: they are those of the cluster's system pool.

    Attributes:
        protect: Protects the resource group: deleting a group deletes everything in it, the cluster included.
        lustre: What each file system of Azure Managed Lustre holds, GiB, by its tier: each gets a subnet of
            its own. A new one comes last, since none can move.
        files: Whether file shares are mounted over private endpoints: they get a subnet and a DNS zone.
    """

    protect: bool = True
    lustre: Mapping[str, int] = field(default_factory=dict)
    files: bool = False


@dataclass(frozen=True, kw_only=True)
class FileEndpoints:
    """Where private endpoints of file shares go.

    Attributes:
        subnet_id: Their subnet.
        zone_id: The private DNS zone `privatelink.file.core.windows.net`; a virtual network has one.
        ready: What must exist before a node finds an endpoint by its name.
    """

    subnet_id: pulumi.Input[str]
    zone_id: pulumi.Input[str]
    ready: Sequence[pulumi.Resource] = ()


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
        lustre_subnet_ids: The subnet of each Lustre file system, by its tier.
        files: Where private endpoints of file shares go; None where there are none.
        ready: What must exist before a node can start there.
    """

    resource_group_name: pulumi.Input[str]
    node_subnet_id: pulumi.Input[str]
    egress_cidrs: Sequence[pulumi.Input[str]]
    zones: tuple[str, ...]
    pod_cidr: IPv4Network = AZURE_POD_CIDR
    service_cidr: IPv4Network = AZURE_SERVICE_CIDR
    lustre_subnet_ids: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    files: FileEndpoints | None = None
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
        layout = fitting(azure_layout(args.cidr, args.nodes_max, args.lustre, endpoints=args.files))
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
        inside = _Inside(group=group, network=virtual_network)
        lustre = self._lustre(name, args, layout, inside)
        endpoints = self._endpoints(name, layout, inside, after=[*lustre.values()])
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
            # A network takes one change at a time (AnotherOperationInProgress), and the nodes' subnet comes
            # last: what a kept file system comes after would be kept with it.
            opts=self.child(depends_on=[*lustre.values(), *([endpoints] if endpoints else [])]),
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
            lustre_subnet_ids={tier: subnet.id for tier, subnet in lustre.items()},
            files=self._files(name, args, endpoints, inside) if endpoints else None,
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

    def _lustre(
        self, name: str, args: AzureNetworkArgs, layout: AzureLayout, inside: _Inside
    ) -> dict[str, network.Subnet]:
        """A subnet for each file system, and one security group for all of them.

        A kept file system keeps what it stands on: this subnet, the network and the group, and neither the
        NAT gateway nor the nodes' subnet. So its machines, which are Azure's own, reach Azure's services by
        themselves and not by the gateway.
        """
        if not layout.lustre:
            return {}
        security_group = network.NetworkSecurityGroup(
            f"{name}-lustre-security-group",
            network_security_group_name=_physical(args, "lustre-nsg"),
            resource_group_name=inside.group.name,
            location=args.region,
            security_rules=_lustre_traffic(args.cidr),
            tags=args.tags.azure(),
            opts=self.child(),
        )
        subnets: dict[str, network.Subnet] = {}
        for tier, block in layout.lustre.items():
            subnets[tier] = network.Subnet(
                f"{name}-lustre-{tier}",
                subnet_name=f"lustre-{tier}",
                resource_group_name=inside.group.name,
                virtual_network_name=inside.network.name,
                address_prefix=str(block),
                network_security_group=network.NetworkSecurityGroupArgs(id=security_group.id),
                default_outbound_access=True,
                opts=self.child(depends_on=[*subnets.values()]),
            )
        return subnets

    def _endpoints(
        self, name: str, layout: AzureLayout, inside: _Inside, *, after: Sequence[pulumi.Resource]
    ) -> network.Subnet | None:
        """The subnet of private endpoints."""
        if layout.endpoints is None:
            return None
        return network.Subnet(
            f"{name}-endpoints",
            subnet_name="endpoints",
            resource_group_name=inside.group.name,
            virtual_network_name=inside.network.name,
            address_prefix=str(layout.endpoints),
            default_outbound_access=False,
            opts=self.child(depends_on=after),
        )

    def _files(
        self, name: str, args: AzureNetworkArgs, subnet: network.Subnet, inside: _Inside
    ) -> FileEndpoints:
        """The zone in which nodes find private endpoints of file shares.

        Source: https://learn.microsoft.com/azure/storage/files/storage-files-networking-dns.
        """
        zone = AzureResource(
            "azure-native:privatedns:PrivateZone",
            f"{name}-file-zone",
            {
                "privateZoneName": FILE_ZONE,
                "resourceGroupName": inside.group.name,
                "location": "Global",
                "tags": args.tags.azure(),
            },
            self.child(),
        )
        link = AzureResource(
            "azure-native:privatedns:VirtualNetworkLink",
            f"{name}-file-zone-link",
            {
                "virtualNetworkLinkName": _physical(args, "files"),
                "privateZoneName": zone.name,
                "resourceGroupName": inside.group.name,
                "location": "Global",
                "registrationEnabled": False,
                "virtualNetwork": {"id": inside.network.id},
                "tags": args.tags.azure(),
            },
            self.child(),
        )
        return FileEndpoints(subnet_id=subnet.id, zone_id=zone.id, ready=(link,))


@dataclass(frozen=True, kw_only=True)
class _Inside:
    """Where the network's parts go."""

    group: resources.ResourceGroup
    network: network.VirtualNetwork


def _lustre_traffic(cidr: IPv4Network) -> list[network.SecurityRuleArgs]:
    """What the service asks for: its ports within the network, and Azure's own services from the subnet.

    Source: https://learn.microsoft.com/azure/azure-managed-lustre/amlfs-prerequisites, "Subnet access and
    permissions". The ports are 988 and 1019-1023; 1018 is what Lustre's documentation begins with. Azure's
    default rules would let them pass as well; these stay when somebody denies what is left.
    """

    def rule(name: str, direction: str, to: str, ports: list[str], protocol: str) -> network.SecurityRuleArgs:
        return network.SecurityRuleArgs(
            name=name,
            priority=110 if ports is ALL_PORTS else 100,
            direction=direction,
            access=network.SecurityRuleAccess.ALLOW,
            protocol=protocol,
            source_address_prefix=str(cidr),
            source_port_range="*",
            destination_address_prefix=to,
            destination_port_ranges=ports,
        )

    return [
        *(
            rule(f"lustre-{way.lower()}", way, str(cidr), LUSTRE_PORTS, "Tcp")
            for way in ("Inbound", "Outbound")
        ),
        rule("azure-outbound", "Outbound", "AzureCloud", ALL_PORTS, "*"),
    ]


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
