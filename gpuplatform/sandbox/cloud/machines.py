"""Whether a machine type can be had, as far as the catalogue knows; what it does not know is let pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gpuplatform.sandbox.cloud.rule import CloudError

if TYPE_CHECKING:
    from gpuplatform import catalog

__all__ = ["refuse"]


def refuse(
    cloud: catalog.Cloud,
    sku: str,
    region: str,
    zone_ids: Sequence[str],
    *,
    unknown: str,
    not_in_region: str,
    not_in_zone: Callable[[str], str],
) -> None:
    """Raises the cloud's own error for a machine type that does not exist, is retired, or is not sold there.

    Args:
        cloud: `aws`, `azure` or `gcp`.
        sku: The machine type.
        region: Where.
        zone_ids: In which zones; none if the cloud may choose.
        unknown: The error for a name that is close to one that exists but is none itself.
        not_in_region: The error for a region in which it is not sold.
        not_in_zone: The error for a zone of a region in which it is sold elsewhere.
    """
    from gpuplatform.catalog import load

    known = load()
    found = known.sku(cloud, sku)
    if found is None:
        # A machine type that nobody has heard of may be newer than the catalogue; one that is nearly
        # another's name is a slip.
        if known.machine(cloud, sku) is None and known.nearest(cloud, sku, n=1):
            raise CloudError(unknown)
        return
    if found.is_retired(datetime.now(UTC).date()):
        raise CloudError(unknown)
    offering = known.offering(cloud, sku, region)
    if offering is None and known.regions(cloud, sku):
        raise CloudError(not_in_region)
    if offering and offering.zone_ids:
        for zone in zone_ids:
            if zone not in offering.zone_ids:
                raise CloudError(not_in_zone(zone))
