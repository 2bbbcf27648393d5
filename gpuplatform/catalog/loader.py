"""Reads the CSV files of `data/`, each cloud's only when it is first asked for.

Importing this module reads nothing. A broken row is a CatalogError that names file and row: the data is part
of the product, so that is our bug, and no look-up goes on past it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from gpuplatform.catalog import schema
from gpuplatform.catalog.model import (
    Cloud,
    KubernetesVersion,
    Machine,
    Offering,
    Region,
    Sku,
    Source,
)
from gpuplatform.errors import CatalogError

__all__ = ["CATALOGUE", "DATA", "CloudData", "cloud_data", "sources"]

DATA = Path(__file__).parent / "data"
CATALOGUE = "catalogue"
"""The origin of everything that is not from a stack's own file."""


Row = tuple[int, list[str]]
"""A row's line number and its cells, still text."""
OfferingRows = dict[str, dict[str, Row]]
"""By machine type and region."""


def _rows(path: Path, columns: schema.Columns) -> Iterator[Row]:
    """The file's rows; the header must be exactly the schema's."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        header = next(reader, [])
        expected = [column.name for column in columns]
        if header != expected:
            raise CatalogError(
                f"the header is {','.join(header)}", where=str(path), rule=f"it must be {','.join(expected)}"
            )
        for cells in reader:
            if len(cells) != len(expected):
                raise CatalogError(
                    f"{len(cells)} cells under {len(expected)} headers", where=f"{path}:{reader.line_num}"
                )
            yield reader.line_num, cells


def _typed(path: Path, row: Row, columns: schema.Columns) -> dict[str, Any]:
    line, cells = row
    names = [column.name for column in columns]
    values, problems = schema.read_row(dict(zip(names, cells, strict=True)), columns)
    if problems:
        raise CatalogError("; ".join(text for _, text in problems), where=f"{path}:{line}")
    return values


def _table(path: Path, columns: schema.Columns) -> Iterator[dict[str, Any]]:
    for row in _rows(path, columns):
        yield _typed(path, row, columns)


def _by_name_and_region(path: Path) -> OfferingRows:
    name, region = _index(schema.OFFERINGS, "name"), _index(schema.OFFERINGS, "region")
    offerings: OfferingRows = {}
    for row in _rows(path, schema.OFFERINGS):
        offerings.setdefault(row[1][name], {})[row[1][region]] = row
    return offerings


@cache
def sources() -> dict[str, Source]:
    """Every source by its id."""
    return {row["id"]: Source(**row) for row in _table(DATA / "sources.csv", schema.SOURCES)}


def _title(source_id: str) -> str:
    """A source as a reader should see it; rows keep only its id."""
    if not source_id:
        return ""
    source = sources().get(source_id)
    if source is None:
        raise CatalogError(f"no source {source_id!r}", where=str(DATA / "sources.csv"))
    return source.title


class CloudData:
    """One cloud's files, each read at its first use.

    Offerings and machines become objects only when asked for: a plan needs a handful of the thousands.
    """

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self._folder = DATA / cloud

    @cached_property
    def skus(self) -> dict[str, Sku]:
        """GPU machine types by name, in the file's order."""
        return {
            row["name"]: Sku(cloud=self.cloud, **row | {"spec_source": _title(row["spec_source"])})
            for row in _table(self._folder / "skus.csv", schema.SKUS)
        }

    @cached_property
    def _machine_rows(self) -> dict[str, Row]:
        name = _index(schema.MACHINES, "name")
        return {row[1][name]: row for row in _rows(self._folder / "machines.csv", schema.MACHINES)}

    @property
    def machine_names(self) -> tuple[str, ...]:
        """Every machine type without a GPU."""
        return tuple(self._machine_rows)

    def machine(self, name: str) -> Machine | None:
        """A machine type without a GPU."""
        found = self._machine_rows.get(name)
        if found is None:
            return None
        row = _typed(self._folder / "machines.csv", found, schema.MACHINES)
        return Machine(cloud=self.cloud, **row | {"source": _title(row["source"])})

    @cached_property
    def _gpu_offerings(self) -> OfferingRows:
        return _by_name_and_region(self._folder / "offerings.csv")

    @cached_property
    def _machine_offerings(self) -> OfferingRows:
        """Apart from the GPUs': there are six times as many, and most commands need none of them."""
        return _by_name_and_region(self._folder / "machine_offerings.csv")

    def _offerings_of(self, name: str) -> tuple[Path, dict[str, Row]]:
        if name in self._gpu_offerings:
            return self._folder / "offerings.csv", self._gpu_offerings[name]
        if name in self.skus:  # a GPU machine type that is offered nowhere, as far as is known
            return self._folder / "offerings.csv", {}
        return self._folder / "machine_offerings.csv", self._machine_offerings.get(name, {})

    def offered_regions(self, name: str) -> tuple[str, ...]:
        """The regions a machine type is sold in; empty: not known."""
        return tuple(self._offerings_of(name)[1])

    def offering(self, name: str, region: str) -> Offering | None:
        """One machine type in one region."""
        path, rows = self._offerings_of(name)
        found = rows.get(region)
        if found is None:
            return None
        row = _typed(path, found, schema.OFFERINGS)
        del row["name"]
        if not row["offered_source"]:
            row |= {"offered_source": row["price_source"], "offered_date": row["price_date"]}
        if not row["offered_source"] or row["offered_date"] is None:
            raise CatalogError(f"{name} in {region} has no source and date", where=f"{path}:{found[0]}")
        titles = {key: _title(row[key]) for key in ("offered_source", "price_source")}
        return Offering(
            cloud=self.cloud, sku=name, usd_per_hour_reserved=None, origin=CATALOGUE, **row | titles
        )

    @cached_property
    def zone_ids(self) -> dict[str, tuple[str, ...]]:
        """Every zone ID that some machine type is offered in, by region."""
        column = _index(schema.OFFERINGS, "zone_ids")
        zones: dict[str, set[str]] = {}
        for by_region in (*self._gpu_offerings.values(), *self._machine_offerings.values()):
            for region, (_, cells) in by_region.items():
                zones.setdefault(region, set()).update(cells[column].split())
        return {region: tuple(sorted(ids)) for region, ids in zones.items() if ids}

    @cached_property
    def regions(self) -> dict[str, Region]:
        """Regions by name: exactly those that the offerings cover."""
        return {
            row["name"]: Region(cloud=self.cloud, **row | {"source": _title(row["source"])})
            for row in _table(self._folder / "regions.csv", schema.REGIONS)
        }

    @cached_property
    def kubernetes(self) -> tuple[KubernetesVersion, ...]:
        """Kubernetes minors, oldest first."""
        return tuple(
            KubernetesVersion(
                cloud=self.cloud,
                **row | {"source": _title(row["source"]), "price_source": _title(row["price_source"])},
            )
            for row in _table(self._folder / "kubernetes.csv", schema.KUBERNETES)
        )


def _index(columns: schema.Columns, name: str) -> int:
    return next(index for index, column in enumerate(columns) if column.name == name)


@cache
def cloud_data(cloud: Cloud) -> CloudData:
    """One cloud's data, shared by every Catalog."""
    return CloudData(cloud)
