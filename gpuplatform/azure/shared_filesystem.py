"""Shared file systems on Azure: Azure Managed Lustre, and Azure Files over NFS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_azure_native import network, resources

from gpuplatform.azure.account import account_name, account_props, own_group
from gpuplatform.azure.network import AzureNetwork, AzureNetworkIds
from gpuplatform.azure.resource import AmlFilesystem, AzureResource
from gpuplatform.contracts import SharedFilesystemArgs, SharedFilesystemComponent, StorageHandle, Volume
from gpuplatform.errors import Refusal
from gpuplatform.naming import fit
from gpuplatform.storage import SharedFilesystemPlan

__all__ = ["AzureSharedFilesystem", "AzureSharedFilesystemArgs"]

LUSTRE_DRIVER: Final = "azurelustre.csi.azure.com"
FILES_DRIVER: Final = "file.csi.azure.com"
SHARE: Final = "data"
DAYS_DELETED: Final = 30
"""For how long a deleted share can be had back, days."""


@dataclass(frozen=True, kw_only=True)
class AzureSharedFilesystemArgs(SharedFilesystemArgs):
    """What an `AzureSharedFilesystem` is made of: the arguments of every one, and those of Azure.

    Attributes:
        network: The network whose nodes mount it, or the IDs of one that exists; it has what
            `AzureNetworkArgs.lustre` or `.files` asks for.
        subscription: The subscription's ID: names of storage accounts are unique in the world.

    Raises:
        Refusal: Azure cannot build it.
    """

    network: AzureNetwork | AzureNetworkIds
    subscription: str

    def __post_init__(self) -> None:
        plan, where = self.plan, f"storage.{self.plan.tier}"
        if plan.service not in {"azure-managed-lustre", "azure-files-nfs"}:
            raise Refusal(
                f"{plan.service} is not on Azure",
                where=where,
                way_out="azure-managed-lustre, azure-files-nfs",
            )
        if plan.source:
            raise Refusal(
                f"{plan.tier} would follow the bucket {plan.source}",
                where=f"{where}.source",
                rule="Azure Managed Lustre reaches a container by SAS tokens, so by shared keys "
                "(https://learn.microsoft.com/azure/azure-managed-lustre/amlfs-prerequisites), and buckets "
                "have none here",
                way_out="leave source out, and let pods mount both tiers",
            )
        if plan.service == "azure-managed-lustre" and plan.tier not in self.network_ids.lustre_subnet_ids:
            raise Refusal(
                f"the network has no subnet for {plan.tier}",
                where=where,
                rule="each file system of Azure Managed Lustre has a subnet of its own",
                way_out="name it in AzureNetworkArgs.lustre, or in AzureNetworkIds.lustre_subnet_ids",
            )
        if plan.service == "azure-files-nfs" and self.network_ids.files is None:
            raise Refusal(
                f"the network has no private endpoints for {plan.tier}",
                where=where,
                rule="NFS shares have no password: they are reached by private endpoints alone",
                way_out="set AzureNetworkArgs.files, or name AzureNetworkIds.files",
            )

    @property
    def network_ids(self) -> AzureNetworkIds:
        """What the file system needs to know of its network."""
        return self.network.ids if isinstance(self.network, AzureNetwork) else self.network


class AzureSharedFilesystem(SharedFilesystemComponent):
    """A Lustre file system in a subnet of its own, or a premium NFS share behind a private endpoint.

    It stands on the network at most, never on the cluster: what a kept resource stands on is kept with it.

    Deliberately absent: keys of one's own (both are encrypted by Azure's), and backups of Lustre, which has
    none; it is scratch for what a bucket holds for good.

    Outputs: those of every shared file system.
    """

    TOKEN = "gpuplatform:index:AzureSharedFilesystem"  # noqa: S105 - a type token, no secret

    def __init__(
        self, name: str, args: AzureSharedFilesystemArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        self._name, self._args = name, args
        group = own_group(
            self,
            name,
            args.name,
            "storage",
            args.plan.tier,
            region=args.region,
            tags=args.tags,
            protect=args.plan.keep,
        )
        lustre = args.plan.service == "azure-managed-lustre"
        self.finish_filesystem(self._lustre(group) if lustre else self._files(group))

    def _lustre(self, group: resources.ResourceGroup) -> StorageHandle:
        """Source: https://learn.microsoft.com/azure/azure-managed-lustre/create-file-system-portal."""
        args, plan = self._args, self._args.plan
        filesystem = AmlFilesystem(
            f"{self._name}-lustre",
            {
                "amlFilesystemName": fit("Managed Lustre", args.name, plan.tier),
                "resourceGroupName": group.name,
                "location": args.region,
                "sku": {"name": plan.sku},
                "storageCapacityTiB": plan.capacity_gib / 1024,
                "zones": [plan.zone],
                # It waits for the subnet, and by it for the rules that open Lustre's ports.
                "filesystemSubnet": args.network_ids.lustre_subnet_ids[plan.tier],
                # Half an hour a week, which every one has; nodes' mounts wait for its end.
                "maintenanceWindow": {"dayOfWeek": "Sunday", "timeOfDayUTC": "02:00"},
                "tags": args.tags.azure(),
            },
            self.child(protect=plan.keep),
        )
        address = filesystem.mgs_address
        return StorageHandle(
            cloud="azure",
            name=plan.tier,
            tier="shared-filesystem",
            id=filesystem.id,
            uri=pulumi.Output.concat(address, "@tcp:/lustrefs"),
            volume=Volume(
                # kubernetes-sigs/azurelustre-csi-driver, docs/driver-parameters.md, "Static Provisioning".
                driver=LUSTRE_DRIVER,
                handle=filesystem.name,
                separator="-",
                attributes={"mgs-ip-address": address},
                mount_options=("noatime", "flock"),
                capacity_gib=plan.capacity_gib,
            ),
            resource=filesystem,
        )

    def _files(self, group: resources.ResourceGroup) -> StorageHandle:
        """A premium share; who is in the network may mount it, and nobody else reaches it.

        NFS has no TLS of its own: the account must not insist on HTTPS
        (https://learn.microsoft.com/azure/storage/files/files-nfs-protocol, "Security and networking").
        """
        args, plan = self._args, self._args.plan
        account = AzureResource(
            "azure-native:storage:StorageAccount",
            f"{self._name}-account",
            {
                **account_props(
                    args.tags,
                    group=group,
                    name=account_name(
                        args.name, plan.tier, subscription=args.subscription, region=args.region
                    ),
                    region=args.region,
                ),
                "kind": "FileStorage",
                "sku": {"name": plan.sku},
                "enableHttpsTrafficOnly": False,
                "publicNetworkAccess": "Disabled",
                "networkRuleSet": {"defaultAction": "Deny", "bypass": "None"},
            },
            self.child(protect=plan.keep),
        )
        inside = {"accountName": account.name, "resourceGroupName": group.name}
        kept = AzureResource(
            "azure-native:storage:FileServiceProperties",
            f"{self._name}-soft-delete",
            {
                **inside,
                "fileServicesName": "default",
                "shareDeleteRetentionPolicy": {"enabled": True, "days": DAYS_DELETED},
            },
            self.child(protect=plan.keep),
        )
        share = AzureResource(
            "azure-native:storage:FileShare",
            f"{self._name}-share",
            {
                **inside,
                "shareName": SHARE,
                "enabledProtocols": "NFS",
                "shareQuota": plan.capacity_gib,
                "rootSquash": "NoRootSquash",
            },
            self.child(protect=plan.keep, depends_on=[kept]),
        )
        ready = self._endpoint(group, account)
        host = account.name.apply(lambda name: f"{name}.file.core.windows.net")
        return StorageHandle(
            cloud="azure",
            name=plan.tier,
            tier="shared-filesystem",
            id=share.id,
            uri=pulumi.Output.concat(host, ":/", account.name, "/", share.name),
            volume=_share_volume(plan, account=account, share=share, group=group.name),
            resource=share,
            ready=ready,
        )

    def _endpoint(
        self, group: resources.ResourceGroup, account: AzureResource
    ) -> tuple[pulumi.Resource, ...]:
        """The share's address in the network. Not protected: it holds nothing, and the next `up` makes it."""
        args, files = self._args, self._args.network_ids.files
        if files is None:  # refused above
            raise AssertionError("a network without private endpoints")
        endpoint = network.PrivateEndpoint(
            f"{self._name}-endpoint",
            private_endpoint_name=fit("private endpoint", args.name, args.plan.tier),
            resource_group_name=group.name,
            location=args.region,
            subnet=network.SubnetArgs(id=files.subnet_id),
            private_link_service_connections=[
                network.PrivateLinkServiceConnectionArgs(
                    name="files", private_link_service_id=account.id, group_ids=["file"]
                )
            ],
            tags=args.tags.azure(),
            opts=self.child(),
        )
        named = network.PrivateDnsZoneGroup(
            f"{self._name}-endpoint-name",
            private_dns_zone_group_name="default",
            private_endpoint_name=endpoint.name,
            resource_group_name=group.name,
            private_dns_zone_configs=[
                network.PrivateDnsZoneConfigArgs(name="files", private_dns_zone_id=files.zone_id)
            ],
            opts=self.child(),
        )
        return (endpoint, named, *files.ready)


def _share_volume(
    plan: SharedFilesystemPlan, *, account: AzureResource, share: AzureResource, group: pulumi.Output[str]
) -> Volume:
    """Source: kubernetes-sigs/azurefile-csi-driver, docs/driver-parameters.md, "Static Provisioning".

    Four connections a mount: https://learn.microsoft.com/azure/storage/files/nfs-performance.
    """
    return Volume(
        driver=FILES_DRIVER,
        handle=pulumi.Output.concat(account.name, "_", share.name),
        separator="_",
        attributes={
            "protocol": "nfs",
            "resourceGroup": group,
            "storageAccount": account.name,
            "shareName": share.name,
        },
        mount_options=("nconnect=4", "noresvport", "actimeo=30"),
        capacity_gib=plan.capacity_gib,
    )
