"""Local SSDs: part of the machine on most GPU machines of Google Cloud, attached by choice on some."""

from __future__ import annotations

from typing import Final

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile.model import LocalDisks

__all__ = ["boot_disk", "local_disks"]

DISK_GIB: Final = 375
"""One local SSD (https://cloud.google.com/compute/docs/disks/local-ssd)."""

# Persistent disks cannot be attached to these (https://cloud.google.com/compute/docs/disks/hyperdisks,
# "Machine type support"); A4X's boot disk must be named so (GoogleCloudPlatform/cluster-toolkit,
# examples/gke-a4x/gke-a4x.yaml).
_HYPERDISK_ONLY: Final = frozenset({"a3-ultra", "a4", "a4x", "a4x-max"})

# The disks of these are larger than 375 GiB each; the machine type alone says how many there are.
_LARGE_DISKS: Final = frozenset({"a4x", "a4x-max"})


def local_disks(pool: NodePool, sku: Sku, where: str) -> LocalDisks:
    """The pool's local disks.

    What is part of the machine is used as the pods' ephemeral storage unless the pool says otherwise. What
    must be attached costs extra and is attached only where the pool asks for it.

    Raises:
        Refusal: The machine takes none, or has disks that cannot be left off.
    """
    wanted = pool.local_disks
    if sku.local_ssd_mode == "bundled":
        if wanted == "none":
            raise Refusal(
                f"the local disks of {sku.name} cannot be left off",
                where=f"{where}.local_disks",
                rule="they are part of the machine type and of its price",
                way_out="use ephemeral (the pods' own storage) or raw (block devices)",
            )
        return LocalDisks(mode=wanted or "ephemeral", count=_bundled(sku), gib=int(sku.local_ssd or 0))
    if wanted in {None, "none"}:
        return LocalDisks(mode="none")
    count = _attached(sku)
    if count == 0:
        raise Refusal(
            f"{sku.name} takes no local disks",
            where=f"{where}.local_disks",
            way_out="use none, or a larger machine type of the family",
        )
    return LocalDisks(mode=wanted or "ephemeral", count=count, gib=count * DISK_GIB)


def boot_disk(sku: Sku) -> str:
    """The boot disk's type; empty where GKE's own choice is right."""
    return "hyperdisk-balanced" if sku.family in _HYPERDISK_ONLY else ""


def _bundled(sku: Sku) -> int:
    return 0 if sku.family in _LARGE_DISKS or sku.local_ssd is None else int(sku.local_ssd) // DISK_GIB


def _attached(sku: Sku) -> int:
    """How many disks the machine type takes.

    G2 and G4 take one number only, the catalogue's. A2 and N1 let one choose; one disk a GPU, at most eight,
    is a number that each of them takes (https://cloud.google.com/compute/docs/disks/local-ssd, "Choose a
    valid number of Local SSD disks").
    """
    if sku.local_ssd is not None:
        return int(sku.local_ssd) // DISK_GIB
    return min(int(sku.gpu_count), 8) if sku.local_ssd_mode == "optional" else 0
