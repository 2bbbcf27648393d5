from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest

from gpuplatform.guardrails import (
    HOURS_A_MONTH,
    ControlPlane,
    Footprint,
    Limits,
    Status,
    Unknown,
    cost,
)

DAY = date(2026, 11, 30)


@pytest.fixture
def prices(known, tmp_path):
    """The catalogue with round prices of the day: g6.xlarge $1, on spot $0.25; m6i.xlarge $0.10."""
    file = tmp_path / "prices.csv"
    file.write_text(
        "cloud,sku,region,usd_per_hour,usd_per_hour_spot,date\n"
        f"aws,g6.xlarge,us-east-1,1,0.25,{DAY}\n"
        f"aws,m6i.xlarge,us-east-1,0.10,,{DAY}\n"
    )
    return known.with_prices(file)


def _plane(support="standard", minor="1.35", cloud="aws"):
    return ControlPlane(
        name="c", where="cluster", cloud=cloud, region="us-east-1", kubernetes_version=minor, support=support
    )


def test_the_month_is_the_maximum_of_all_pools_and_the_control_plane(prices, group):
    system = group(name="system", machine="m6i.xlarge", nodes_min=2, nodes_max=4, asks_for_gpus=False)
    footprint = Footprint(node_groups=(group(nodes_max=10), system), control_planes=(_plane(),))
    month = cost(footprint, prices, DAY)
    assert month.maximum == (10 * Decimal(1) + 4 * Decimal("0.10") + Decimal("0.10")) * HOURS_A_MONTH
    assert month.minimum == (2 * Decimal("0.10") + Decimal("0.10")) * HOURS_A_MONTH
    assert [line.subject for line in month.lines] == ["train", "system", "c"]


def test_spot_capacity_has_its_own_price(prices, group):
    month = cost(Footprint(node_groups=(group(capacity="spot"),)), prices, DAY)
    assert month.maximum == Decimal("0.25") * HOURS_A_MONTH
    assert month.lines[0].basis == "spot"


def test_of_several_machine_types_the_dearest_counts(prices, group):
    month = cost(Footprint(node_groups=(group(machine="m6i.xlarge", also=("g6.xlarge",)),)), prices, DAY)
    assert month.maximum == Decimal(1) * HOURS_A_MONTH


@pytest.mark.parametrize(
    ("today", "support", "hourly"),
    [
        (date(2026, 11, 30), "extended", "0.10"),
        (date(2027, 6, 1), "extended", "0.60"),
        (date(2027, 6, 1), "standard", "0.10"),
        (date(2026, 11, 30), "free", "0"),
    ],
)
def test_extended_support_costs_more_only_once_standard_support_ended(known, today, support, hourly):
    month = cost(Footprint(control_planes=(_plane(support),)), known, today)
    assert month.maximum == Decimal(hourly) * HOURS_A_MONTH


def test_a_budget_that_is_exceeded_names_both_amounts_and_the_largest_item(prices, group, verdicts):
    system = group(name="system", machine="m6i.xlarge", nodes_max=2, asks_for_gpus=False)
    limits = Limits(monthly_usd=Decimal(100))
    verdict = verdicts(group(nodes_max=10), system, limits=limits, prices=prices)["budget"]
    assert (verdict.status, verdict.blocks) == (Status.FAIL, True)
    assert "$7,446.00" in verdict.message
    assert "$100.00" in verdict.message
    assert "train (10 x g6.xlarge, $7,300.00)" in verdict.message


def test_a_budget_that_is_met_to_the_cent_passes(prices, group, verdicts):
    limits = Limits(monthly_usd=Decimal(730))
    assert verdicts(group(), limits=limits, prices=prices)["budget"].status is Status.PASS


def test_without_a_budget_there_is_no_verdict_on_it(group, verdicts):
    assert "budget" not in verdicts(group())


def test_an_unpriced_machine_makes_the_budget_not_evaluated_and_is_named_with_its_region(group, verdicts):
    limits = Limits(monthly_usd=Decimal(1_000_000))
    verdict = verdicts(group(machine="p5.48xlarge", region="us-west-2"), limits=limits)["budget"]
    assert (verdict.status, verdict.blocks) == (Status.NOT_EVALUATED, False)
    assert "p5.48xlarge" in verdict.message
    assert "us-west-2" in verdict.message


def test_what_is_priced_may_exceed_the_budget_by_itself_whatever_the_rest_costs(prices, group, verdicts):
    unpriced = group(name="other", machine="p5.48xlarge", region="us-west-2")
    verdict = verdicts(group(nodes_max=10), unpriced, limits=Limits(monthly_usd=Decimal(100)), prices=prices)[
        "budget"
    ]
    assert verdict.status is Status.FAIL
    assert "at least $7,300.00" in verdict.message


def test_an_unknown_number_of_nodes_makes_the_budget_not_evaluated(prices, group, verdicts):
    limits = Limits(monthly_usd=Decimal(1_000_000), not_evaluated_fails=True)
    verdict = verdicts(group(nodes_max=Unknown("scalingConfig.maxSize")), limits=limits, prices=prices)[
        "budget"
    ]
    assert (verdict.status, verdict.blocks) == (Status.NOT_EVALUATED, True)
    assert "scalingConfig.maxSize" in verdict.message


def test_a_group_of_no_nodes_costs_nothing_even_where_its_price_is_unknown(group, known):
    month = cost(
        Footprint(node_groups=(group(machine="p5.48xlarge", region="us-west-2", nodes_max=0),)), known, DAY
    )
    assert month.maximum == 0
    assert month.unpriced == ()


def test_a_price_older_than_ninety_days_is_a_warning_with_its_date(prices, group, verdicts):
    at_the_edge = verdicts(group(), prices=prices, today=DAY + timedelta(days=90))["price-age"]
    assert at_the_edge.status is Status.PASS
    older = verdicts(group(), prices=prices, today=DAY + timedelta(days=91))["price-age"]
    assert (older.status, older.blocks) == (Status.WARN, False)
    assert DAY.isoformat() in older.message


def test_a_price_older_than_the_limit_makes_the_budget_not_evaluated(prices, group, verdicts):
    limits = Limits(monthly_usd=Decimal(1), max_price_age_days=30)
    found = verdicts(group(), limits=limits, prices=prices, today=DAY + timedelta(days=31))
    assert found["price-age"].status is Status.NOT_EVALUATED
    assert found["budget"].status is Status.NOT_EVALUATED
    assert DAY.isoformat() in found["budget"].message
    fresh = verdicts(group(), limits=limits, prices=prices, today=DAY + timedelta(days=30))
    assert fresh["budget"].status is Status.FAIL


@pytest.fixture
def priced(known, tmp_path, group):
    """A pool, and the catalogue with its machine's price on demand and on spot."""

    def make(cloud, hourly, spot="", **changes):
        pool = group(cloud=cloud, **changes)
        file = tmp_path / "prices.csv"
        file.write_text(
            "cloud,sku,region,usd_per_hour,usd_per_hour_spot,date\n"
            f"{cloud},{pool.machine},{pool.region},{hourly},{spot},{DAY}\n"
        )
        return pool, known.with_prices(file)

    return make


def _limits(dollars, **more):
    return Limits(monthly_usd=Decimal(dollars), **more)


@pytest.mark.parametrize(
    ("hourly", "budget", "status"),
    [
        ("0.0001", "0.08", Status.PASS),  # $0.073
        ("0.0001", "0.071", Status.PASS),  # both are eight cents, rounded up
        ("0.0001", "0.001", Status.FAIL),
        ("1.00000001", "730", Status.FAIL),
        ("1.00000001", "730.01", Status.PASS),
        ("258.2248", "188504.10", Status.FAIL),  # $188,504.104
        ("258.2248", "188504.102", Status.PASS),
    ],
)
def test_a_budget_is_compared_in_the_cents_that_are_printed(priced, verdicts, hourly, budget, status):
    pool, prices = priced("aws", hourly)
    verdict = verdicts(pool, limits=_limits(budget), prices=prices)["budget"]
    assert verdict.status is status
    costs, limit = (part.split()[0].rstrip(";") for part in verdict.message.split("$")[1:3])
    assert (costs.rstrip(",") == limit) <= (status is Status.PASS)
    assert "$0.00" not in verdict.message


SPOT = [
    ("aws", "on-demand", False),  # spot is counted at the on-demand price
    ("azure", "on-demand", True),
    ("gcp", "on-demand", True),
    *((cloud, "spot", False) for cloud in ("aws", "azure", "gcp")),
]


@pytest.mark.parametrize(("cloud", "capacity", "offered"), SPOT)
def test_spot_is_a_way_out_only_where_it_lowers_the_sum(priced, verdicts, cloud, capacity, offered):
    pool, prices = priced(cloud, "1", "" if cloud == "aws" else "0.5", capacity=capacity)
    verdict = verdicts(pool, limits=_limits(1), prices=prices)["budget"]
    assert verdict.status is Status.FAIL
    assert ("spot" in verdict.way_out) is offered
    assert "larger budget" in verdict.way_out


@pytest.mark.parametrize("cloud", ["aws", "azure", "gcp"])
def test_no_price_file_is_offered_for_a_control_plane(verdicts, cloud):
    plane = _plane(cloud=cloud)
    over = verdicts(planes=(plane,), limits=_limits(1))["budget"]
    assert (over.status, over.way_out) == (Status.FAIL, "ask for a larger budget")
    later = DAY + timedelta(days=200)
    old = verdicts(planes=(plane,), limits=_limits(10_000, max_price_age_days=30), today=later)
    for verdict in (old["price-age"], old["budget"]):
        assert verdict.status is Status.NOT_EVALUATED
        assert "newer release" in verdict.way_out
        assert "max_price_age_days" in verdict.way_out
        assert "price file" not in verdict.way_out
    missing = verdicts(planes=(_plane(cloud=cloud, minor="1.99"),), limits=_limits(10_000))["budget"]
    assert missing.status is Status.NOT_EVALUATED
    assert "1.35" in missing.way_out
    assert "price file" not in missing.way_out


def test_the_way_to_a_missing_price_is_that_of_its_kind(group, verdicts):
    def way_out(**changes):
        verdict = verdicts(group(**changes), limits=_limits(1_000_000))["budget"]
        assert verdict.status is Status.NOT_EVALUATED
        return verdict.way_out

    unpriced = way_out(machine="p5.48xlarge", region="us-west-2")
    assert unpriced == "a price file of your own can price p5.48xlarge"
    unlisted = way_out(machine="m99i.xlarge", asks_for_gpus=False)
    assert "add-a-sku" in unlisted
    assert "price file" not in unlisted
    assert "update" in way_out(machine=Unknown("instanceTypes"))
    assert "update" in way_out(nodes_max=Unknown("scalingConfig.maxSize"))
    assert way_out(machine="") == "name a machine type"


def test_a_price_of_a_day_to_come_has_no_age_and_is_no_pass(prices, group, verdicts):
    eve = DAY - timedelta(days=1)
    found = verdicts(group(), prices=prices, today=eve, limits=_limits(1_000_000, max_price_age_days=30))
    assert (found["price-age"].status, found["price-age"].blocks) == (Status.NOT_EVALUATED, False)
    assert found["budget"].status is Status.NOT_EVALUATED
    for verdict in (found["price-age"], found["budget"]):
        assert DAY.isoformat() in verdict.message
        assert "GPUPLATFORM_TODAY" in verdict.way_out
