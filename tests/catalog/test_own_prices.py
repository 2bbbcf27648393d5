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
    header = "cloud,sku,region,zone_ids,date,new_region\n"
    text = header + "aws,p5.48xlarge,mx-central-1,mxc1-az1 mxc1-az2,2026-11-01,yes\n"
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


NEW_REGIONS = [
    ("aws", "p5.48xlarge", "us-east-9", "us-east-1"),
    ("azure", "Standard_NC4as_T4_v3", "eastus9", "eastus"),
    ("gcp", "g2-standard-4", "us-central9", "us-central1"),
]


@pytest.mark.parametrize(("cloud", "sku", "region", "near"), NEW_REGIONS)
def test_a_region_that_the_cloud_does_not_have_is_refused_with_the_nearest(
    tmp_path, cloud, sku, region, near
):
    text = refused(tmp_path, HEADER + f"{cloud},{sku},{region},1,2026-11-01\n")
    assert f"{cloud} has no region {region}" in text
    assert near in text.split("did you mean")[1]
    assert "new_region" in text


@pytest.mark.parametrize("new", NEW_REGIONS)
@pytest.mark.parametrize("yes", ["yes", "true"])
def test_a_row_may_say_that_its_region_is_a_new_one(tmp_path, new, yes):
    cloud, sku, region, _ = new
    row = f"{{cloud: {cloud}, sku: {sku}, region: {region}, date: 2026-11-01, new_region: {yes}}}"
    catalog = load().with_prices(written(tmp_path, f"prices: [{row}]\n", "prices.yaml"))
    assert catalog.knows_region(cloud, region)
    assert not catalog.region(cloud, region)


@pytest.mark.parametrize(
    ("row", "theirs"),
    [
        ("aws,p5.48xlarge,eastus", "azure"),
        ("azure,Standard_NC4as_T4_v3,us-east1", "gcp"),
        ("gcp,g2-standard-4,us-east-1", "aws"),
    ],
)
def test_a_region_of_another_cloud_is_refused_even_as_a_new_one(tmp_path, row, theirs):
    text = refused(tmp_path, f"cloud,sku,region,date,new_region\n{row},2026-11-01,yes\n")
    assert f"is a region of {theirs}, not of {row.split(',')[0]}" in text


def test_a_price_dated_in_the_future_is_refused(tmp_path):
    text = refused(tmp_path, HEADER + "aws,p5.48xlarge,us-east-1,49,2999-01-01\n")
    assert "line 2: date is 2999-01-01, and today is" in text


def test_asking_about_an_earlier_day_makes_no_price_wrong(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUPLATFORM_TODAY", "2020-01-01")
    catalog = load().with_prices(written(tmp_path, HEADER + "aws,p5.48xlarge,us-east-1,49,2025-11-01\n"))
    assert catalog.price("aws", "p5.48xlarge", "us-east-1").usd_per_hour == 49


@pytest.mark.parametrize(
    "amount", ["1e400", "1e-400", "100001", "0.00001", "9" * 5000, "1e999999999", "-1", "inf"]
)
@pytest.mark.parametrize("column", ["usd_per_hour", "usd_per_hour_spot", "usd_per_hour_reserved"])
def test_no_machine_has_an_absurd_price(tmp_path, amount, column):
    text = refused(
        tmp_path, f"cloud,sku,region,{column},date\naws,p5.48xlarge,us-east-1,{amount},2026-11-01\n"
    )
    assert f"line 2: {column} is '" in text
    assert len(text) < 600


def test_an_absurd_whole_number_in_yaml_is_refused(tmp_path):
    row = f"cloud: aws, sku: p5.48xlarge, region: us-east-1, date: 2026-11-01, usd_per_hour: 0x{'f' * 5000}"
    assert "must be a number" in refused(tmp_path, f"prices: [{{{row}}}]\n", "prices.yaml")


ROW = "aws,p5.48xlarge,us-east-1,49,2026-11-01\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("cloud,sku,region,usd_per_hour,usd_per_hour,date\n" + ROW, "two columns usd_per_hour"),
        ("cloud,sku,region,usd_per_hour, usd_per_hour,date\n" + ROW, "two columns usd_per_hour"),
        (HEADER, "the file has no prices"),
        (HEADER + "\n\n", "the file has no prices"),
        ("\n" + HEADER + ROW, "the file is empty"),
        (ROW, "unknown column aws"),
        ((HEADER + ROW).replace(",", ";"), "the columns are separated by ';'"),
        ((HEADER + ROW).replace(",", "\t"), "the columns are separated by '\\t'"),
        (HEADER.replace(",date", "") + ROW, "no column date"),
        (HEADER.replace("date", "date,") + ROW, "unknown column without a name"),
        ("\0" + HEADER + ROW, "NUL characters"),
        (HEADER + ROW.replace("49", "4\x009"), "NUL characters"),
        (HEADER + ROW.replace("49", "9" * 200_000), "line 2: this is no CSV: field larger"),
        (HEADER + ROW.replace("49", '"49'), "this is no CSV: unexpected end"),
        (HEADER + ROW.replace("49", '"4"9'), "this is no CSV: "),
    ],
)
def test_a_csv_file_that_is_misshapen_is_refused(tmp_path, text, sentence):
    assert sentence in refused(tmp_path, text)


def test_a_yaml_file_without_a_row_is_refused(tmp_path):
    assert "the file has no prices" in refused(tmp_path, "prices: []\n", "prices.yaml")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("prices.csv", HEADER + ROW),
        ("prices.csv", (HEADER + ROW).replace("\n", "\r\n")),
        (
            "prices.yaml",
            "prices: [{cloud: aws, sku: p5.48xlarge, region: us-east-1, usd_per_hour: 49, date: 2026-11-01}]",
        ),
    ],
)
def test_a_file_may_begin_with_a_byte_order_mark(tmp_path, name, text):
    catalog = load().with_prices(written(tmp_path, "\ufeff" + text, name))
    assert catalog.price("aws", "p5.48xlarge", "us-east-1").usd_per_hour == 49
