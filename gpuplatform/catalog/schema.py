"""The columns of every data file, and the strict reader that turns a row into typed values.

The same tables read the product's own CSV files and check a stack's own price file, so a row means the same
in both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from gpuplatform.catalog.model import CLOUDS, Status

__all__ = [
    "KUBERNETES",
    "MACHINES",
    "OFFERINGS",
    "OWN_PRICES",
    "REGIONS",
    "SKUS",
    "SOURCES",
    "Column",
    "Columns",
    "read_row",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: how its text is read, and what it says.

    Args:
        name: The header.
        read: Turns non-empty text into a value; raises ValueError whose text completes "must be ...".
        doc: What the column says, with its unit.
        required: Whether the cell may be empty.
        empty: The value of an empty cell.
    """

    name: str
    read: Callable[[str], Any]
    doc: str
    required: bool = False
    empty: Any = None


Columns = tuple[Column, ...]


def _text(cell: str) -> str:
    return cell


def _decimal(cell: str) -> Decimal:
    try:
        value = Decimal(cell)
    except InvalidOperation:
        raise ValueError("a number") from None
    if not value.is_finite() or value < 0:
        raise ValueError("a number that is not negative")
    return value


_LEAST_MONEY, _MOST_MONEY = Decimal("0.0001"), Decimal(100_000)
"""US dollars an hour: beyond any machine's price either way, so what lies outside is a slip of the pen."""


def _money(cell: str) -> Decimal:
    value = _decimal(cell)
    if value == 0:
        # A zero in a price list is a hole in it (GCP lists reservation-only hosts at 0.0), never a gift.
        raise ValueError("above 0 (leave it empty where no price is known)")
    if not _LEAST_MONEY <= value <= _MOST_MONEY:
        raise ValueError(f"between {_LEAST_MONEY} and {_MOST_MONEY} US dollars an hour")
    return value


def _whole(cell: str) -> int:
    if not re.fullmatch(r"[0-9]+", cell):
        raise ValueError("a whole number")
    return int(cell)


def _float(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise ValueError("a number") from None


def _day(cell: str) -> date:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", cell):
        raise ValueError("a date such as 2026-08-03")
    try:
        return date.fromisoformat(cell)
    except ValueError:
        raise ValueError("a date of the calendar") from None


def _yes_no(cell: str) -> bool:
    if cell not in {"yes", "no"}:
        raise ValueError("yes or no")
    return cell == "yes"


def _words(cell: str) -> tuple[str, ...]:
    return tuple(cell.split())


def _minor(cell: str) -> str:
    if not re.fullmatch(r"1\.\d+", cell):
        raise ValueError("a minor such as 1.35")
    return cell


def _one_of(*choices: str) -> Callable[[str], str]:
    def read(cell: str) -> str:
        if cell not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return cell

    return read


def _status(cell: str) -> Status:
    try:
        return Status(cell)
    except ValueError:
        raise ValueError(f"one of {', '.join(Status)}") from None


def _text_column(name: str, doc: str, *, required: bool = False) -> Column:
    return Column(name=name, read=_text, doc=doc, required=required, empty="")


_NAME = Column(name="name", read=_text, doc="The machine type, as the cloud spells it.", required=True)
_SOURCE = Column(name="source", read=_text, doc="The id of a row of sources.csv.", required=True)
_DATE = Column(name="date", read=_day, doc="The day the source had the fact.", required=True)

SOURCES = (
    Column(name="id", read=_text, doc="What rows call it.", required=True),
    Column(name="title", read=_text, doc="What reports print.", required=True),
    Column(name="url", read=_text, doc="Where it is.", required=True),
    _text_column("licence", "Its licence, where one is stated."),
    _DATE,
    _text_column("note", "What to know before trusting it."),
)

SKUS = (
    _NAME,
    Column(name="family", read=_text, doc="The series.", required=True),
    Column(name="status", read=_status, doc="Its place in the life cycle: see Status.", required=True),
    Column(name="retire_on", read=_day, doc="The retirement date; empty: none, or not known."),
    Column(name="on_demand", read=_yes_no, doc="Whether it can be had on demand; empty: not known."),
    Column(name="gpu_vendor", read=_one_of("nvidia", "amd"), doc="Who makes the GPU.", required=True),
    Column(name="gpu_model", read=_text, doc="The GPU's model.", required=True),
    Column(name="gpu_count", read=_decimal, doc="GPUs in one machine; fractions exist.", required=True),
    Column(name="gpu_mem_gb_each", read=_decimal, doc="Memory of one GPU, GB."),
    Column(name="gpu_mem_mib_api", read=_whole, doc="Memory of one GPU as the API reports it, MiB."),
    Column(name="vcpu", read=_whole, doc="vCPUs."),
    Column(name="ram_gib", read=_decimal, doc="Memory, GiB."),
    Column(name="host_vcpu_max", read=_whole, doc="Attached GPUs: vCPUs of the largest host."),
    Column(name="host_ram_gib_max", read=_decimal, doc="Attached GPUs: memory of the largest host, GiB."),
    Column(
        name="host_net_gbps_max", read=_decimal, doc="Attached GPUs: network of the largest host, Gbit/s."
    ),
    Column(name="arch", read=_one_of("amd64", "arm64"), doc="The CPU's architecture.", required=True),
    Column(name="local_ssd", read=_decimal, doc="Local NVMe in total, in local_ssd_unit."),
    Column(name="local_ssd_unit", read=_one_of("GB", "GiB"), doc="Its unit.", empty=""),
    Column(
        name="local_ssd_mode",
        read=_one_of("bundled", "optional", "optional max", "none"),
        doc="Whether it comes with the machine.",
        required=True,
    ),
    Column(name="net_gbps", read=_decimal, doc="Network bandwidth, Gbit/s."),
    Column(
        name="fabric",
        read=_one_of("efa", "infiniband", "roce", "tcpx", "tcpxo", "none"),
        doc="What connects nodes for collectives.",
        required=True,
    ),
    Column(name="fabric_gbps", read=_decimal, doc="Its bandwidth per node, Gbit/s."),
    Column(name="efa_interfaces", read=_whole, doc="AWS: EfaInfo.MaximumEfaInterfaces."),
    Column(name="rdma", read=_yes_no, doc="Whether the fabric is RDMA.", required=True),
    Column(name="intra_node", read=_text, doc="What connects the GPUs of one node.", required=True),
    Column(
        name="train_class",
        read=_one_of("full", "partial", "none"),
        doc="Fit for multi-node training.",
        required=True,
    ),
    Column(name="accelerator_usd_per_hour", read=_money, doc="Attached GPUs alone, US dollars an hour."),
    _text_column("accelerator_price_note", "Where that came from."),
    Column(
        name="quota_unit", read=_one_of("vcpu", "gpu"), doc="What the cloud's quota counts.", required=True
    ),
    _text_column("quota_name", "The quota's name."),
    _text_column("quota_code_ondemand", "Its code for on-demand; empty: not known."),
    _text_column("quota_code_spot", "Its code for spot; empty: not known."),
    Column(name="k8s_supported", read=_yes_no, doc="Listed by EKS, AKS or GKE.", required=True),
    _text_column("k8s_note", "The fine print of that."),
    Column(name="spec_source", read=_text, doc="The id of a row of sources.csv.", required=True),
    Column(name="spec_date", read=_day, doc="The day the source had it.", required=True),
    Column(name="confidence", read=_text, doc="A: read in the source; B: by analogy.", required=True),
    _text_column("notes", "What else to know."),
)

MACHINES = (
    _NAME,
    Column(name="family", read=_text, doc="The series.", required=True),
    Column(name="vcpu", read=_whole, doc="vCPUs; empty: not recorded."),
    Column(name="ram_gib", read=_decimal, doc="Memory, GiB; empty: not recorded."),
    Column(name="arch", read=_one_of("amd64", "arm64"), doc="The CPU's architecture; empty: not recorded."),
    _SOURCE,
    _DATE,
)

OFFERINGS = (
    _NAME,
    Column(name="region", read=_text, doc="The region, as the cloud spells it.", required=True),
    Column(name="zone_ids", read=_words, doc="Zone IDs with a blank between; empty: not known.", empty=()),
    Column(name="usd_per_hour", read=_money, doc="On demand, US dollars an hour; empty: not known."),
    Column(name="usd_per_hour_spot", read=_money, doc="Spot on that day, US dollars an hour."),
    _text_column("offered_source", "What says that it is sold there; empty: that its price is listed there."),
    Column(name="offered_date", read=_day, doc="The day of that."),
    _text_column("price_source", "What the prices were read from: sources.csv."),
    Column(name="price_date", read=_day, doc="The prices' day."),
)

REGIONS = (
    Column(name="name", read=_text, doc="The region, as the cloud spells it.", required=True),
    Column(name="geography", read=_text, doc="Country or city.", required=True),
    Column(name="latitude", read=_float, doc="Degrees north.", required=True),
    Column(name="longitude", read=_float, doc="Degrees east.", required=True),
    _SOURCE,
    _DATE,
)

KUBERNETES = (
    Column(name="minor", read=_minor, doc="The minor.", required=True),
    Column(name="available_from", read=_day, doc="First day on this cloud."),
    Column(name="standard_until", read=_day, doc="Last day of standard support; empty: not known."),
    Column(name="extended_until", read=_day, doc="Last day of extended (LTS) support; empty: not known."),
    Column(name="control_plane_usd_per_hour", read=_money, doc="A cluster an hour.", required=True),
    Column(name="control_plane_usd_per_hour_extended", read=_money, doc="The same in extended support."),
    _SOURCE,
    _DATE,
    Column(name="price_source", read=_text, doc="The id of a row of sources.csv.", required=True),
    Column(name="price_date", read=_day, doc="The prices' day.", required=True),
    _text_column("notes", "What else to know."),
)

OWN_PRICES = (
    Column(name="cloud", read=_one_of(*CLOUDS), doc="aws, azure or gcp.", required=True),
    Column(name="sku", read=_text, doc="The machine type, GPU or not.", required=True),
    Column(name="region", read=_text, doc="The region, as the cloud spells it.", required=True),
    Column(
        name="zone_ids", read=_words, doc="Zone IDs with a blank between; empty: the catalogue's.", empty=()
    ),
    Column(name="usd_per_hour", read=_money, doc="On demand, US dollars an hour."),
    Column(name="usd_per_hour_spot", read=_money, doc="Spot, US dollars an hour."),
    Column(
        name="usd_per_hour_reserved", read=_money, doc="Reserved or in a capacity block, US dollars an hour."
    ),
    Column(name="date", read=_day, doc="The day the prices were agreed or read.", required=True),
    Column(
        name="new_region",
        read=_yes_no,
        doc="yes: the cloud has the region although the catalogue does not.",
        empty=False,
    ),
    _text_column("source", "The contract or list they are from."),
)


def read_row(cells: Mapping[str, str], columns: Columns) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """One row's values by column name, and its problems as (column, sentence).

    Args:
        cells: Text by header; a missing header reads as an empty cell.
        columns: What the row must be.
    """
    values: dict[str, Any] = {}
    problems: list[tuple[str, str]] = []
    for column in columns:
        cell = (cells.get(column.name) or "").strip()
        if not cell:
            values[column.name] = column.empty
            if column.required:
                problems.append((column.name, f"{column.name} must not be empty"))
            continue
        try:
            values[column.name] = column.read(cell)
        except ValueError as error:
            problems.append((column.name, f"{column.name} is {_short(cell)}, but must be {error}"))
    return values, problems


_SHOWN = 60
"""Characters of a wrong cell that an error repeats."""


def _short(cell: str) -> str:
    return (
        repr(cell) if len(cell) <= _SHOWN else f"{cell[:_SHOWN]!r} and {len(cell) - _SHOWN} characters more"
    )
