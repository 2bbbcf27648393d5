"""Rules about where: the region may be used, and the machine type is sold in the region and zone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gpuplatform.catalog import Catalog, Cloud, Sku, Status
from gpuplatform.guardrails.footprint import ControlPlane, NodeGroup, Unknown
from gpuplatform.guardrails.limits import Limits
from gpuplatform.guardrails.verdict import Verdict, fail, not_evaluated, passed

__all__ = ["judge_place", "judge_region"]

_SHOWN: Final = 5
_AWS_ZONE_NAME = re.compile(r"(?P<region>[a-z]{2}(?:-[a-z]+)+-\d)[a-z]$")


def judge_region(subject: NodeGroup | ControlPlane, limits: Limits, catalog: Catalog) -> Iterator[Verdict]:
    """The verdict of `region`: it exists, and is on the allow-list where there is one."""
    region = subject.region
    if isinstance(region, Unknown):
        yield not_evaluated("region", subject, str(region))
        return
    if not catalog.knows_region(subject.cloud, region):
        near = catalog.nearest_region_names(subject.cloud, region)
        yield fail(
            "region",
            subject,
            f"{subject.cloud} has no region {region}, as far as the catalogue knows",
            f"did you mean {' or '.join(near)}?"
            if near
            else "an offering in a price file of your own adds it",
        )
    elif limits.regions is None:
        yield passed("region", subject, f"{region} exists; no list restricts regions")
    elif region in limits.regions:
        yield passed("region", subject, f"{region} is on the list")
    else:
        yield fail(
            "region",
            subject,
            f"the region {region} is not on the list; allowed: {', '.join(limits.regions) or 'none'}",
            "move to an allowed region, or ask Operations to allow this one",
        )


def judge_place(group: NodeGroup, catalog: Catalog) -> Iterator[Verdict]:
    """The verdicts of `offered` and `zone` on one group."""
    if isinstance(group.region, Unknown) or not catalog.knows_region(group.cloud, group.region):
        return  # judge_region has said so
    skus = [sku for machine in group.machines if (sku := catalog.sku(group.cloud, machine)) is not None]
    for sku in skus:
        yield _offered(group, sku, group.region, catalog)
    if isinstance(group.zones, Unknown):
        yield not_evaluated("zone", group, str(group.zones))
    elif group.zones:
        yield from _zones_exist(group, group.zones, group.region, catalog)
        for sku in skus:
            yield from _zones_offer(group, sku, group.zones, group.region, catalog)


def _offered(group: NodeGroup, sku: Sku, region: str, catalog: Catalog) -> Verdict:
    sold_in = catalog.regions(group.cloud, sku.name)
    if not sold_in:
        return not_evaluated(
            "offered",
            group,
            f"the catalogue does not know where {sku.name} is sold",
            f"a price file of your own may list it in {region}",
        )
    if catalog.offering(group.cloud, sku.name, region) is None:
        nearest = catalog.regions_near(group.cloud, region, sold_in)
        more = f" and {len(nearest) - _SHOWN} more" if len(nearest) > _SHOWN else ""
        return fail(
            "offered",
            group,
            f"{sku.name} is not offered in {region}",
            f"it is, nearest first, in {', '.join(nearest[:_SHOWN])}{more}",
        )
    if sku.status is Status.CAPACITY_ONLY and group.capacity in {"on-demand", "spot"}:
        return fail(
            "offered",
            group,
            f"{sku.name} is sold through capacity blocks and reservations only, not {group.capacity}",
            "choose a type that is sold on demand: gpuplatform sku list",
        )
    if sku.on_demand is False and group.capacity == "on-demand" and sku.status is not Status.RETIRED:
        return fail(
            "offered",
            group,
            f"{sku.name} is not sold on demand",
            "use spot capacity, or a type that is sold on demand: gpuplatform sku list",
        )
    return passed("offered", group, f"{sku.name} is offered in {region}")


def _zones_exist(
    group: NodeGroup, zones: tuple[str, ...], region: str, catalog: Catalog
) -> Iterator[Verdict]:
    # Azure's zones are 1 to 3 everywhere, GCP's name their region; only an AWS zone ID needs looking up.
    known = catalog.zone_ids(group.cloud, region) if group.cloud == "aws" else ()
    for zone in zones:
        home = _region_of(group.cloud, zone)
        if home is not None and home != region:
            yield fail("zone", group, f"the zone {zone} is in {home}, not in {region}")
        elif home is None and known and zone not in known:
            yield fail(
                "zone",
                group,
                f"{region} has no zone {zone}",
                f"its zone IDs are {', '.join(known)}",
            )


def _region_of(cloud: Cloud, zone: str) -> str | None:
    """The region that a zone's own name tells; an AWS zone ID and an Azure zone tell none."""
    if cloud == "gcp":
        return zone.rsplit("-", 1)[0]
    match = _AWS_ZONE_NAME.match(zone) if cloud == "aws" else None
    return match["region"] if match else None


def _zones_offer(
    group: NodeGroup, sku: Sku, zones: tuple[str, ...], region: str, catalog: Catalog
) -> Iterator[Verdict]:
    offering = catalog.offering(group.cloud, sku.name, region)
    if offering is None:
        return  # `offered` has said so
    names = [zone for zone in zones if group.cloud == "aws" and _AWS_ZONE_NAME.match(zone)]
    if names:
        yield not_evaluated(
            "zone",
            group,
            f"whether {sku.name} is offered in {', '.join(names)}: zone names are each AWS account's own",
            "give zone IDs (such as use1-az4) to have them checked offline",
        )
    ids = [zone for zone in zones if zone not in names]
    if ids and not offering.zone_ids:
        yield not_evaluated(
            "zone",
            group,
            f"the catalogue does not know in which zones of {region} {sku.name} is offered",
            "a price file of your own may list its zone_ids",
        )
    elif wrong := [zone for zone in ids if zone not in offering.zone_ids]:
        yield fail(
            "zone",
            group,
            f"{sku.name} is not offered in zone {', '.join(wrong)} of {region}",
            f"it is in {', '.join(offering.zone_ids)}",
        )
    elif ids:
        yield passed("zone", group, f"{sku.name} is offered in {', '.join(ids)}")
