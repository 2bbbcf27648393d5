"""What a shared file system may be: the sizes and throughputs that its service sells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from gpuplatform.config.storage import SharedFilesystem
from gpuplatform.errors import Refusal
from gpuplatform.storage.model import Service, SharedFilesystemPlan

__all__ = ["FilesystemService", "NotSold", "Offer", "shared_filesystem"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One thing that a service sells.

    Attributes:
        sku: The service's own name for it; empty where it has none.
        throughput: MB/s for each TiB; None where that is no choice.
        sizes: Sizes that it is sold in, GiB, as runs of equal steps from the smallest to the largest.
        source: Where this is documented.
    """

    sku: str = ""
    throughput: int | None = None
    sizes: tuple[range, ...]
    source: str

    def sells(self, gib: int) -> bool:
        """Whether it is sold in this size."""
        return any(gib in run for run in self.sizes)

    def nearest(self, gib: int) -> tuple[int, ...]:
        """The sold sizes next to `gib`, GiB: below it, above it, or both."""
        below = [run[min(len(run) - 1, (gib - run[0]) // run.step)] for run in self.sizes if gib >= run[0]]
        above = [run[max(0, -((run[0] - gib) // run.step))] for run in self.sizes if gib <= run[-1]]
        return tuple(dict.fromkeys([*below[-1:], *above[:1]]))


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesystemService:
    """A service for shared file systems.

    Attributes:
        service: The plan's word for it.
        name: What its cloud calls it.
        offers: What it sells, the least throughput first.
        zonal: Whether it stands in one zone.
        why_no_throughput: Why throughput is no choice; empty where it is one.
        why_no_source: Why it follows no bucket; empty where it does.
    """

    service: Service
    name: str
    offers: tuple[Offer, ...]
    zonal: bool
    why_no_throughput: str = ""
    why_no_source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotSold:
    """A kind of file system that a cloud has no service for here.

    Attributes:
        why: Why, as a rule.
        way_out: What to use instead.
    """

    why: str
    way_out: str


def shared_filesystem(
    name: str, tier: SharedFilesystem, sold: FilesystemService | NotSold, zone: Callable[[], str]
) -> SharedFilesystemPlan:
    """The plan of a shared file system.

    Args:
        name: The tier's name.
        tier: What is asked for.
        sold: What the cloud sells for `tier.service`.
        zone: The zone of what stands in one and names none.

    Raises:
        Refusal: The service does not sell it so.
    """
    where = f"storage.{name}"
    if isinstance(sold, NotSold):
        raise Refusal(
            f"{tier.service} is not built here", where=f"{where}.service", rule=sold.why, way_out=sold.way_out
        )
    if tier.source is not None and sold.why_no_source:
        raise Refusal(
            f"{sold.name} would follow the bucket of {tier.source}",
            where=f"{where}.source",
            rule=sold.why_no_source,
            way_out="leave source out, and let pods mount both tiers",
        )
    if tier.zone is not None and not sold.zonal:
        raise Refusal(
            f"{sold.name} would stand in zone {tier.zone}",
            where=f"{where}.zone",
            rule=f"{sold.name} belongs to the region and is reached from all its zones",
            way_out="leave zone out",
        )
    offer = _offer(tier, sold, where)
    return SharedFilesystemPlan(
        tier=name,
        service=sold.service,
        capacity_gib=tier.capacity_gib,
        throughput=offer.throughput,
        sku=offer.sku,
        zone=(tier.zone or zone()) if sold.zonal else "",
        source=tier.source or "",
        keep=tier.teardown == "keep",
    )


def _offer(tier: SharedFilesystem, sold: FilesystemService, where: str) -> Offer:
    """What is bought; where no throughput is asked for, the least that is sold in this size."""
    offers = _of_throughput(tier.throughput, sold, where)
    for offer in offers:
        if offer.sells(tier.capacity_gib):
            return offer
    others = [one for one in sold.offers if one not in offers and one.sells(tier.capacity_gib)]
    nearest = _listed(_sizes(offers, tier.capacity_gib))
    instead = f", or throughput: {_listed(str(one.throughput) for one in others)}" if others else ""
    raise Refusal(
        f"{sold.name} is not sold in {tier.capacity_gib} GiB",
        where=f"{where}.capacity_gib",
        rule=f"{_rules(offers)} ({offers[0].source})",
        way_out=f"write capacity_gib: {nearest}{instead}",
    )


def _of_throughput(throughput: int | None, sold: FilesystemService, where: str) -> tuple[Offer, ...]:
    if throughput is None:
        return sold.offers
    if sold.why_no_throughput:
        raise Refusal(
            f"{throughput} MB/s for each TiB of {sold.name}",
            where=f"{where}.throughput",
            rule=f"{sold.why_no_throughput} ({sold.offers[0].source})",
            way_out="leave throughput out",
        )
    found = tuple(offer for offer in sold.offers if offer.throughput == throughput)
    if not found:
        levels = [str(offer.throughput) for offer in sold.offers]
        raise Refusal(
            f"{sold.name} has no {throughput} MB/s for each TiB",
            where=f"{where}.throughput",
            rule=f"it is sold with {_listed(levels)} ({sold.offers[0].source})",
            way_out=f"write throughput: {_near(throughput, sold.offers)}",
        )
    return found


def _near(throughput: int, offers: Iterable[Offer]) -> str:
    levels = [offer.throughput for offer in offers if offer.throughput is not None]
    below = [level for level in levels if level < throughput][-1:]
    return _listed(str(level) for level in (*below, *[one for one in levels if one > throughput][:1]))


def _sizes(offers: Sequence[Offer], gib: int) -> Iterator[str]:
    """The nearest sizes of all offers, the largest below and the smallest above, and what they come with."""
    sizes = sorted({size for offer in offers for size in offer.nearest(gib)})
    below = [size for size in sizes if size < gib][-1:]
    alike = len({offer.sizes for offer in offers}) == 1
    for size in (*below, *[size for size in sizes if size > gib][:1]):
        least = next(offer.throughput for offer in offers if offer.sells(size))
        yield str(size) if alike else f"{size} (at {least} MB/s for each TiB)"


def _rules(offers: Sequence[Offer]) -> str:
    """What is sold in which sizes; said once where that is all the same."""
    if len({offer.sizes for offer in offers}) == 1:
        return f"it is sold in {_runs(offers[0])}"
    each = (f"{_runs(offer)} at {offer.throughput} MB/s for each TiB" for offer in offers)
    return f"it is sold in {'; '.join(each)}"


def _runs(offer: Offer) -> str:
    runs = [
        f"{run[0]} GiB"
        if len(run) == 1
        else f"{run[0]} to {run[-1]} GiB in any size"
        if run.step == 1
        else f"{run[0]} to {run[-1]} GiB in steps of {run.step}"
        for run in offer.sizes
    ]
    return _listed(runs, "and")


def _listed(words: Iterable[str], last: str = "or") -> str:
    several = list(words)
    return f" {last} ".join(filter(None, (", ".join(several[:-1]), several[-1])))
