from __future__ import annotations

from decimal import Decimal

import pytest

from gpuplatform.aws import AwsBudget, AwsBudgetArgs
from gpuplatform.errors import Refusal
from gpuplatform.sandbox.sdk_types import check

BUDGET = "aws:budgets/budget:Budget"


@pytest.fixture
def budget(run, tags):
    def make(**changes):
        given = {
            "name": "vision-prod",
            "amount": Decimal(50_000),
            "contacts": ("ml@example.com",),
            "tags": tags,
        }
        [found] = run(lambda: AwsBudget("budget", AwsBudgetArgs(**(given | changes)))).of_type(BUDGET)
        return found

    return make


def test_pol_6_it_counts_what_carries_both_tags_of_the_environment(budget):
    found = budget().inputs
    assert found["filterExpression"] == {
        "ands": [
            {"tags": {"key": "project", "values": ["vision"], "matchOptions": ["EQUALS"]}},
            {"tags": {"key": "environment", "values": ["prod"], "matchOptions": ["EQUALS"]}},
        ]
    }
    assert "costFilters" not in found
    assert found["metrics"] == "UnblendedCost"


def test_pol_6_a_month_in_dollars(budget):
    found = budget(amount=Decimal("1000.50")).inputs
    assert (found["budgetType"], found["timeUnit"]) == ("COST", "MONTHLY")
    assert (found["limitAmount"], found["limitUnit"]) == ("1000.50", "USD")


def test_an_amount_is_written_out_whatever_its_exponent(budget):
    assert budget(amount=Decimal("5E+4")).inputs["limitAmount"] == "50000"


def test_it_warns_at_each_part_billed_and_of_a_month_forecast_to_exceed_it(budget):
    found = [(n["notificationType"], n["threshold"]) for n in budget().inputs["notifications"]]
    assert found == [("ACTUAL", 50), ("ACTUAL", 75), ("ACTUAL", 90), ("FORECASTED", 100)]
    for notification in budget().inputs["notifications"]:
        assert notification["subscriberEmailAddresses"] == ["ml@example.com"]
        assert notification["thresholdType"] == "PERCENTAGE"
        assert notification["comparisonOperator"] == "GREATER_THAN"


def test_the_forecast_can_be_left_out(budget):
    kinds = {n["notificationType"] for n in budget(forecast=False).inputs["notifications"]}
    assert kinds == {"ACTUAL"}


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"currency": "EUR"}, "budget.currency"),
        ({"contacts": ()}, "budget.contacts"),
        ({"contacts": tuple(f"a{i}@example.com" for i in range(11))}, "budget.contacts"),
        ({"alert_percent": tuple(range(10, 110, 10))}, "budget.alert_percent"),
    ],
)
def test_what_aws_budgets_have_not_is_refused(budget, changes, where):
    with pytest.raises(Refusal) as caught:
        budget(**changes)
    assert caught.value.where == where
    assert caught.value.way_out


def test_every_input_is_one_of_the_sdk_s(budget):
    found = budget()
    assert list(check(found.type, found.inputs)) == []
