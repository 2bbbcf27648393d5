"""A file system that all nodes mount at once: Google Cloud Managed Lustre, or Filestore."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pulumi

from gpuplatform.contracts import (
    SharedFilesystemArgs,
    SharedFilesystemComponent,
    StorageHandle,
    Volume,
)
from gpuplatform.errors import Refusal
from gpuplatform.gcp.network import GcpNetwork, GcpNetworkIds
from gpuplatform.gcp.resource import FilestoreInstance, LustreInstance
from gpuplatform.naming import fit

__all__ = ["GcpSharedFilesystem", "GcpSharedFilesystemArgs"]

_SERVICES: Final = ("google-managed-lustre", "filestore")


@dataclass(frozen=True, kw_only=True)
class GcpSharedFilesystemArgs(SharedFilesystemArgs):
    """What a `GcpSharedFilesystem` is made of: the arguments of every one, and those of Google Cloud.

    Attributes:
        project: The project's ID.
        network: The network, made with private services access; or the IDs of one that exists and has it.

    Raises:
        Refusal: Google Cloud cannot build it.
    """

    project: str
    network: GcpNetwork | GcpNetworkIds

    def __post_init__(self) -> None:
        where = f"storage.{self.plan.tier}"
        if self.plan.service not in _SERVICES:
            raise Refusal(
                f"{self.plan.service} is not on Google Cloud",
                where=f"{where}.service",
                way_out=f"use {' or '.join(_SERVICES)}",
            )
        if self.plan.source:
            raise Refusal(
                f"the file system cannot follow the bucket of {self.plan.source}",
                where=f"{where}.source",
                rule="Managed Lustre copies from a bucket and back when it is told to, and keeps no link "
                "(https://cloud.google.com/managed-lustre/docs/transfer-data); Filestore copies nothing",
                way_out="leave source out; `gcloud lustre instances import-data` copies",
            )
        if isinstance(self.network, GcpNetwork) and self.network.ids.private_services is None:
            raise Refusal(
                "the network has no private services access",
                where="network",
                rule="Google's file systems stand in a network of Google's that is peered with this one",
                way_out="make it with private_services=True",
            )

    @property
    def network_ids(self) -> GcpNetworkIds:
        """What the file system needs to know of its network."""
        return self.network.ids if isinstance(self.network, GcpNetwork) else self.network


class GcpSharedFilesystem(SharedFilesystemComponent):
    """One file system, encrypted by Google, reached from the network's own addresses only.

    Nothing here stands on the cluster or its pools, since `pulumi destroy --exclude-protected` keeps what a
    protected resource stands on: the network and its peering, no more. Whoever is in the network may mount
    it: neither service knows identities, so teams are kept apart by who may make claims in a namespace.

    Deliberately absent: a key of one's own; Google encrypts both services with its own. A firewall rule: a
    VPC lets its nodes out, and Google's side lets in the peered network. And Filestore's own protection from
    deletion, which Managed Lustre has none of: Pulumi's is every tier's, and one is lifted in one place.

    Outputs: those of every shared file system.
    """

    TOKEN = "gpuplatform:index:GcpSharedFilesystem"  # noqa: S105 - a type token, no secret

    def __init__(
        self, name: str, args: GcpSharedFilesystemArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        self._name = name
        self._args = args
        plan = args.plan
        instance, uri, volume = self._lustre() if plan.service == _SERVICES[0] else self._filestore()
        self.finish_filesystem(
            StorageHandle(
                cloud="gcp",
                name=plan.tier,
                tier="shared-filesystem",
                id=instance.id,
                uri=uri,
                volume=volume,
                resource=instance,
            )
        )

    def _lustre(self) -> tuple[LustreInstance, pulumi.Output[str], Volume]:
        """https://cloud.google.com/managed-lustre/docs/create-instance.

        Neither `gkeSupportEnabled` nor the cluster's `enableLegacyLustrePort`, which move Lustre to port
        6988: nodes from 1.33.2-gke.4780000 on speak port 988 (https://cloud.google.com/managed-lustre/docs/
        lustre-csi-driver-new-volume#lustre_communication_ports), and a new cluster gets a newer patch.
        """
        args, plan = self._args, self._args.plan
        instance_id = fit("GCP resource", args.name, plan.tier)
        # No node mounts two instances whose file systems have one name
        # (https://cloud.google.com/kubernetes-engine/docs/concepts/managed-lustre#limitations).
        filesystem = fit("GCP Lustre file system", plan.tier)
        instance = LustreInstance(
            f"{self._name}-lustre",
            {
                **self._shared(),
                "instanceId": instance_id,
                "location": plan.zone,
                "filesystem": filesystem,
                "capacityGib": str(plan.capacity_gib),
                "perUnitStorageThroughput": str(plan.throughput),
                "network": args.network_ids.id,
            },
            self._options(),
        )
        # Such as 10.0.240.2@tcp:/scratch.
        address = instance.mount_point.apply(lambda known: known.partition("@")[0])
        volume = self._volume(
            "lustre.csi.storage.gke.io",
            f"{args.project}/{plan.zone}/{instance_id}",
            {"ip": address, "filesystem": filesystem},
        )
        return instance, instance.mount_point, volume

    def _filestore(self) -> tuple[FilestoreInstance, pulumi.Output[str], Volume]:
        """https://cloud.google.com/filestore/docs/creating-instances; in a zone, or in the whole region."""
        args, plan = self._args, self._args.plan
        name, location = fit("GCP resource", args.name, plan.tier), plan.zone or args.region
        instance = FilestoreInstance(
            f"{self._name}-filestore",
            {
                **self._shared(),
                "name": name,
                "location": location,
                "tier": plan.sku,
                # Google says GB and counts GiB.
                "fileShares": {"name": plan.tier, "capacityGb": plan.capacity_gib},
                "networks": [
                    {
                        "network": args.network_ids.id,
                        "modes": ["MODE_IPV4"],
                        "connectMode": "PRIVATE_SERVICE_ACCESS",
                    }
                ],
            },
            self._options(),
        )
        volume = self._volume(
            "filestore.csi.storage.gke.io",
            f"modeInstance/{location}/{name}/{plan.tier}",
            {"ip": instance.address, "volume": plan.tier},
        )
        return instance, pulumi.Output.concat(instance.address, f":/{plan.tier}"), volume

    def _shared(self) -> dict[str, Any]:
        return {"project": self._args.project, "labels": self._args.tags.gcp()}

    def _options(self) -> pulumi.ResourceOptions:
        peering = self._args.network_ids.private_services
        return self.child(protect=self._args.plan.keep, depends_on=[peering] if peering is not None else [])

    def _volume(self, driver: str, handle: str, attributes: dict[str, pulumi.Input[str]]) -> Volume:
        return Volume(
            driver=driver,
            handle=handle,
            attributes=attributes,
            capacity_gib=self._args.plan.capacity_gib,
        )
