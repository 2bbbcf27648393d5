"""What storage tiers are. Components translate it into resources and decide nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["BlockPlan", "CachePlan", "DiskClass", "ObjectPlan", "SharedFilesystemPlan", "StoragePlan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePlan:
    """A cache of a bucket on the nodes' local NVMe.

    Attributes:
        gib: How much of a node's disks it may fill, GiB: a share of the smallest local storage among `pools`.
        pools: The pools whose nodes have such disks, in the configuration's order; pods elsewhere read the
            bucket directly.
    """

    gib: int
    pools: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectPlan:
    """A bucket.

    Attributes:
        tier: The tier's name in the configuration.
        bucket: Its physical name; unique in the world on every cloud (Azure: the storage account's).
        cold_after_days: When an object moves to a colder class, days; None for never.
        archive_after_days: When it moves to the archive, days; None for never. Of a cloud's archives the one
            that is read like any other class, if at a price: an object that had to be restored first would be
            an I/O error to a pod that mounts the bucket.
        keep_versions_days: For how long an overwritten or deleted object can be had back, days.
        cache: How pods cache it; None where they read it directly.
        keep: Whether teardowns leave it alone; where false, they take it with all its data.
    """

    tier: str
    bucket: str
    cold_after_days: int | None = None
    archive_after_days: int | None = None
    keep_versions_days: int = 30
    cache: CachePlan | None = None
    keep: bool = True


Service = Literal[
    "fsx-lustre", "azure-managed-lustre", "azure-files-nfs", "google-managed-lustre", "filestore"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFilesystemPlan:
    """A shared file system.

    Attributes:
        tier: The tier's name in the configuration.
        service: What provides it.
        capacity_gib: Its size, GiB, a step that the service sells.
        throughput: MB/s for each TiB, one that the service sells; None where it has no such choice.
        sku: The service's own name for what is bought: FSx's deployment type (`PERSISTENT_2`), Azure's SKU
            (`AMLFS-Durable-Premium-250`, `Premium_LRS`), Filestore's tier (`ZONAL`); empty where there is
            none.
        zone: Where it stands, as the cloud names its zones; empty where it belongs to the region.
        source: The object tier that it reads from and writes to; empty for none.
        keep: Whether teardowns leave it alone; where false, they take it with all its data.
    """

    tier: str
    service: Service
    capacity_gib: int
    throughput: int | None = None
    sku: str = ""
    zone: str = ""
    source: str = ""
    keep: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskClass:
    """A StorageClass.

    Attributes:
        name: Its name in the cluster.
        provisioner: The CSI driver.
        parameters: As the driver spells them; all text.
        default: Whether claims that name no class get it.
        keep: Whether a claim's disk outlives the claim (`reclaimPolicy: Retain`).
        not_on: Pools whose machines cannot attach such disks: a pod with one never starts there.
    """

    name: str
    provisioner: str
    parameters: dict[str, str]
    default: bool = False
    keep: bool = False
    not_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlan:
    """Disks of single pods, for the claims of everybody.

    Attributes:
        tier: The tier's name in the configuration.
        classes: The default class and the fast one, in this order; all encrypt, wait for the first consumer,
            and can grow.
    """

    tier: str
    classes: tuple[DiskClass, ...]


StoragePlan = ObjectPlan | SharedFilesystemPlan | BlockPlan
