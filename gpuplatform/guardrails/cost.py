"""What a footprint costs in a month, at its minimum and at the autoscaler's maximum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from decimal import ROUND_CEILING, Decimal
from typing import Final

from gpuplatform.catalog import Catalog, Price, Unpriced
from gpuplatform.guardrails.footprint import ControlPlane, Footprint, NodeGroup, Unknown

__all__ = ["CONTROL_PLANE", "HOURS_A_MONTH", "NOT_COUNTED", "Cost", "CostLine", "cents", "cost", "usd"]

CONTROL_PLANE: Final = "control plane"
"""The item of a cost line that no machine type is."""

HOURS_A_MONTH: Final = 730
"""A year's hours over twelve, as the clouds' own price calculators count."""

NEWER_CATALOGUE: Final = "take a newer release of gpuplatform"
"""The one way to another price of a control plane: no price file has rows for one."""

NOT_COUNTED: Final = (
    "disks and storage tiers",
    "NAT gateways and public addresses",
    "data transfer",
    "load balancers",
    "logs and metrics",
    "upgrade surge",
)
"""What the sum leaves out, for reports to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """One node group or control plane.

    Attributes:
        subject: Its name.
        where: Path in the configuration or URN.
        item: What is paid for: the machine type, or `CONTROL_PLANE`.
        minimum_count: How many always run; None where that is unknown.
        maximum_count: How many may run; None where that is unknown.
        usd_per_hour: Of one; None where no price is known.
        basis: What the price is: `on-demand`, `spot`, `reserved`, `standard support` ...
        date: The price's date.
        origin: `catalogue`, or the stack's own file.
        reason: Why the maximum is not known; empty where it is.
        way_out: What to do about that; empty where nothing but the update helps.
        spot_is_cheaper: Whether the same machines are known to cost less as spot capacity.
    """

    subject: str
    where: str
    item: str
    minimum_count: int | None
    maximum_count: int | None
    usd_per_hour: Decimal | None
    basis: str = ""
    date: date | None = None
    origin: str = ""
    reason: str = ""
    way_out: str = ""
    spot_is_cheaper: bool = False

    @property
    def minimum(self) -> Decimal | None:
        """US dollars a month at the least."""
        return _month(self.usd_per_hour, self.minimum_count)

    @property
    def maximum(self) -> Decimal | None:
        """US dollars a month at the most; None where it is not known."""
        return _month(self.usd_per_hour, self.maximum_count)

    def __str__(self) -> str:
        count = "?" if self.maximum_count is None else str(self.maximum_count)
        amount = "unpriced" if self.maximum is None else usd(self.maximum)
        return f"{self.subject} ({count} x {self.item}, {amount})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """A month's cost of a footprint.

    Attributes:
        lines: One for each node group and control plane, dearest first, unpriced ones before them.
        minimum: US dollars a month of what always runs; None where part of it is not known.
        maximum: The same at the autoscaler's maximum.
        priced_maximum: The known part of the maximum: never more than the whole.
        unpriced: Why the maximum is not known; empty where it is.
    """

    lines: tuple[CostLine, ...]
    minimum: Decimal | None
    maximum: Decimal | None
    priced_maximum: Decimal
    unpriced: tuple[str, ...]


def cost(footprint: Footprint, catalog: Catalog, today: date) -> Cost:
    """Prices every group and control plane.

    Args:
        footprint: What would run.
        catalog: Prices, the stack's own laid over the catalogue's.
        today: Decides whether a Kubernetes minor is charged at its extended-support price.
    """
    lines = [
        *(_group_line(group, catalog) for group in footprint.node_groups),
        *(_plane_line(plane, catalog, today) for plane in footprint.control_planes),
    ]
    lines.sort(key=lambda line: (line.maximum is not None, -(line.maximum or 0)))
    minimums = [line.minimum for line in lines if line.minimum is not None]
    maximums = [line.maximum for line in lines if line.maximum is not None]
    return Cost(
        lines=tuple(lines),
        minimum=sum(minimums, Decimal(0)) if len(minimums) == len(lines) else None,
        maximum=sum(maximums, Decimal(0)) if len(maximums) == len(lines) else None,
        priced_maximum=sum(maximums, Decimal(0)),
        unpriced=tuple(line.reason for line in lines if line.reason),
    )


def usd(amount: Decimal) -> str:
    """An amount as people write it: $1,234.50."""
    return f"${cents(amount):,.2f}"


def cents(amount: Decimal) -> Decimal:
    """An amount in whole cents, rounded up: what is printed is what is compared, and nothing costs $0.00."""
    return amount.quantize(Decimal("0.01"), ROUND_CEILING)


def _month(usd_per_hour: Decimal | None, count: int | None) -> Decimal | None:
    if count == 0:
        return Decimal(0)
    if usd_per_hour is None or count is None:
        return None
    return usd_per_hour * count * HOURS_A_MONTH


def _group_line(group: NodeGroup, catalog: Catalog) -> CostLine:
    price, reason, way_out = _machine_price(group, catalog)
    count = None if isinstance(group.nodes_max, Unknown) else group.nodes_max
    reasons = [] if count == 0 else [reason]
    if isinstance(group.nodes_max, Unknown):
        reasons.append(f"{group.name}: {group.nodes_max}")
    return CostLine(
        subject=group.name,
        where=group.where,
        item=" or ".join(group.machines) or "an unknown machine",
        minimum_count=None if isinstance(group.nodes_min, Unknown) else group.nodes_min,
        maximum_count=count,
        usd_per_hour=price.usd_per_hour if price else None,
        basis=price.basis if price else "",
        date=price.date if price else None,
        origin=price.origin if price else "",
        reason="; ".join(filter(None, reasons)),
        way_out="" if count == 0 else way_out,
        spot_is_cheaper=price is not None and _spot_is_cheaper(group, price, catalog),
    )


def _spot_is_cheaper(group: NodeGroup, price: Price, catalog: Catalog) -> bool:
    """Not where spot is counted at its ceiling, the on-demand price: it would not lower the sum."""
    if group.capacity == "spot":
        return False
    spot, _, _ = _machine_price(replace(group, capacity="spot"), catalog)
    return spot is not None and spot.basis == "spot" and spot.usd_per_hour < price.usd_per_hour


def _machine_price(group: NodeGroup, catalog: Catalog) -> tuple[Price | None, str, str]:
    """The dearest of the group's machine types; or why no price is known, and the way out."""
    if isinstance(group.machine, Unknown):
        return None, f"{group.name}: {group.machine}", ""
    if isinstance(group.region, Unknown):
        return None, f"{group.name}: {group.region}", ""
    if not group.machine:
        return None, f"{group.name}: no machine type is given", "name a machine type"
    prices: list[Price] = []
    for machine in group.machines:
        price = catalog.price(group.cloud, machine, group.region, group.capacity)
        if isinstance(price, Unpriced):
            return None, f"{group.name}: {price.reason}", _way_to_price(group, machine, catalog)
        prices.append(price)
    return max(prices, key=lambda price: price.usd_per_hour), "", ""


def _way_to_price(group: NodeGroup, machine: str, catalog: Catalog) -> str:
    """A price file prices only machine types of the catalogue (`catalog.own_prices`)."""
    if catalog.sku(group.cloud, machine) or catalog.machine(group.cloud, machine):
        return f"a price file of your own can price {machine}"
    return f"{machine} must come into the catalogue first: docs/how-to/add-a-sku.md"


def _plane_line(plane: ControlPlane, catalog: Catalog, today: date) -> CostLine:
    amount, basis, day, reason = _plane_price(plane, catalog, today)
    return CostLine(
        subject=plane.name,
        where=plane.where,
        item=CONTROL_PLANE,
        minimum_count=1,
        maximum_count=1,
        usd_per_hour=amount,
        basis=basis,
        date=day,
        origin="catalogue" if amount is not None else "",
        reason=reason,
        way_out=_way_to_plane_price(plane, catalog) if reason else "",
    )


def _way_to_plane_price(plane: ControlPlane, catalog: Catalog) -> str:
    if isinstance(plane.support, Unknown) or isinstance(plane.kubernetes_version, Unknown):
        return ""
    minors = [version.minor for version in catalog.kubernetes(plane.cloud)]
    if plane.kubernetes_version in minors:
        return f"a control plane's price is the catalogue's own: {NEWER_CATALOGUE}"
    return f"name a Kubernetes minor that the catalogue prices ({', '.join(minors)}), or {NEWER_CATALOGUE}"


def _plane_price(
    plane: ControlPlane, catalog: Catalog, today: date
) -> tuple[Decimal | None, str, date | None, str]:
    """US dollars an hour, their basis, their date; or why they are not known."""
    if isinstance(plane.support, Unknown):
        return None, "", None, f"{plane.name}: {plane.support}"
    if plane.support == "free":
        return Decimal(0), "free tier", None, ""
    versions = {version.minor: version for version in catalog.kubernetes(plane.cloud)}
    version = versions.get(plane.kubernetes_version) if isinstance(plane.kubernetes_version, str) else None
    if version is None:
        unknown = plane.kubernetes_version
        what = (
            str(unknown)
            if isinstance(unknown, Unknown)
            else f"Kubernetes {unknown or 'of the default version'}"
        )
        return None, "", None, f"{plane.name}: no control-plane price is known for {what} on {plane.cloud}"
    # AKS asks the Premium tier's price from the day long-term support is switched on, the other two only
    # once the minor has left standard support (https://aws.amazon.com/eks/pricing,
    # https://cloud.google.com/kubernetes-engine/pricing, https://azure.microsoft.com/pricing/details/kubernetes-service).
    left = version.standard_until is not None and version.standard_until < today
    if plane.support == "extended" and (left or plane.cloud == "azure"):
        extended = version.control_plane_usd_per_hour_extended
        if extended is None:
            return None, "", None, f"{plane.name}: no price is known for extended support of {version.minor}"
        return extended, "extended support", version.price_date, ""
    return version.control_plane_usd_per_hour, "standard support", version.price_date, ""
