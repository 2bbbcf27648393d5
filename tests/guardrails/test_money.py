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
