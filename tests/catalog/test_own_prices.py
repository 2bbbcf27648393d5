from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from gpuplatform.catalog import Price, load
from gpuplatform.errors import ConfigError

HEADER = "cloud,sku,region,usd_per_hour,date\n"


def written(tmp_path, text, name="prices.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def refused(tmp_path, text, name="prices.csv"):
    path = written(tmp_path, text, name)
    with pytest.raises(ConfigError) as caught:
        load().with_prices(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_an_own_price_wins_and_is_named(tmp_path):
    path = written(tmp_path, HEADER + "aws,p5.48xlarge,us-east-1,49.5,2026-11-01\n")
    price = load().with_prices(path).price("aws", "p5.48xlarge", "us-east-1")
    assert price == Price(
        usd_per_hour=Decimal("49.5"),
        date=date(2026, 11, 1),
        source=str(path),
        origin=str(path),
        basis="on-demand",
    )


def test_the_catalogue_itself_is_not_changed(tmp_path):
    before = load().price("aws", "p5.48xlarge", "us-east-1")
    load().with_prices(written(tmp_path, HEADER + "aws,p5.48xlarge,us-east-1,1,2026-11-01\n"))
    assert load().price("aws", "p5.48xlarge", "us-east-1") == before


def test_a_missing_price_is_filled_for_its_region_only(tmp_path):
    catalog = load().with_prices(written(tmp_path, HEADER + "aws,m6i.xlarge,eu-west-1,0.214,2026-11-01\n"))
    assert catalog.price("aws", "m6i.xlarge", "eu-west-1").usd_per_hour == Decimal("0.214")
    assert not isinstance(catalog.price("aws", "m6i.xlarge", "eu-west-2"), Price)


def test_a_price_left_empty_is_still_the_catalogues_with_its_own_date(tmp_path):
    text = (
        "cloud,sku,region,usd_per_hour_spot,date,source\ngcp,g2-standard-4,us-central1,0.30,2026-11-01,mail\n"
    )
    catalog = load().with_prices(written(tmp_path, text))
    spot = catalog.price("gcp", "g2-standard-4", "us-central1", "spot")
    on_demand = catalog.price("gcp", "g2-standard-4", "us-central1")
    assert (spot.usd_per_hour, spot.source, spot.date) == (Decimal("0.30"), "mail", date(2026, 11, 1))
    assert on_demand == load().price("gcp", "g2-standard-4", "us-central1")


def test_the_catalogues_spot_price_is_nearer_than_an_own_on_demand_price(tmp_path):
    catalog = load().with_prices(written(tmp_path, HEADER + "gcp,g2-standard-4,us-central1,0.6,2026-11-01\n"))
    assert catalog.price("gcp", "g2-standard-4", "us-central1", "spot").origin == "catalogue"


def test_a_reserved_price_is_for_reservations_and_capacity_blocks(tmp_path):
    text = """
prices:
  - cloud: aws
    sku: p5e.48xlarge
    region: us-east-2
    zone_ids: [use2-az1]
    usd_per_hour_reserved: 34.608
    date: 2026-11-01
    source: capacity block of 1 November
"""
    catalog = load().with_prices(written(tmp_path, text, "prices.yaml"))
    block = catalog.price("aws", "p5e.48xlarge", "us-east-2", "capacity-block")
    assert (block.usd_per_hour, block.basis) == (Decimal("34.608"), "reserved")
    assert catalog.price("aws", "p5e.48xlarge", "us-east-2", "reservation") == block
    assert not isinstance(catalog.price("aws", "p5e.48xlarge", "us-east-2"), Price)
    assert catalog.offering("aws", "p5e.48xlarge", "us-east-2").zone_ids == ("use2-az1",)


def test_an_own_offering_adds_a_region_even_one_the_catalogue_lacks(tmp_path):
    text = "cloud,sku,region,zone_ids,date\naws,p5.48xlarge,mx-central-1,mxc1-az1 mxc1-az2,2026-11-01\n"
    catalog = load().with_prices(written(tmp_path, text))
    assert "mx-central-1" in catalog.regions("aws", "p5.48xlarge")
    assert catalog.knows_region("aws", "mx-central-1")
    assert catalog.zone_ids("aws", "mx-central-1") == ("mxc1-az1", "mxc1-az2")
    assert not isinstance(catalog.price("aws", "p5.48xlarge", "mx-central-1"), Price)


def test_zones_left_empty_are_the_catalogues(tmp_path):
    catalog = load().with_prices(written(tmp_path, HEADER + "aws,p5.48xlarge,us-west-2,50,2026-11-01\n"))
    assert catalog.offering("aws", "p5.48xlarge", "us-west-2").zone_ids == (
        load().offering("aws", "p5.48xlarge", "us-west-2").zone_ids
    )


def test_an_attached_gpu_can_be_priced_with_its_host(tmp_path):
    row = "gcp,n1-standard-8+nvidia-tesla-t4:1,us-central1,0.73,2026-11-01\n"
    catalog = load().with_prices(written(tmp_path, HEADER + row))
    price = catalog.price("gcp", "n1-standard-8+nvidia-tesla-t4:1", "us-central1")
    assert price.usd_per_hour == Decimal("0.73")


@pytest.mark.parametrize(
    ("row", "sentences"),
    [
        (
            "aws,p5.48xlrage,us-east-1,49,2026-11-01",
            ("no machine type p5.48xlrage", "did you mean p5.48xlarge"),
        ),
        ("aws,p5.48xlarge,us-east-1,free,2026-11-01", ("usd_per_hour is 'free'", "a number")),
        ("aws,p5.48xlarge,us-east-1,0,2026-11-01", ("usd_per_hour is '0'", "above 0")),
        ("aws,p5.48xlarge,us-east-1,49,yesterday", ("date is 'yesterday'", "a date such as")),
        ("aws,p5.48xlarge,us-east-1,49,", ("date must not be empty",)),
        ("aws,p5.48xlarge,,49,2026-11-01", ("region must not be empty",)),
        ("oracle,p5.48xlarge,us-east-1,49,2026-11-01", ("cloud is 'oracle'", "one of aws, azure, gcp")),
        ("aws,p5.48xlarge,us-east-1,49", ("4 cells under 5 columns",)),
    ],
)
def test_a_wrong_row_is_named_with_its_line_and_its_rule(tmp_path, row, sentences):
    text = refused(tmp_path, HEADER + "gcp,g2-standard-4,us-central1,0.6,2026-11-01\n" + row + "\n")
    assert "line 3" in text
    for sentence in sentences:
        assert sentence in text


def test_every_wrong_row_is_reported_not_only_the_first(tmp_path):
    text = refused(
        tmp_path, HEADER + "aws,p5.48xlarge,us-east-1,x,2026-11-01\naws,zz,us-east-1,1,2026-11-01\n"
    )
    assert "line 2" in text
    assert "line 3" in text


def test_two_rows_for_one_type_and_region_are_refused(tmp_path):
    row = "aws,p5.48xlarge,us-east-1,49,2026-11-01\n"
    assert "a second row for aws p5.48xlarge us-east-1" in refused(tmp_path, HEADER + row + row)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("prices.csv", "", "the file is empty"),
        (
            "prices.csv",
            "cloud,sku,region,price,date\naws,p5.48xlarge,us-east-1,1,2026-11-01\n",
            "unknown column price",
        ),
        ("prices.yaml", "", "no list of prices"),
        ("prices.yaml", "- cloud: aws\n", "no list of prices"),
        ("prices.yaml", "prices: []\nextra: 1\n", "no list of prices"),
        ("prices.yaml", "prices: [aws]\n", "prices[0]: the entry is no mapping"),
        ("prices.yaml", "prices: [}\n", "this is no YAML"),
        (
            "prices.yml",
            "prices:\n  - {cloud: aws, sku: p5.48xlarge, region: us-east-1}\n",
            "date must not be empty",
        ),
        ("prices.json", "{}", "no price file"),
    ],
)
def test_a_file_that_is_none_is_refused_by_name(tmp_path, name, text, sentence):
    assert sentence in refused(tmp_path, text, name)


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load().with_prices(tmp_path / "none.csv")
    path = tmp_path / "binary.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="no text in UTF-8"):
        load().with_prices(path)
