"""What a fast disk may be: the IOPS and throughput that its kind is sold with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gpuplatform.config.storage import Block
from gpuplatform.errors import Refusal

__all__ = ["FastDisk", "Performance", "class_names", "performance"]

BASELINE_IOPS: Final = 3000
"""Of gp3, AWS's default disk, and what Premium SSD v2 and Hyperdisk Balanced have without a surcharge.

Fewer would make the fast class the slower one; io2 starts at 100."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FastDisk:
    """The kind of disk of the fast class.

    Attributes:
        name: What its cloud calls it.
        iops: IOPS that one disk may have.
        mibps: MiB/s that one disk may have; None where it follows from the IOPS.
        mibps_an_iops: The most MiB/s for each IOPS: with fewer IOPS a disk never reaches its throughput.
        iops_a_mibps: The most IOPS for each MiB/s; None where any throughput goes with any IOPS.
        source: Where this is documented.
    """

    name: str
    iops: range
    mibps: range | None
    mibps_an_iops: float
    iops_a_mibps: int | None = None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Performance:
    """What each fast disk has.

    Attributes:
        iops: IOPS.
        mibps: MiB/s; None where it follows from the IOPS.
    """

    iops: int
    mibps: int | None


def performance(block: Block, disk: FastDisk, where: str) -> Performance:
    """IOPS and throughput of each fast disk.

    Raises:
        Refusal: A disk of this kind cannot have them.
    """
    iops = BASELINE_IOPS if block.iops is None else block.iops
    if iops not in disk.iops:
        raise Refusal(
            f"a disk with {iops} IOPS",
            where=f"{where}.iops",
            rule=f"{disk.name} has {disk.iops[0]} to {disk.iops[-1]} IOPS ({disk.source})",
            way_out=f"write iops: {disk.iops[0] if iops < disk.iops[0] else disk.iops[-1]}",
        )
    return Performance(iops=iops, mibps=_mibps(block, disk, iops, where))


def _mibps(block: Block, disk: FastDisk, iops: int, where: str) -> int | None:
    asked = block.throughput_mibps
    if disk.mibps is None:
        if asked is not None:
            raise _follows(asked, disk, f"{where}.throughput_mibps")
        return None
    least = disk.mibps[0] if disk.iops_a_mibps is None else max(disk.mibps[0], -(-iops // disk.iops_a_mibps))
    mibps = least if asked is None else asked
    if mibps not in disk.mibps:
        nearest = least if mibps < disk.mibps[0] else disk.mibps[-1]
        needed = _iops_for(nearest, disk)
        raise Refusal(
            f"a disk with {mibps} MiB/s",
            where=f"{where}.throughput_mibps",
            rule=f"{disk.name} has {disk.mibps[0]} to {disk.mibps[-1]} MiB/s ({disk.source})",
            way_out=f"write throughput_mibps: {nearest}" + (f" and iops: {needed}" if needed > iops else ""),
        )
    if mibps < least:
        raise Refusal(
            f"{mibps} MiB/s for {iops} IOPS",
            where=f"{where}.throughput_mibps",
            rule=f"{disk.name} has at least 1 MiB/s for {disk.iops_a_mibps} IOPS ({disk.source})",
            way_out=f"write throughput_mibps: {least}, or leave it out",
        )
    most = int(iops * disk.mibps_an_iops)
    if mibps > most:
        raise Refusal(
            f"{mibps} MiB/s from {iops} IOPS",
            where=f"{where}.throughput_mibps",
            rule=f"{disk.name} gives {disk.mibps_an_iops:g} MiB/s at most for each IOPS ({disk.source})",
            way_out=f"write throughput_mibps: {most}, or iops: {_iops_for(mibps, disk)}",
        )
    return mibps


def _follows(asked: int, disk: FastDisk, where: str) -> Refusal:
    needed = min(max(_iops_for(asked, disk), disk.iops[0]), disk.iops[-1])
    return Refusal(
        f"a disk with {asked} MiB/s",
        where=where,
        rule=f"the throughput of {disk.name} follows its IOPS, {disk.mibps_an_iops:g} MiB/s each "
        f"({disk.source})",
        way_out=f"leave throughput_mibps out, and write iops: {needed}",
    )


def _iops_for(mibps: int, disk: FastDisk) -> int:
    return -int(-mibps // disk.mibps_an_iops)


def class_names(tier: str) -> tuple[str, str]:
    """Names of the default class and of the fast one; no class that a cloud brings along ends so."""
    return f"{tier}-default", f"{tier}-fast"
