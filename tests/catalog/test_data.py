"""Every row of the product's own data, against the schema and against the other files."""

from __future__ import annotations

import csv
import re
from collections import Counter
from decimal import Decimal

import pytest

from gpuplatform.catalog import CLOUDS, Status, load, loader, schema, sources
from gpuplatform.errors import CatalogError

FILES = {
    "skus.csv": (schema.SKUS, ("name",)),
    "machines.csv": (schema.MACHINES, ("name",)),
    "offerings.csv": (schema.OFFERINGS, ("name", "region")),
    "machine_offerings.csv": (schema.OFFERINGS, ("name", "region")),
    "regions.csv": (schema.REGIONS, ("name",)),
    "kubernetes.csv": (schema.KUBERNETES, ("minor",)),
}
per_file = pytest.mark.parametrize("name", FILES)
per_cloud = pytest.mark.parametrize("cloud", CLOUDS)


def offerings_of_all(cloud):
    return rows(cloud, "offerings.csv") + rows(cloud, "machine_offerings.csv")


def rows(cloud, name):
    with (loader.DATA / cloud / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@per_cloud
@per_file
def test_every_row_fits_the_schema(cloud, name):
    columns, _ = FILES[name]
    read = rows(cloud, name)
    assert read
    assert list(read[0]) == [column.name for column in columns]
    assert [(row, bad) for row in read if (bad := schema.read_row(row, columns)[1])] == []


@per_cloud
@per_file
def test_no_key_occurs_twice(cloud, name):
    _, key = FILES[name]
    counts = Counter(tuple(row[column] for column in key) for row in rows(cloud, name))
    assert {key for key, count in counts.items() if count > 1} == set()


@per_cloud
@per_file
def test_every_row_names_sources_that_exist_and_their_dates(cloud, name):
    columns, _ = FILES[name]
    pairs = [
        (column.name, column.name.replace("source", "date"))
        for column in columns
        if column.name.endswith("source")
    ]
    assert pairs
    for row in rows(cloud, name):
        named = [(row[source], row[day]) for source, day in pairs if row[source] or row[day]]
        assert named, row
        for source, day in named:
            assert source in sources(), row
            assert day, row


def test_every_source_is_used_and_says_where_it_is():
    used = {
        row[column]
        for cloud in CLOUDS
        for name in FILES
        for row in rows(cloud, name)
        for column in row
        if column.endswith("source")
    }
    assert set(sources()) == used - {""}
    assert all(source.url.startswith("https://") for source in sources().values())


@per_cloud
def test_offerings_are_of_known_machine_types_in_known_regions(cloud):
    for kind, of_kind in (("skus.csv", "offerings.csv"), ("machines.csv", "machine_offerings.csv")):
        known = {row["name"] for row in rows(cloud, kind)}
        assert {row["name"] for row in rows(cloud, of_kind)} - known == set()
    assert {row["region"] for row in offerings_of_all(cloud)} == {
        row["name"] for row in rows(cloud, "regions.csv")
    }


@per_cloud
def test_prices_carry_their_source_and_date_and_nothing_else_does(cloud):
    for row in offerings_of_all(cloud):
        priced = bool(row["usd_per_hour"] or row["usd_per_hour_spot"])
        assert priced == bool(row["price_source"]) == bool(row["price_date"]), row


@per_cloud
def test_a_machine_without_a_gpu_is_not_among_the_gpu_machines(cloud):
    gpu = {row["name"] for row in rows(cloud, "skus.csv")}
    assert gpu & {row["name"] for row in rows(cloud, "machines.csv")} == set()


GPU_NAMES = {
    # Trainium, Inferentia and video cards are no GPUs: trn*, inf*, dl*, vt*.
    "aws": r"^(p|g)\d",
    # NP is an FPGA.
    "azure": r"^Standard_N(?!P)",
    "gcp": r"^(a2|a3|a4|a4x|g2|g4)-",
}


@per_cloud
def test_no_gpu_series_hides_among_the_machines_without_a_gpu(cloud):
    hidden = [row["name"] for row in rows(cloud, "machines.csv") if re.match(GPU_NAMES[cloud], row["name"])]
    assert hidden == []


@per_cloud
def test_an_aws_zone_is_an_id_and_no_other_cloud_has_any(cloud):
    zones = {zone for row in offerings_of_all(cloud) for zone in row["zone_ids"].split()}
    assert bool(zones) == (cloud == "aws")
    assert [zone for zone in zones if not re.fullmatch(r"[a-z]{3,4}\d-az\d", zone)] == []


@per_cloud
def test_every_sku_and_offering_loads(cloud):
    catalog = load()
    assert catalog.skus(cloud)
    for sku in catalog.skus(cloud):
        assert sku.gpu_count > 0
        for region in catalog.regions(cloud, sku.name):
            offering = catalog.offering(cloud, sku.name, region)
            assert offering is not None
            assert offering.source
            assert offering.date


@per_cloud
def test_a_retirement_date_belongs_to_a_retired_type(cloud):
    dated = [sku for sku in load().skus(cloud) if sku.retire_on is not None]
    assert all(sku.status is Status.RETIRED for sku in dated)


@per_cloud
def test_regions_are_on_the_globe_and_kubernetes_minors_in_order(cloud):
    for row in rows(cloud, "regions.csv"):
        assert abs(float(row["latitude"])) <= 70
        assert abs(float(row["longitude"])) <= 180
    minors = [int(version.minor.split(".")[1]) for version in load().kubernetes(cloud)]
    assert minors == sorted(minors)
    for version in load().kubernetes(cloud):
        assert version.available_from < version.standard_until
        assert version.extended_until is None or version.standard_until < version.extended_until
        assert version.control_plane_usd_per_hour_extended > version.control_plane_usd_per_hour > 0


def test_the_catalogue_has_what_it_was_filled_from():
    catalog = load()
    assert {cloud: len(catalog.skus(cloud)) for cloud in CLOUDS} == {"aws": 74, "azure": 71, "gcp": 47}
    gpu_offerings = sum(len(catalog.regions(sku.cloud, sku.name)) for sku in catalog.skus())
    assert gpu_offerings == 2281


@pytest.mark.parametrize(
    ("column", "cell", "sentence"),
    [
        ("usd_per_hour", "0", "above 0"),
        ("usd_per_hour", "-1", "not negative"),
        ("usd_per_hour", "NaN", "not negative"),
        ("usd_per_hour", "1,5", "a number"),
        ("price_date", "2026", "a date such as"),
        ("price_date", "2026-02-30", "a date of the calendar"),
        ("name", " ", "must not be empty"),
    ],
)
def test_the_schema_refuses_what_would_be_misread(column, cell, sentence):
    good = {"name": "p5.48xlarge", "region": "us-east-1", "usd_per_hour": "1.5", "price_date": "2026-07-20"}
    values, none = schema.read_row(good, schema.OFFERINGS)
    assert none == []
    assert values["usd_per_hour"] == Decimal("1.5")
    _, problems = schema.read_row(good | {column: cell}, schema.OFFERINGS)
    assert [name for name, _ in problems] == [column]
    assert sentence in problems[0][1]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the header is"),
        ("id,title\n", "the header is"),
        ("id,title,url,licence,date,note\na,b\n", "2 cells under 6 headers"),
        ("id,title,url,licence,date,note\na,b,https://x,,soon,\n", "date is 'soon'"),
    ],
)
def test_a_broken_data_file_is_named_with_its_row(tmp_path, monkeypatch, text, sentence):
    (tmp_path / "sources.csv").write_text(text)
    monkeypatch.setattr(loader, "DATA", tmp_path)
    sources.cache_clear()
    with pytest.raises(CatalogError, match=sentence) as caught:
        sources()
    assert str(tmp_path / "sources.csv") in str(caught.value)
    sources.cache_clear()


@per_cloud
def test_a_quota_code_is_a_code_and_never_a_remark(cloud):
    for sku in load().skus(cloud):
        for code in (sku.quota_code_ondemand, sku.quota_code_spot):
            assert not re.search(r"verify|\(|\?", code, re.IGNORECASE), sku.name
