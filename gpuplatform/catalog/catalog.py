"""Look-ups: which machine types exist, where they are sold, at what price.

The catalogue answers only what its data says. What it does not know comes back as None, an empty tuple or
`Unpriced` with the reason, and never as a value from another region or machine type.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path

from gpuplatform.catalog.loader import cloud_data
from gpuplatform.catalog.model import (
    CLOUDS,
    Cloud,
    KubernetesVersion,
    Machine,
    Offering,
    Price,
    PriceBasis,
    Region,
    Sku,
    Unpriced,
)

__all__ = ["Catalog", "load"]

# A reservation (AWS ODCR, Azure capacity reservation group, GCP reservation) holds capacity and is billed at
# the on-demand rate. A committed discount is the account's own secret: only the stack's own file can know it.
_BILLED_ON_DEMAND = frozenset({"on-demand", "reservation"})
_RESERVED = frozenset({"reservation", "capacity-block"})

_GPU_BONUS = 0.02

Overlay = Mapping[tuple[Cloud, str, str], Offering]


class Catalog:
    """Immutable. `load()` gives the product's own; `with_prices` lays a stack's own file over it."""

    def __init__(self, overlay: Overlay | None = None) -> None:
        self._overlay: Overlay = dict(overlay or {})

    # Hardware

    def skus(self, cloud: Cloud | None = None) -> tuple[Sku, ...]:
        """Every GPU machine type, of one cloud or of all."""
        clouds = CLOUDS if cloud is None else (cloud,)
        return tuple(sku for each in clouds for sku in cloud_data(each).skus.values())

    def sku(self, cloud: Cloud, name: str) -> Sku | None:
        """A GPU machine type by its exact name.

        On GCP, `n1-standard-8+nvidia-tesla-t4:1` is the GPU on that host, where the host is a known N1
        machine type no larger than the GPU allows: its vCPUs and memory are then the host's.
        """
        data = cloud_data(cloud)
        if name in data.skus:
            return data.skus[name]
        host_name, plus, accelerator = name.partition("+")
        if not plus or not host_name.startswith("n1-"):
            return None
        attached, host = data.skus.get(f"n1+{accelerator}"), data.machine(host_name)
        if attached is None or host is None or host.vcpu is None:
            return None
        if attached.host_vcpu_max is not None and host.vcpu > attached.host_vcpu_max:
            return None
        return replace(attached, name=name, vcpu=host.vcpu, ram_gib=host.ram_gib)

    def machine(self, cloud: Cloud, name: str) -> Machine | None:
        """A machine type without a GPU, by its exact name."""
        return cloud_data(cloud).machine(name)

    def nearest(self, cloud: Cloud, name: str, n: int = 3) -> tuple[str, ...]:
        """The `n` known names most like a misspelt one, the likeliest first; none if nothing is like it.

        Of two names about equally alike the GPU machine type comes first, since pools are mostly for GPUs.
        """
        data = cloud_data(cloud)
        bonus = dict.fromkeys(data.machine_names, 0.0) | dict.fromkeys(data.skus, _GPU_BONUS)
        folded = {known.casefold(): known for known in bonus}
        close = difflib.get_close_matches(name.casefold(), folded, n=4 * n, cutoff=0.75)
        likeness = {
            folded[match]: difflib.SequenceMatcher(None, match, name.casefold()).ratio()
            + bonus[folded[match]]
            for match in close
        }
        return tuple(sorted(likeness, key=lambda known: (-likeness[known], known))[:n])

    # Places

    def offering(self, cloud: Cloud, name: str, region: str) -> Offering | None:
        """A machine type in a region, the stack's own file first.

        None means "not offered" only where `regions(cloud, name)` is not empty; else nothing is known.
        Prices come from `price`, which also knows the catalogue's where the stack's file has none.
        """
        return next(self._offerings(cloud, name, region), None)

    def _offerings(self, cloud: Cloud, name: str, region: str) -> Iterator[Offering]:
        """The stack's own row, then the catalogue's."""
        own = self._overlay.get((cloud, name, region))
        catalogues = cloud_data(cloud).offering(name, region)
        return (offering for offering in (own, catalogues) if offering is not None)

    def regions(self, cloud: Cloud, name: str) -> tuple[str, ...]:
        """Where a machine type is sold. Empty: not known, which is not the same as nowhere."""
        own = (region for c, sku, region in self._overlay if (c, sku) == (cloud, name))
        return tuple(sorted({*cloud_data(cloud).offered_regions(name), *own}))

    def region(self, cloud: Cloud, name: str) -> Region | None:
        """A region by its exact name."""
        return cloud_data(cloud).regions.get(name)

    def knows_region(self, cloud: Cloud, region: str) -> bool:
        """Whether the cloud has such a region, as far as the catalogue knows."""
        return region in cloud_data(cloud).regions or (cloud, region) in {(c, r) for c, _, r in self._overlay}

    def nearest_region_names(self, cloud: Cloud, region: str, n: int = 3) -> tuple[str, ...]:
        """The region names most like a misspelt one."""
        return tuple(difflib.get_close_matches(region.casefold(), cloud_data(cloud).regions, n=n, cutoff=0.6))

    def regions_near(self, cloud: Cloud, region: str, among: Iterable[str]) -> tuple[str, ...]:
        """`among`, nearest to `region` first by great-circle distance.

        A region whose place is not known comes last; an unknown `region` leaves them in order of their names.
        """
        known = cloud_data(cloud).regions
        here = known.get(region)

        def distance(other: str) -> tuple[float, str]:
            there = known.get(other)
            return (_kilometres(here, there) if here and there else math.inf, other)

        return tuple(sorted(set(among), key=distance))

    def zone_ids(self, cloud: Cloud, region: str) -> tuple[str, ...]:
        """The region's zone IDs. Empty: not known. AWS zone NAMES are an account's own and never here."""
        own = {
            zone
            for (own_cloud, _, own_region), offering in self._overlay.items()
            if (own_cloud, own_region) == (cloud, region)
            for zone in offering.zone_ids
        }
        return tuple(sorted({*cloud_data(cloud).zone_ids.get(region, ()), *own}))

    # Money

    def price(
        self, cloud: Cloud, name: str, region: str, capacity_kind: str = "on-demand"
    ) -> Price | Unpriced:
        """One machine for one hour in one region, for a GPU machine type or any other.

        Args:
            cloud: The cloud.
            name: The machine type.
            region: The region; a price never comes from another one.
            capacity_kind: `on-demand`, `spot`, `reservation`, `capacity-block`, `flex-start` or `queued`. The
                kind's own price where one is known, else the on-demand price: as a ceiling, except for
                reservations, which are billed at it. At each step the stack's own file is asked first.
        """
        offerings = tuple(self._offerings(cloud, name, region))
        for amount_of in (_own_amount, _on_demand_amount):
            for offering in offerings:
                found = amount_of(offering, capacity_kind)
                if found is not None and offering.price_date is not None:
                    amount, basis = found
                    return Price(
                        usd_per_hour=amount,
                        date=offering.price_date,
                        source=offering.price_source,
                        origin=offering.origin,
                        basis=basis,
                    )
        return Unpriced(reason=self._why_unpriced(cloud, name, region))

    def _why_unpriced(self, cloud: Cloud, name: str, region: str) -> str:
        sku = self.sku(cloud, name)
        if sku is not None and sku.host_vcpu_max is not None:
            return f"no dated price for the GPU that {name} attaches to its host is known in {region}"
        if sku is None and self.machine(cloud, name) is None:
            return f"{name} in {region}: the catalogue does not know this machine type"
        if sku is not None and sku.on_demand is False:
            return f"no price is known for {name} in {region}: it is not sold on demand"
        return f"no price is known for {name} in {region}"

    def kubernetes(self, cloud: Cloud) -> tuple[KubernetesVersion, ...]:
        """The cloud's Kubernetes minors, oldest first."""
        return cloud_data(cloud).kubernetes

    def with_prices(self, path: Path) -> Catalog:
        """This catalogue with a stack's own file laid over it: see `gpuplatform.catalog.own_prices`.

        Raises:
            ConfigError: The file cannot be read, or rows of it are wrong; every wrong row is named.
        """
        from gpuplatform.catalog import own_prices

        return Catalog({**self._overlay, **own_prices.read(path, self)})


def _own_amount(offering: Offering, capacity_kind: str) -> tuple[Decimal, PriceBasis] | None:
    """What this kind of capacity itself costs, if it differs from on-demand."""
    if capacity_kind == "spot" and offering.usd_per_hour_spot is not None:
        return offering.usd_per_hour_spot, "spot"
    if capacity_kind in _RESERVED and offering.usd_per_hour_reserved is not None:
        return offering.usd_per_hour_reserved, "reserved"
    return None


def _on_demand_amount(offering: Offering, capacity_kind: str) -> tuple[Decimal, PriceBasis] | None:
    if offering.usd_per_hour is None:
        return None
    basis: PriceBasis = "on-demand" if capacity_kind in _BILLED_ON_DEMAND else "on-demand as ceiling"
    return offering.usd_per_hour, basis


def _kilometres(here: Region, there: Region) -> float:
    """Great-circle distance (haversine on a sphere of 6371 km: good to half a per cent: enough to sort)."""
    lat1, lat2 = math.radians(here.latitude), math.radians(there.latitude)
    half_lat = math.sin((lat2 - lat1) / 2)
    half_lon = math.sin(math.radians(there.longitude - here.longitude) / 2)
    chord = half_lat**2 + math.cos(lat1) * math.cos(lat2) * half_lon**2
    return 2 * 6371 * math.asin(math.sqrt(chord))


@cache
def load() -> Catalog:
    """The product's own catalogue."""
    return Catalog()
