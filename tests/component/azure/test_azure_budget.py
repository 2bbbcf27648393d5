"""A budget in Azure itself: what it counts, who hears of it, and that it stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from azure_durable_samples import make_budget
from azure_samples import SUBSCRIPTION, TAGS

from gpuplatform.azure import AzureBudgetArgs
from gpuplatform.errors import Refusal
from gpuplatform.plan.recorder import Recording

Update = Callable[[Callable[[], Any]], Recording]


def budget(update: Update, **changes: Any) -> dict[str, Any]:
    return update(lambda: make_budget(**changes)).named("budget-budget").inputs


def test_pol_6_it_is_the_subscription_s_and_counts_what_carries_the_tags(update: Update) -> None:
    made = budget(update)
    assert made["scope"] == f"/subscriptions/{SUBSCRIPTION}"
    assert [item["tags"] for item in made["filter"]["and"]] == [
        {"name": "managed-by", "operator": "In", "values": ["gpuplatform"]},
        {"name": "project", "operator": "In", "values": ["vision"]},
        {"name": "environment", "operator": "In", "values": ["prod"]},
    ]


def test_pol_6_parts_of_it_and_a_forecast_are_reported_to_everybody_named(update: Update) -> None:
    notifications = budget(update)["notifications"]
    assert {
        name: (one["threshold"], one["thresholdType"], one["contactEmails"])
        for name, one in notifications.items()
    } == {
        "actual-50": (50, "Actual", ["ml@example.com"]),
        "actual-75": (75, "Actual", ["ml@example.com"]),
        "actual-90": (90, "Actual", ["ml@example.com"]),
        "forecast-100": (100, "Forecasted", ["ml@example.com"]),
    }
    assert "forecast-100" not in budget(update, forecast=False)["notifications"]


def test_pol_6_a_month_that_passes_changes_nothing(update: Update, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUPLATFORM_TODAY", "2026-12-31")
    recording = update(make_budget)
    made = recording.named("budget-budget")
    assert made.inputs["timePeriod"] == {"startDate": "2026-12-01T00:00:00Z"}
    assert made.ignore_changes == ("timePeriod",)


def test_pol_6_the_amount_is_to_the_cent_and_names_no_currency(update: Update) -> None:
    made = budget(update, amount=Decimal("1000.55"), currency="EUR")
    assert made["amount"] == 1000.55
    assert "EUR" not in str(made)


def test_more_alerts_than_azure_has_are_refused() -> None:
    def arguments(*percent: int, forecast: bool) -> None:
        AzureBudgetArgs(
            name="vision-prod",
            amount=Decimal(1),
            contacts=("a@b.de",),
            tags=TAGS,
            subscription=SUBSCRIPTION,
            alert_percent=percent,
            forecast=forecast,
        )

    arguments(10, 20, 30, 40, forecast=True)
    arguments(10, 20, 30, 40, 50, forecast=False)
    with pytest.raises(Refusal, match="6 alerts"):
        arguments(10, 20, 30, 40, 50, forecast=True)
