"""Storage services of Google Cloud: Cloud Storage, Managed Lustre, Filestore, disks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gpuplatform.config import Block
from gpuplatform.errors import Refusal
from gpuplatform.storage.disks import FastDisk, class_names, performance
from gpuplatform.storage.facts import SYSTEM, StorageFacts
from gpuplatform.storage.filesystems import FilesystemService, Offer
from gpuplatform.storage.model import DiskClass
from gpuplatform.storage.names import BucketRule

__all__ = ["FACTS"]

_GCS: Final = "https://cloud.google.com/storage/docs/buckets#naming"
_LUSTRE_SIZES: Final = "https://docs.cloud.google.com/managed-lustre/docs/performance-tiers"
_FILESTORE: Final = "https://cloud.google.com/filestore/docs/service-tiers"
_HYPERDISK: Final = "https://cloud.google.com/compute/docs/disks/hd-types/hyperdisk-balanced"

_BUCKET: Final = BucketRule(
    kind="Cloud Storage bucket",
    shortest=3,
    longest=63,
    # Dots and underscores are legal; a dot makes the name a domain, whose ownership must be proved.
    pattern=r"[a-z0-9][a-z0-9-]*[a-z0-9]",
    says="lower-case letters, digits and hyphens, and starts and ends with a letter or digit",
    prefixes=("goog",),
    # "or close misspellings, such as g00gle": Google names no list, so these are the obvious ones.
    words=("google", "g00gle", "go0gle", "g0ogle"),
    separator="-",
    source=_GCS,
)

# MB/s for each TiB: GiB of the smallest, which is the step too, and up to where that step holds. Beyond,
# steps are eight times as long; that is more than the configuration takes. The Dynamic tier has no set
# throughput.
_LUSTRE_TIERS: Final = {
    125: (72_000, 12_240_000),
    250: (36_000, 6_120_000),
    500: (18_000, 3_060_000),
    1000: (9_000, 1_530_000),
}

_LUSTRE: Final = FilesystemService(
    service="google-managed-lustre",
    name="Google Managed Lustre",
    offers=tuple(
        Offer(throughput=level, sizes=(range(step, last + 1, step),), source=_LUSTRE_SIZES)
        for level, (step, last) in _LUSTRE_TIERS.items()
    ),
    zonal=True,
    # https://docs.cloud.google.com/managed-lustre/docs/transfer-data
    why_no_source="it follows no bucket: data is imported and exported by transfers that somebody starts",
)

# Zonal, like everything else that stands near the training pool; Filestore's regional tier costs nearly
# twice as much. Smaller instances than 1 TiB are on disks that spin.
_NFS: Final = FilesystemService(
    service="filestore",
    name="Filestore",
    offers=(
        Offer(sku="ZONAL", sizes=(range(1024, 9985, 256), range(10_240, 102_401, 2560)), source=_FILESTORE),
    ),
    zonal=True,
    why_no_throughput="its throughput follows its size",
    why_no_source="it follows no bucket",
)

# Machine series by what they attach: https://cloud.google.com/compute/docs/disks/hyperdisks, "Machine
# series support", and https://cloud.google.com/compute/docs/disks/persistent-disks. All others attach
# Persistent Disk only. For G4 the first names Hyperdisk, and nothing found names Persistent Disk.
_BOTH: Final = ("a3-highgpu-", "a3-edgegpu-", "a3-megagpu-", "c3-", "c3d-", "h3-", "m1-", "m2-", "m3-", "z3-")
_HYPERDISK_ONLY: Final = (
    "a3-ultragpu-", "a4-", "a4x-", "g4-", "c4-", "c4a-", "c4d-", "c4n-", "m4-", "n4-", "n4a-", "n4d-",
)  # fmt: skip

# "0.25 MiB/s for each IOPS" at most, and one for 256 IOPS at least.
_BALANCED: Final = FastDisk(
    name="Hyperdisk Balanced",
    iops=range(3000, 160_001),
    mibps=range(140, 2401),
    mibps_an_iops=0.25,
    iops_a_mibps=256,
    source=_HYPERDISK,
)


def _disk_classes(tier: str, block: Block, machines: Mapping[str, str]) -> tuple[DiskClass, DiskClass]:
    """Balanced Persistent Disk and Hyperdisk Balanced, as far as the GPU pools' machines attach them.

    New machines attach Hyperdisk only, older ones Persistent Disk only. Where all pools take Hyperdisk and
    some nothing else, both classes are Hyperdisk; where all are old, both are Persistent Disk, and the fast
    one is pd-ssd. Both are encrypted at rest without being told. Parameters:
    https://cloud.google.com/kubernetes-engine/docs/how-to/persistent-volumes/hyperdisk.

    Raises:
        Refusal: IOPS or throughput are asked for, and no pool attaches disks that can be bought with some.
    """
    default, fast = class_names(tier)
    keep = block.teardown == "keep"
    no_pd = {pool for pool, machine in machines.items() if machine.startswith(_HYPERDISK_ONLY)}
    hyperdisk = (*_HYPERDISK_ONLY, *_BOTH)
    no_hyperdisk = {pool for pool, machine in machines.items() if not machine.startswith(hyperdisk)}
    gpus = set(machines) - {SYSTEM}
    general = "hyperdisk-balanced" if no_pd & gpus and not no_hyperdisk & gpus else "pd-balanced"
    parameters = _fast(tier, block) if gpus - no_hyperdisk else _old(tier, block, machines)
    lacking = {"pd-balanced": no_pd, "pd-ssd": no_pd, "hyperdisk-balanced": no_hyperdisk}

    def made(name: str, told: dict[str, str], *, is_default: bool) -> DiskClass:
        return DiskClass(
            name=name,
            provisioner="pd.csi.storage.gke.io",
            parameters=told,
            default=is_default,
            keep=keep,
            not_on=tuple(pool for pool in machines if pool in lacking[told["type"]]),
        )

    return made(default, {"type": general}, is_default=True), made(fast, parameters, is_default=False)


def _fast(tier: str, block: Block) -> dict[str, str]:
    has = performance(block, _BALANCED, f"storage.{tier}")
    return {
        "type": "hyperdisk-balanced",
        "provisioned-iops-on-create": str(has.iops),
        "provisioned-throughput-on-create": f"{has.mibps}Mi",
    }


def _old(tier: str, block: Block, machines: Mapping[str, str]) -> dict[str, str]:
    """The faster of the Persistent Disks, which is bought by its size alone."""
    for field, asked in (("iops", block.iops), ("throughput_mibps", block.throughput_mibps)):
        if asked is not None:
            types = ", ".join(sorted({machine for pool, machine in machines.items() if pool != SYSTEM}))
            raise Refusal(
                f"{field}: {asked} is bought with Hyperdisk Balanced, which no GPU pool attaches ({types})",
                where=f"storage.{tier}.{field}",
                rule="performance of a Persistent Disk follows its size "
                "(https://cloud.google.com/compute/docs/disks/hyperdisks, on machine series)",
                way_out=f"leave {field} out, or add a pool of newer machines (A3, A4, G4)",
            )
    return {"type": "pd-ssd"}


FACTS: Final = StorageFacts(
    bucket=_BUCKET,
    filesystems={"lustre": _LUSTRE, "nfs": _NFS},
    disk_classes=_disk_classes,
)
