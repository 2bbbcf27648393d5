"""POL-6: a budget as Cloud Billing takes it and gives it back."""

from __future__ import annotations

from decimal import Decimal

import pulumi
import pytest

from gpuplatform.errors import Refusal
from gpuplatform.gcp import GcpBudget, GcpBudgetArgs
from gpuplatform.sandbox.sdk_types import check

BUDGET = "gcp:billing/budget:Budget"


@pytest.fixture
def budget(update, tags):
    def recorded(**changes):
        asked = {
            "name": "vision-prod",
            "amount": Decimal("1000.5"),
            "contacts": ("ml@example.com", "finance@example.com"),
            "tags": tags,
            "billing_account": "012345-6789AB-CDEF01",
            "project": "example-ml",
            "region": "us-east4",
            **changes,
        }

        def build(opts):
            GcpBudget("budget", GcpBudgetArgs(**asked), opts)

        return update(build)

    return recorded


def inputs(recording):
    (found,) = recording.of_type(BUDGET)
    return found.inputs


def test_pol_6_the_project_is_named_by_its_number(budget):
    assert inputs(budget())["budgetFilter"]["projects"] == ["projects/123456789012"]


@pytest.mark.parametrize(
    ("amount", "currency", "money"),
    [
        ("1000.5", "USD", {"currencyCode": "USD", "units": "1000", "nanos": 500000000}),
        ("1000", "EUR", {"currencyCode": "EUR", "units": "1000"}),
        ("0.99", "USD", {"currencyCode": "USD", "units": "0", "nanos": 990000000}),
        ("1E+6", "JPY", {"currencyCode": "JPY", "units": "1000000"}),
    ],
)
def test_pol_6_units_are_text_of_a_whole_number_and_the_rest_is_in_nanos(budget, amount, currency, money):
    found = inputs(budget(amount=Decimal(amount), currency=currency))

    assert found["amount"] == {"specifiedAmount": money}


def test_pol_6_its_provider_says_whose_quota_a_call_counts_against(budget):
    recording = budget()
    provider = recording.named("budget-billing")

    assert recording.of_type(BUDGET)[0].provider == provider.urn
    assert provider.inputs["userProjectOverride"] in {True, "true"}
    assert provider.inputs["billingProject"] == "example-ml"


def test_parts_that_are_spent_and_the_whole_that_is_forecast_are_reported(budget):
    assert inputs(budget())["thresholdRules"] == [
        {"thresholdPercent": 0.5, "spendBasis": "CURRENT_SPEND"},
        {"thresholdPercent": 0.75, "spendBasis": "CURRENT_SPEND"},
        {"thresholdPercent": 0.9, "spendBasis": "CURRENT_SPEND"},
        {"thresholdPercent": 1, "spendBasis": "FORECASTED_SPEND"},
    ]
    without = inputs(budget(forecast=False, alert_percent=(100,)))
    assert without["thresholdRules"] == [{"thresholdPercent": 1, "spendBasis": "CURRENT_SPEND"}]


def test_the_contacts_hear_of_it_and_nobody_else(budget):
    recording = budget()
    channels = recording.of_type("gcp:monitoring/notificationChannel:NotificationChannel")

    assert [c.inputs["labels"]["email_address"] for c in channels] == [
        "ml@example.com",
        "finance@example.com",
    ]
    rule = inputs(recording)["allUpdatesRule"]
    assert rule["disableDefaultIamRecipients"] is True
    assert len(rule["monitoringNotificationChannels"]) == 2
    assert {c.provider.rpartition("::")[2] for c in channels} == {"gcp"}


def test_the_order_of_contacts_renames_nothing(budget):
    contacts = ("ml@example.com", "finance@example.com")

    def urns(recording):
        return {r.urn for r in recording.resources}

    assert urns(budget(contacts=contacts)) == urns(budget(contacts=contacts[::-1]))


def test_it_counts_what_carries_the_environment_s_label_in_the_month(budget):
    found = inputs(budget())["budgetFilter"]

    assert found["labels"] == {"environment": "prod"}
    assert found["calendarPeriod"] == "MONTH"


def test_the_project_s_own_deployments_may_change_it(budget):
    assert inputs(budget())["ownershipScope"] == "ALL_USERS"


def test_a_budget_that_nobody_hears_of_is_refused(budget):
    with pytest.raises(Refusal) as refused:
        budget(contacts=())
    assert refused.value.where == "budget.contacts"


def test_every_input_is_one_that_the_sdk_knows_with_its_type(budget):
    for resource in budget().resources:
        if resource.custom and not resource.type.startswith("pulumi:"):
            assert check(resource.type, resource.inputs) == (), resource.name


def test_in_a_preview_the_number_is_not_known_and_all_else_is(preview, tags):
    def build(opts):
        args = GcpBudgetArgs(
            name="vision-prod",
            amount=Decimal(10),
            contacts=("ml@example.com",),
            tags=tags,
            billing_account="012345-6789AB-CDEF01",
            project="example-ml",
            region="us-east4",
        )
        pulumi.export("name", GcpBudget("budget", args, opts).budget_name)

    found = inputs(preview(build))
    assert not found["budgetFilter"]["projects"][0].startswith("projects/")
    assert found["amount"]["specifiedAmount"]["units"] == "10"
