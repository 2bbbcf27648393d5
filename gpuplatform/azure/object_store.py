"""A bucket on Azure: a container of a storage account with a hierarchical namespace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pulumi

from gpuplatform.azure.account import REDUNDANCY, account_props, own_group, own_key
from gpuplatform.azure.resource import AzureResource
from gpuplatform.contracts import ObjectStoreArgs, ObjectStoreComponent, StorageHandle, Volume
from gpuplatform.errors import Refusal
from gpuplatform.naming import problem
from gpuplatform.storage import CachePlan, ObjectPlan

__all__ = ["AzureObjectStore", "AzureObjectStoreArgs", "mount_options"]

CONTAINER: Final = "data"
"""The one container of the account; the account's name is what is unique in the world."""

DAYS_MAX: Final = 365
"""For how long soft delete keeps a deleted blob at most, days
(https://learn.microsoft.com/azure/storage/blobs/soft-delete-blob-overview)."""

CAPACITY_GIB: Final = 5 * 1024 * 1024
"""What a storage account holds by default, 5 PiB
(https://learn.microsoft.com/azure/storage/common/scalability-targets-standard-account)."""


@dataclass(frozen=True, kw_only=True)
class AzureObjectStoreArgs(ObjectStoreArgs):
    """What an `AzureObjectStore` is made of: the arguments of every bucket.

    Raises:
        Refusal: Azure cannot build it.
    """

    def __post_init__(self) -> None:
        where = f"storage.{self.plan.tier}"
        if (why := problem("storage account", self.plan.bucket)) is not None:
            raise Refusal(
                why, where=f"{where}.bucket", way_out="write 3 to 24 lower-case letters and digits, no hyphen"
            )
        if self.plan.keep_versions_days > DAYS_MAX:
            raise Refusal(
                f"deleted objects would be kept for {self.plan.keep_versions_days} days",
                where=f"{where}.keep_versions_days",
                rule=f"Azure keeps them for {DAYS_MAX} days at most "
                "(https://learn.microsoft.com/azure/storage/blobs/soft-delete-blob-overview)",
                way_out=f"write at most {DAYS_MAX}",
            )


class AzureObjectStore(ObjectStoreComponent):
    """An account of its own with one container, encrypted with its own key, for identities only.

    Versions are absent: an account with a hierarchical namespace has none, and soft delete keeps what is
    deleted there, not what is overwritten (https://learn.microsoft.com/azure/storage/blobs/versioning-overview,
    .../soft-delete-blob-overview). What must never be lost is written under a new name. Unfinished uploads
    need no rule: Azure drops uncommitted blocks after a week.

    Its address is public, as those of buckets everywhere; nobody gets in but by a role on the container.

    Outputs: those of every bucket.

    Attributes:
        container_id: The container's resource ID: the scope of roles.
    """

    TOKEN = "gpuplatform:index:AzureObjectStore"  # noqa: S105 - a type token, no secret

    container_id: pulumi.Output[str]

    def __init__(
        self, name: str, args: AzureObjectStoreArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        plan, keep = args.plan, args.plan.keep
        names = (args.name, "storage", plan.tier)
        group = own_group(self, name, *names, region=args.region, tags=args.tags, protect=keep)
        key = own_key(self, name, *names, group=group, tags=args.tags, protect=keep)
        account = AzureResource(
            "azure-native:storage:StorageAccount",
            f"{name}-account",
            {
                **account_props(args.tags, group=group, name=plan.bucket, region=args.region),
                **key.account,
                "kind": "StorageV2",
                "sku": {"name": REDUNDANCY},
                "accessTier": "Hot",
                "isHnsEnabled": True,
            },
            self.child(protect=keep, depends_on=key.ready),
        )
        inside = {"accountName": account.name, "resourceGroupName": group.name}
        retention = {"enabled": True, "days": plan.keep_versions_days}
        kept = AzureResource(
            "azure-native:storage:BlobServiceProperties",
            f"{name}-soft-delete",
            {
                **inside,
                "blobServicesName": "default",
                "deleteRetentionPolicy": retention,
                "containerDeleteRetentionPolicy": retention,
            },
            self.child(protect=keep),
        )
        container = AzureResource(
            "azure-native:storage:BlobContainer",
            f"{name}-container",
            {**inside, "containerName": CONTAINER, "publicAccess": "None"},
            self.child(protect=keep, depends_on=[kept]),
        )
        if actions := _tiering(plan):
            AzureResource(
                "azure-native:storage:ManagementPolicy",
                f"{name}-lifecycle",
                {**inside, "managementPolicyName": "default", "policy": {"rules": [_rule(actions)]}},
                self.child(protect=keep),
            )
        self.container_id = container.id
        self.finish_store(
            StorageHandle(
                cloud="azure",
                name=plan.tier,
                tier="object",
                id=container.id,
                uri=pulumi.Output.concat(
                    "abfss://", container.name, "@", account.name, ".dfs.core.windows.net"
                ),
                volume=_volume(plan, account=account, container=container, group=group.name),
                resource=account,
                ready=(container,),
            ),
            bucket_name=container.name,
        )


def mount_options(cache: CachePlan | None) -> tuple[str, ...]:
    """Of BlobFuse2, as AKS's own storage class has them, with the size of the cache.

    The driver makes the cache below the node's /mnt, which is the temporary disk or the ephemeral one
    (kubernetes-sigs/blob-csi-driver, docs/driver-parameters.md). Each pod that mounts has a cache of its own.
    A hierarchical namespace needs `use-adls` (the same page).
    """
    return (
        "-o allow_other",
        "--use-adls=true",
        "--use-attr-cache=true",
        "--file-cache-timeout-in-seconds=120",
        "--cancel-list-on-mount-seconds=10",
        "-o attr_timeout=120",
        "-o entry_timeout=120",
        "-o negative_timeout=120",
        "--log-level=LOG_WARNING",
        f"--cache-size-mb={cache.gib * 1024 if cache is not None else 1000}",
    )


def _volume(
    plan: ObjectPlan, *, account: AzureResource, container: AzureResource, group: pulumi.Output[str]
) -> Volume:
    """Mounted with the token of the pod's own service account; the driver then asks for no account key.

    Source: kubernetes-sigs/blob-csi-driver, docs/workload-identity-static-pv-mount.md (v1.27 and later). The
    identity's client ID is the one attribute missing here: it is the team's.
    """
    return Volume(
        driver="blob.csi.azure.com",
        # Neither # nor / may stand in it.
        handle=pulumi.Output.concat(account.name, "_", container.name),
        separator="_",
        attributes={
            "protocol": "fuse2",
            "resourceGroup": group,
            "storageAccount": account.name,
            "containerName": container.name,
            "mountWithWorkloadIdentityToken": "true",
        },
        mount_options=mount_options(plan.cache),
        capacity_gib=CAPACITY_GIB,
    )


def _tiering(plan: ObjectPlan) -> dict[str, Any]:
    # Not to the archive itself, which is offline: a mount cannot wait for hours until a blob is back
    # (https://learn.microsoft.com/azure/storage/blobs/archive-rehydrate-overview).
    days = {"tierToCool": plan.cold_after_days, "tierToCold": plan.archive_after_days}
    return {
        action: {"daysAfterModificationGreaterThan": after}
        for action, after in days.items()
        if after is not None
    }


def _rule(actions: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": "colder",
        "enabled": True,
        "type": "Lifecycle",
        "definition": {
            "filters": {"blobTypes": ["blockBlob"], "prefixMatch": [f"{CONTAINER}/"]},
            "actions": {"baseBlob": actions},
        },
    }
