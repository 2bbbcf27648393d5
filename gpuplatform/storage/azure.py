"""Storage services of Azure: Blob storage, Azure Managed Lustre, Azure Files, managed disks."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Final

from gpuplatform.config import Block
from gpuplatform.storage.disks import FastDisk, class_names, performance
from gpuplatform.storage.facts import StorageFacts
from gpuplatform.storage.filesystems import FilesystemService, Offer
from gpuplatform.storage.model import DiskClass
from gpuplatform.storage.names import BucketRule

__all__ = ["FACTS"]

_NAMES: Final = "https://learn.microsoft.com/azure/storage/common/storage-account-overview"
_LUSTRE_SIZES: Final = "https://learn.microsoft.com/azure/azure-managed-lustre/create-file-system-portal"
_FILES: Final = "https://learn.microsoft.com/azure/storage/files/understanding-billing"
_DISKS: Final = "https://learn.microsoft.com/azure/virtual-machines/disks-types"

_BUCKET: Final = BucketRule(
    kind="Azure storage account",
    shortest=3,
    longest=24,
    pattern=r"[a-z0-9]+",
    says="lower-case letters and digits, no hyphen",
    separator="",
    source=_NAMES,
)

_TIB: Final = 1024

# MB/s for each TiB: TiB of the smallest, which is the step too, and of the largest without a support ticket.
_LUSTRE_SKUS: Final = {40: (48, 768), 125: (16, 128), 250: (8, 128), 500: (4, 128)}

_LUSTRE: Final = FilesystemService(
    service="azure-managed-lustre",
    name="Azure Managed Lustre",
    offers=tuple(
        Offer(
            sku=f"AMLFS-Durable-Premium-{level}",
            throughput=level,
            sizes=(range(step * _TIB, largest * _TIB + 1, step * _TIB),),
            source=_LUSTRE_SIZES,
        )
        for level, (step, largest) in _LUSTRE_SKUS.items()
    ),
    zonal=True,
    # https://learn.microsoft.com/azure/azure-managed-lustre/amlfs-prerequisites, "Access keys".
    why_no_source="it reads a container by the storage account's keys only, and object tiers have none: "
    "access is by workload identity",
)

# Shares on SSDs under the provisioned v1 model: whole GiB, whose number decides throughput and IOPS.
_NFS: Final = FilesystemService(
    service="azure-files-nfs",
    name="Azure Files NFS",
    offers=(Offer(sku="Premium_LRS", sizes=(range(100, 102_401),), source=_FILES),),
    zonal=False,
    why_no_throughput="its throughput follows its size",
    why_no_source="a file share follows no container",
)

_MB: Final = 10**6 / 2**20
"""MiB of one MB: managed disks count in millions of bytes (Microsoft.Compute/disks, diskMBpsReadWrite)."""

# 3,000 IOPS and 125 MB/s are included; at most 80,000 and 1,200, and 0.25 MB/s for each IOPS.
_PREMIUM_V2: Final = FastDisk(
    name="Premium SSD v2",
    iops=range(3000, 80_001),
    mibps=range(ceil(125 * _MB), int(1200 * _MB) + 1),
    mibps_an_iops=0.25 * _MB,
    source=_DISKS,
)


def _disk_classes(tier: str, block: Block, _machines: Mapping[str, str]) -> tuple[DiskClass, DiskClass]:
    """Premium SSD, as in AKS's own managed-csi-premium, and Premium SSD v2.

    Premium SSD v2 attaches to machines in a zone only, as all are here: a network names its zones. It has
    no host cache (https://learn.microsoft.com/azure/virtual-machines/disks-deploy-premium-v2,
    "Limitations"). Both are encrypted at rest without being told. Parameters:
    https://github.com/kubernetes-sigs/azuredisk-csi-driver/blob/master/docs/driver-parameters.md.
    """
    default, fast = class_names(tier)
    has = performance(block, _PREMIUM_V2, f"storage.{tier}")
    keep = block.teardown == "keep"
    return (
        DiskClass(
            name=default,
            provisioner="disk.csi.azure.com",
            parameters={"skuName": "Premium_LRS"},
            default=True,
            keep=keep,
        ),
        DiskClass(
            name=fast,
            provisioner="disk.csi.azure.com",
            parameters={
                "skuName": "PremiumV2_LRS",
                "cachingMode": "None",
                "DiskIOPSReadWrite": str(has.iops),
                "DiskMBpsReadWrite": str(_mbps(block.throughput_mibps, has.iops)),
            },
            keep=keep,
        ),
    )


def _mbps(mibps: int | None, iops: int) -> int:
    """MB/s that are at least so many MiB/s; what is included where none are asked for."""
    return 125 if mibps is None else min(max(ceil(mibps / _MB), 125), 1200, iops // 4)


FACTS: Final = StorageFacts(
    bucket=_BUCKET,
    filesystems={"lustre": _LUSTRE, "nfs": _NFS},
    disk_classes=_disk_classes,
)
