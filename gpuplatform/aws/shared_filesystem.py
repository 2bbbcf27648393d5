"""The shared-filesystem tier on AWS: FSx for Lustre, in one zone, linked to a bucket where asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any, Final

import pulumi

from gpuplatform.aws.network import AwsNetwork, AwsNetworkIds
from gpuplatform.aws.object_store import AwsObjectStore
from gpuplatform.aws.resource import LONGEST_WINDOW, SHORTEST_WINDOW, AwsResource, Key, LustreFileSystem
from gpuplatform.contracts import SharedFilesystemArgs, SharedFilesystemComponent, StorageHandle, Volume
from gpuplatform.errors import Refusal

__all__ = ["AwsSharedFilesystem", "AwsSharedFilesystemArgs"]

LUSTRE_PORTS: Final = ((988, 988), (1018, 1023))
"""TCP, both ways, between clients and servers and among servers. With 988 alone the file system is created
and mounts time out (https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html)."""

VERSION: Final = "2.15"
"""Of Lustre: supported by all kinds and recommended for new ones
(https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html); the defaults are older. Nodes
need a kernel that goes with it (.../LustreGuide/lustre-client-matrix.html)."""

BACKUP_DAYS: Final = 7
EVENTS: Final = ("NEW", "CHANGED", "DELETED")
DRIVER: Final = "fsx.csi.aws.com"


@dataclass(frozen=True, kw_only=True)
class AwsSharedFilesystemArgs(SharedFilesystemArgs):
    """What an `AwsSharedFilesystem` is made of: the arguments of every one, and those of AWS.

    Attributes:
        network: The network, or the IDs of one that exists; its CIDR must be known.
        source: The bucket that it is linked to, where the plan names one.

    Raises:
        Refusal: It cannot be built there.
    """

    network: AwsNetwork | AwsNetworkIds
    source: AwsObjectStore | None = None

    def __post_init__(self) -> None:
        where = f"storage.{self.plan.tier}"
        if self.plan.service != "fsx-lustre":
            raise Refusal(
                f"{self.plan.service} is not built on AWS",
                where=f"{where}.service",
                rule="AWS has FSx for Lustre here",
                way_out="set service to lustre",
            )
        if self.plan.zone not in self.network_ids.subnet_by_zone:
            raise Refusal(
                f"the network has no zone {self.plan.zone!r}",
                where=f"{where}.zone",
                rule="a file system stands in a subnet of one zone",
                way_out=f"choose one of {', '.join(self.network_ids.subnet_by_zone)}",
            )
        linked = self.source.handle.name if self.source is not None else ""
        if linked != self.plan.source:
            raise Refusal(
                f"the plan links it to {self.plan.source or 'no bucket'}, the program to {linked or 'none'}",
                where=f"{where}.source",
                rule="a file system is linked to the bucket that its plan names",
                way_out="hand over the component of that tier",
            )
        if self.network_ids.cidr is None:
            raise Refusal(
                "what the network is numbered from is not known",
                where="network.cidr",
                rule="its nodes mount the file system, so their addresses must be let in",
                way_out="give AwsNetworkIds its cidr",
            )

    @property
    def network_ids(self) -> AwsNetworkIds:
        """What the file system needs to know of its network."""
        return self.network.ids if isinstance(self.network, AwsNetwork) else self.network

    @property
    def backed_up(self) -> bool:
        """Whether FSx backs it up: it takes no backup of a scratch file system or of one that is linked.

        Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateBackup.html.
        """
        return self.plan.keep and self.persistent and self.source is None

    @property
    def persistent(self) -> bool:
        """Whether its servers are replaced when they fail; a key of one's own needs it."""
        return self.plan.sku.startswith("PERSISTENT")


class AwsSharedFilesystem(SharedFilesystemComponent):
    """A file system of FSx for Lustre, its security group, its key, and its link to a bucket.

    Whoever mounts it sees all of it: POSIX owners and modes are what keeps teams apart.

    It depends on nothing of the cluster, so clients are let in by the network's addresses and not by the
    cluster's security group: what a protected file system stands on is kept with it at a teardown.

    Deliberately absent: GPUDirect Storage over EFA, which needs that group, and no other provisioning of
    metadata than the service's.

    Outputs, beside those of every shared file system:
        mount_name: What clients mount below the address.
    """

    TOKEN = "gpuplatform:index:AwsSharedFilesystem"  # noqa: S105 - a type token, no secret

    mount_name: pulumi.Output[str]

    def __init__(
        self, name: str, args: AwsSharedFilesystemArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        self._name = name
        self._args = args
        plan = args.plan
        group = self._create(
            "ec2/securityGroup:SecurityGroup",
            "lustre",
            {
                "vpcId": args.network_ids.id,
                "description": f"Lustre servers of {args.name}-{plan.tier}",
                "tags": self._tags(),
            },
        )
        rules = self._rules(group)
        files = LustreFileSystem(
            f"{name}-lustre",
            self._props(group),
            # The rules and not only the group: FSx looks whether they let Lustre through when it begins, and
            # rules that come a second later are too late (kubernetes-sigs/aws-fsx-csi-driver#32).
            self.child(protect=plan.keep, depends_on=rules),
        )
        self.mount_name = files.mount_name
        self.finish_filesystem(
            StorageHandle(
                cloud="aws",
                name=plan.tier,
                tier="shared-filesystem",
                id=files.arn,
                uri=pulumi.Output.all(files.dns_name, files.mount_name).apply(
                    lambda known: f"{known[0]}@tcp:/{known[1]}"
                ),
                volume=Volume(
                    driver=DRIVER,
                    handle=files.id,
                    attributes={"dnsname": files.dns_name, "mountname": files.mount_name},
                    # Locks that hold among nodes (kubernetes-sigs/aws-fsx-csi-driver, static_provisioning).
                    mount_options=("flock",),
                    capacity_gib=plan.capacity_gib,
                ),
                resource=files,
                ready=(*rules, *self._link(files)),
            ),
            mount_name=self.mount_name,
        )

    def _props(self, group: AwsResource) -> dict[str, Any]:
        args, plan = self._args, self._args.plan
        props: dict[str, Any] = {
            "deploymentType": plan.sku,
            "storageType": "SSD",
            "storageCapacity": plan.capacity_gib,
            "fileSystemTypeVersion": VERSION,
            "dataCompressionType": "LZ4",
            # One subnet, in spite of its name: the SDK makes the list.
            "subnetIds": args.network_ids.subnet_by_zone[plan.zone],
            "securityGroupIds": [group.id],
            "tags": self._tags(),
        }
        if args.persistent:
            props |= {
                "perUnitStorageThroughput": plan.throughput,
                "kmsKeyId": self._key().arn,
                "automaticBackupRetentionDays": BACKUP_DAYS if args.backed_up else 0,
                "copyTagsToBackups": True,
                # A last one, for whoever lifts the protection and deletes it all the same.
                "skipFinalBackup": not args.backed_up,
            }
        return props

    def _key(self) -> Key:
        plan = self._args.plan
        return Key(
            f"{self._name}-key",
            {
                "description": f"Files of {self._args.name}-{plan.tier}",
                "enableKeyRotation": True,
                "deletionWindowInDays": LONGEST_WINDOW if plan.keep else SHORTEST_WINDOW,
                "tags": self._tags(),
            },
            self.child(protect=plan.keep),
        )

    def _rules(self, group: AwsResource) -> list[AwsResource]:
        """Both ranges, both ways, for the network's addresses and for the servers among themselves."""
        cidr = self._args.network_ids.cidr
        assert isinstance(cidr, IPv4Network)  # noqa: S101 - checked with the arguments
        peers: dict[str, Mapping[str, Any]] = {
            "network": {"cidrIpv4": str(cidr)},
            "itself": {"referencedSecurityGroupId": group.id},
        }
        return [
            self._create(
                f"vpc/securityGroup{way}Rule:SecurityGroup{way}Rule",
                f"{peer}-{way.lower()}-{first}",
                {
                    "securityGroupId": group.id,
                    "ipProtocol": "tcp",
                    "fromPort": first,
                    "toPort": last,
                    **target,
                    "tags": self._tags(),
                },
            )
            for way in ("Ingress", "Egress")
            for peer, target in peers.items()
            for first, last in LUSTRE_PORTS
        ]

    def _link(self, files: LustreFileSystem) -> Sequence[AwsResource]:
        """Objects appear as files below `/TIER`, are read when they are opened, and changes go back."""
        source = self._args.source
        if source is None:
            return ()
        linked = self._create(
            "fsx/dataRepositoryAssociation:DataRepositoryAssociation",
            "link",
            {
                "fileSystemId": files.id,
                "fileSystemPath": f"/{source.handle.name}",
                "dataRepositoryPath": source.uri,
                "batchImportMetaDataOnCreate": True,
                # A deletion leaves a marker in the bucket, which has versions.
                "s3": {
                    "autoImportPolicy": {"events": list(EVENTS)},
                    "autoExportPolicy": {"events": list(EVENTS)},
                },
                "tags": self._tags(),
            },
            *source.handle.ready,
        )
        return (linked,)

    def _create(
        self, token: str, part: str, props: Mapping[str, Any], *after: pulumi.Resource
    ) -> AwsResource:
        opts = self.child(protect=self._args.plan.keep, depends_on=list(after))
        return AwsResource(f"aws:{token}", f"{self._name}-{part}", props, opts)

    def _tags(self) -> dict[str, str]:
        return self._args.tags.aws(Name=f"{self._args.name}-{self._args.plan.tier}")
