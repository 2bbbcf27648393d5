"""Disks of an AKS node: where its boot disk stands, and local NVMe beside it.

AKS stripes and mounts nothing: the pods' own storage is on the boot disk, which can stand on the machine's
local storage (an ephemeral OS disk); NVMe disks stay raw block devices, for a CSI driver
(https://learn.microsoft.com/azure/aks/best-practices-storage-nvme).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile.model import LocalDisks

__all__ = ["local_disks"]

# An ephemeral OS disk takes 2,040 GiB at most (https://learn.microsoft.com/azure/virtual-machines/
# ephemeral-os-disks), any other on AKS 2,048 (ContainerServiceOSDisk in Azure/azure-rest-api-specs).
_EPHEMERAL_MAX: Final = 2040
_BOOT_MAX: Final = 2048
_SMALLEST: Final = 100  # what a pool may ask for

_Boot = Literal["network", "local", "cloud"]

# GiB that an ephemeral OS disk may take. AKS goes by the machine's cache, and by its temporary disk where
# there is no cache, as from v5 on (https://learn.microsoft.com/azure/aks/concepts-storage, "Ephemeral OS
# disks in AKS"; Azure/karpenter-provider-azure FindMaxEphemeralSizeGBAndPlacement). Caches: Azure/AKS#2635,
# CachedDiskBytes in Azure/karpenter-provider-azure pkg/fake/zz_generated.sku.southcentralus.go; temporary
# disks: the series' pages. Azure publishes no more caches; a machine that is not here is left to AKS.
_LIMITS: Final[Mapping[str, int]] = {
    "Standard_NC4as_T4_v3": 144,
    "Standard_NC16as_T4_v3": 144,
    "Standard_NC24ads_A100_v4": 256,
    "Standard_NC6s_v3": 320,
    "Standard_NC40ads_H100_v5": 3576,
    "Standard_NC80adis_H100_v5": 7152,
    "Standard_NV6ads_A10_v5": 180,
    "Standard_NV12ads_A10_v5": 360,
    "Standard_NV18ads_A10_v5": 720,
    "Standard_NV36ads_A10_v5": 1440,
    "Standard_NV36adms_A10_v5": 2880,
    "Standard_NV72ads_A10_v5": 2880,
    "Standard_ND96isr_H100_v5": 1024,
    "Standard_ND96isr_H200_v5": 1024,
}
# Machines that refuse one (Azure/AKS#2694; EphemeralOSDiskSupported of NV6 in Azure/skewer testdata).
_NEVER: Final = frozenset({"NC", "NV"})

# NVMe data disks and their GiB together: https://learn.microsoft.com/azure/aks/best-practices-storage-nvme,
# NvmeDiskSizeInMiB as above for NC24ads, and the series' pages for GB200 and GB300 (16 TB).
_NVME: Final[Mapping[str, tuple[int, int]]] = {
    "Standard_NC24ads_A100_v4": (1, 894),
    "Standard_NC48ads_A100_v4": (2, 1788),
    "Standard_NC96ads_A100_v4": (4, 3576),
    "Standard_ND96isr_H100_v5": (8, 28610),
    "Standard_ND96isr_H200_v5": (8, 28610),
    "Standard_ND128isr_NDR_GB200_v6": (4, 14901),
    "Standard_ND128isr_GB300_v6": (4, 14901),
}


def local_disks(pool: NodePool, sku: Sku, where: str) -> LocalDisks:
    """Where the boot disk stands, and the local disks that the pool wants raw.

    Raises:
        Refusal: The boot disk is too large, or the machine lacks the disks that the pool asks for.
    """
    if pool.disk_gib > _BOOT_MAX:
        raise Refusal(
            f"a boot disk of {pool.disk_gib} GiB",
            where=f"{where}.disk_gib",
            rule=f"AKS's boot disks are {_BOOT_MAX} GiB at most",
            way_out=f"write {_BOOT_MAX} or less, and put data on volumes",
        )
    match pool.local_disks:
        case "none":
            return LocalDisks(mode="none", boot="network")
        case "raw":
            return _raw(pool, sku, f"{where}.local_disks")
        case "ephemeral":
            _refuse_unless_it_fits(pool, sku, f"{where}.local_disks")
            return LocalDisks(mode="ephemeral", gib=pool.disk_gib, boot="local")
        case None:
            boot = _boot(pool, sku)
            if boot == "local":
                return LocalDisks(mode="ephemeral", gib=pool.disk_gib, boot=boot)
            return LocalDisks(mode="none", boot=boot)


def _limit(sku: Sku) -> int | None:
    """The largest ephemeral OS disk, GiB; None where Azure does not say."""
    if sku.family in _NEVER:
        return 0
    limit = _LIMITS.get(sku.name)
    return None if limit is None else min(limit, _EPHEMERAL_MAX)


def _boot(pool: NodePool, sku: Sku) -> _Boot:
    limit = _limit(sku)
    if limit is None:
        return "cloud"
    return "local" if pool.disk_gib <= limit else "network"


def _raw(pool: NodePool, sku: Sku, where: str) -> LocalDisks:
    if sku.name not in _NVME:
        raise Refusal(
            f"{sku.name} has no NVMe disks for block devices",
            where=where,
            rule="its temporary disk is formatted and mounted by the node image"
            if sku.local_ssd
            else "Azure names none for it",
            way_out="leave local_disks out, or choose a machine type that has some: "
            f"{', '.join(sorted(_NVME))}",
        )
    count, gib = _NVME[sku.name]
    return LocalDisks(mode="raw", count=count, gib=gib, boot=_boot(pool, sku))


def _refuse_unless_it_fits(pool: NodePool, sku: Sku, where: str) -> None:
    limit = _limit(sku)
    if limit is not None and pool.disk_gib <= limit:
        return
    if limit is None:
        raise Refusal(
            f"how large a local boot disk {sku.name} takes is not published",
            where=where,
            rule="a pool is promised local storage only where it is known to fit",
            way_out="leave local_disks out: AKS then puts the boot disk there if it fits",
        )
    raise Refusal(
        f"a boot disk of {pool.disk_gib} GiB does not fit into the local storage of {sku.name}",
        where=where,
        rule=f"an ephemeral OS disk takes {limit} GiB at most there"
        if limit
        else "the machine takes no ephemeral OS disk",
        way_out=f"write disk_gib: {limit} or less, or local_disks: none"
        if limit >= _SMALLEST
        else "use local_disks: none",
    )
