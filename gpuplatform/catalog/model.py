"""What the catalogue's rows mean: hardware, offerings, prices, regions, Kubernetes minors.

All are plain frozen data. `None` always reads as "not known", never as zero or "no".
Money is `Decimal` US dollars; memory is GiB (GB where the field says so); bandwidth is Gbit/s.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Literal, get_args

__all__ = [
    "CLOUDS",
    "Cloud",
    "KubernetesVersion",
    "Machine",
    "Offering",
    "Price",
    "PriceBasis",
    "Region",
    "Sku",
    "Source",
    "Status",
    "Unpriced",
]

Cloud = Literal["aws", "azure", "gcp"]
CLOUDS: tuple[Cloud, ...] = get_args(Cloud)

PriceBasis = Literal["on-demand", "spot", "reserved", "on-demand as ceiling"]


class Status(StrEnum):
    """A machine type's place in its cloud's life cycle."""

    ACTIVE = "active"
    LEGACY = "legacy"
    """Still sold, no end date published; not for new designs."""
    LEGACY_GONE = "legacy_gone"
    """Gone from the cloud's type listing although a price is still published."""
    RETIRED = "retired"
    """Retired, or announced with a date: `Sku.retire_on` says when."""
    CAPACITY_ONLY = "capacity_only"
    """Only through a capacity block or reservation, never on demand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a fact was read. Rows name it by `id`; the title is what reports print."""

    id: str
    title: str
    url: str
    licence: str
    date: date
    """The day the source was published or read at the latest."""
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sku:
    """A GPU machine type: one row of `data/<cloud>/skus.csv`.

    On GCP, a GPU attached to an N1 host is named `n1+<accelerator>:<count>`, or with its host
    `n1-standard-8+<accelerator>:<count>`; see `Catalog.sku`.
    """

    cloud: Cloud
    name: str
    family: str
    status: Status
    retire_on: date | None
    on_demand: bool | None
    gpu_vendor: Literal["nvidia", "amd"]
    gpu_model: str
    gpu_count: Decimal
    """A fraction where the cloud sells a share of a GPU, such as 0.125."""
    gpu_mem_gb_each: Decimal | None
    gpu_mem_mib_api: int | None
    """What the cloud's API reports for one GPU, MiB."""
    vcpu: int | None
    ram_gib: Decimal | None
    host_vcpu_max: int | None
    """For a GPU attached to a host of the user's choice: the largest host allowed. Otherwise None."""
    host_ram_gib_max: Decimal | None
    host_net_gbps_max: Decimal | None
    arch: Literal["amd64", "arm64"]
    local_ssd: Decimal | None
    local_ssd_unit: Literal["", "GB", "GiB"]
    local_ssd_mode: Literal["bundled", "optional", "optional max", "none"]
    net_gbps: Decimal | None
    fabric: Literal["efa", "infiniband", "roce", "tcpx", "tcpxo", "none"]
    fabric_gbps: Decimal | None
    efa_interfaces: int | None
    rdma: bool
    intra_node: str
    """What connects the GPUs of one node: pcie, nvlink, nvswitch, nvl72, xgmi ..."""
    train_class: Literal["full", "partial", "none"]
    """Fit for multi-node training: full (RDMA-class fabric), partial, none."""
    accelerator_usd_per_hour: Decimal | None
    """The attached GPUs alone, without their host; undated, so never used as a price."""
    accelerator_price_note: str
    quota_unit: Literal["vcpu", "gpu"]
    quota_name: str
    quota_code_ondemand: str
    quota_code_spot: str
    k8s_supported: bool
    """Whether the cloud's managed Kubernetes lists the type; `k8s_note` has the fine print."""
    k8s_note: str
    spec_source: str
    spec_date: date
    confidence: str
    """A: read in the source. B: by analogy or from a secondary source; the text says which part."""
    notes: str

    def is_retired(self, today: date) -> bool:
        """Whether nobody can create this type on `today`.

        A retirement announced for a later day is not yet one; being gone from the cloud's listing is.
        """
        if self.status is Status.LEGACY_GONE:
            return True
        return self.status is Status.RETIRED and (self.retire_on is None or self.retire_on <= today)

    @property
    def attaches_to_host(self) -> bool:
        """Whether this is a GPU attached to a host that is still to be chosen (GCP N1 only)."""
        return self.name.startswith("n1+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine type with no GPU: one row of `data/<cloud>/machines.csv`.

    It exists so that "a D where an N was meant" can be told apart from a misspelling, and to price
    system nodes.
    """

    cloud: Cloud
    name: str
    family: str
    vcpu: int | None
    ram_gib: Decimal | None
    arch: Literal["amd64", "arm64"] | None
    source: str
    date: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Offering:
    """A machine type in a region: that it is sold there, in which zones, at which price."""

    cloud: Cloud
    sku: str
    region: str
    zone_ids: tuple[str, ...]
    """Zone IDs (AWS: `use1-az4`, never an account's own names such as `us-east-1a`). Empty: not known."""
    usd_per_hour: Decimal | None
    usd_per_hour_spot: Decimal | None
    usd_per_hour_reserved: Decimal | None
    """Only from a stack's own price file; no public list has it."""
    offered_source: str
    offered_date: date
    price_source: str
    price_date: date | None
    origin: str
    """`catalogue`, or the stack's own file."""

    @property
    def source(self) -> str:
        """Everything this row was read from."""
        if not self.price_source or self.price_source == self.offered_source:
            return self.offered_source
        return f"{self.offered_source}; price: {self.price_source}"

    @property
    def date(self) -> date:
        """The age of the row's youngest part that matters: its price's date, else the offering's."""
        return self.price_date or self.offered_date


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for one machine for one hour, in one region, with its date."""

    usd_per_hour: Decimal
    date: date
    source: str
    origin: str
    basis: PriceBasis


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpriced:
    """No price is known. The reason names the machine type and the region."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A cloud's region and about where it is."""

    cloud: Cloud
    name: str
    geography: str
    latitude: float
    longitude: float
    source: str
    date: date


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesVersion:
    """A Kubernetes minor on one cloud. A date is the last day of that support."""

    cloud: Cloud
    minor: str
    available_from: date | None
    standard_until: date | None
    extended_until: date | None
    control_plane_usd_per_hour: Decimal
    """Standard support. On AKS the Standard tier, which has the uptime SLA; the Free tier costs nothing."""
    control_plane_usd_per_hour_extended: Decimal | None
    source: str
    price_source: str
    price_date: date
    notes: str
    date: date
