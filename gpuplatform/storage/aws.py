"""Storage services of AWS: S3, FSx for Lustre, EBS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gpuplatform.config import Block
from gpuplatform.storage.disks import FastDisk, class_names, performance
from gpuplatform.storage.facts import StorageFacts
from gpuplatform.storage.filesystems import FilesystemService, NotSold, Offer
from gpuplatform.storage.model import DiskClass
from gpuplatform.storage.names import BucketRule

__all__ = ["FACTS"]

_S3: Final = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html"
_FSX: Final = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html"
_FSX_THROUGHPUT: Final = (
    "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html"
)
_EBS: Final = "https://docs.aws.amazon.com/ebs/latest/userguide/provisioned-iops.html"

_BUCKET: Final = BucketRule(
    kind="S3 bucket",
    shortest=3,
    longest=63,
    # Dots are legal, but break the certificate of virtual-hosted names; the configuration takes none.
    pattern=r"[a-z0-9][a-z0-9-]*[a-z0-9]",
    says="lower-case letters, digits and hyphens, and starts and ends with a letter or digit",
    prefixes=("xn--", "sthree-", "amzn-s3-demo-"),
    suffixes=("-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3"),
    separator="-",
    source=_S3,
)

_LARGEST: Final = 1_048_576
"""GiB: the configuration's own bound. FSx names none in its API; an account has a quota."""

# "1200 GiB, 2400 GiB, and increments of 2400 GiB" for PERSISTENT_2 on SSD, at every throughput.
_PERSISTENT_2: Final = (range(1200, 1201), range(2400, _LARGEST + 1, 2400))

_LUSTRE: Final = FilesystemService(
    service="fsx-lustre",
    name="FSx for Lustre",
    offers=tuple(
        Offer(sku="PERSISTENT_2", throughput=level, sizes=_PERSISTENT_2, source=f"{_FSX}, {_FSX_THROUGHPUT}")
        for level in (125, 250, 500, 1000)
    ),
    zonal=True,
)

_NFS: Final = NotSold(
    why="AWS's service for it, EFS, has neither a size nor a throughput for each TiB: capacity_gib would "
    "bound nothing, and no budget could count it",
    way_out="use service: lustre (FSx for Lustre from 1200 GiB), or an object tier with cache: local-nvme",
)

_IO2: Final = FastDisk(
    name="EBS io2",
    iops=range(100, 256_001),
    mibps=None,
    mibps_an_iops=0.256,
    source=_EBS,
)


def _disk_classes(tier: str, block: Block, _machines: Mapping[str, str]) -> tuple[DiskClass, DiskClass]:
    """gp3 and io2, which every machine on Nitro attaches, as all GPU machines since P3 are.

    Without a key of its own a volume is encrypted with the account's key for EBS. A claim smaller than 1 GiB
    for 1,000 IOPS is refused by EBS, and shows as an event of the claim. Parameters:
    https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/master/docs/parameters.md.
    """
    default, fast = class_names(tier)
    has = performance(block, _IO2, f"storage.{tier}")
    keep = block.teardown == "keep"
    return (
        DiskClass(
            name=default,
            provisioner="ebs.csi.aws.com",
            parameters={"type": "gp3", "encrypted": "true"},
            default=True,
            keep=keep,
        ),
        DiskClass(
            name=fast,
            provisioner="ebs.csi.aws.com",
            parameters={"type": "io2", "iops": str(has.iops), "encrypted": "true"},
            keep=keep,
        ),
    )


FACTS: Final = StorageFacts(
    bucket=_BUCKET,
    filesystems={"lustre": _LUSTRE, "nfs": _NFS},
    disk_classes=_disk_classes,
)
