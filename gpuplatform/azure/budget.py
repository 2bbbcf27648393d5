"""A budget in Azure itself, which tells people what has been billed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pulumi

from gpuplatform.azure.resource import AzureResource
from gpuplatform.clock import today
from gpuplatform.component import Component
from gpuplatform.contracts import BudgetArgs
from gpuplatform.errors import Refusal
from gpuplatform.naming import fit

__all__ = ["AzureBudget", "AzureBudgetArgs"]

NOTIFICATIONS_MAX = 5


@dataclass(frozen=True, kw_only=True)
class AzureBudgetArgs(BudgetArgs):
    """What an `AzureBudget` is made of: the arguments of every budget, and those of Azure.

    The amount is in the currency that the subscription is billed in, whatever that is: Azure's budgets name
    none.

    Attributes:
        subscription: The subscription's ID.

    Raises:
        Refusal: Azure has no such budget.
    """

    subscription: str

    def __post_init__(self) -> None:
        super().__post_init__()
        alerts = len(self.alert_percent) + self.forecast
        if alerts > NOTIFICATIONS_MAX:
            raise Refusal(
                f"{alerts} alerts",
                where="budget.alert_percent",
                rule=f"a budget of Azure has at most {NOTIFICATIONS_MAX} "
                "(https://learn.microsoft.com/rest/api/consumption/budgets/create-or-update)",
                way_out="name fewer, or set forecast to false",
            )


class AzureBudget(Component):
    """A monthly budget of the subscription, for what carries the environment's tags.

    Of the subscription and not of a resource group: the nodes stand in a group of AKS's own, and storage in
    groups of its own; all carry the tags. Costs carry a tag from the day on that the resource does, and
    Azure looks at them once in a day or two (https://learn.microsoft.com/azure/cost-management-billing/costs/
    tutorial-acm-create-budgets). It stops nothing.

    Outputs:
        budget_name: Its physical name.
    """

    TOKEN = "gpuplatform:index:AzureBudget"  # noqa: S105 - a type token, no secret

    budget_name: pulumi.Output[str]

    def __init__(self, name: str, args: AzureBudgetArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        budget = AzureResource(
            "azure-native:consumption:Budget",
            f"{name}-budget",
            {
                "budgetName": fit("Azure budget", args.name),
                "scope": f"/subscriptions/{args.subscription}",
                "category": "Cost",
                "timeGrain": "Monthly",
                "amount": float(args.amount),
                "timePeriod": {"startDate": f"{today():%Y-%m}-01T00:00:00Z"},
                "filter": _tagged(args),
                "notifications": _notifications(args),
            },
            # It starts in the month that it is made in; Azure refuses to move that later, and each month
            # would want to.
            self.child(ignore_changes=["timePeriod"]),
        )
        self.budget_name = budget.name
        self.finish(budget_name=self.budget_name)


def _tagged(args: BudgetArgs) -> dict[str, Any]:
    """What carries all of the tags that tell this environment from others."""
    tags = args.tags.azure()
    return {
        "and": [
            {"tags": {"name": key, "operator": "In", "values": [tags[key]]}}
            for key in ("managed-by", "project", "environment")
        ]
    }


def _notifications(args: BudgetArgs) -> dict[str, Any]:
    """One a part that has been billed, and one for a month that is forecast to be over."""

    def alert(threshold: int, kind: str) -> dict[str, Any]:
        return {
            "enabled": True,
            "operator": "GreaterThanOrEqualTo",
            "threshold": threshold,
            "thresholdType": kind,
            "contactEmails": list(args.contacts),
        }

    alerts = {f"actual-{percent}": alert(percent, "Actual") for percent in args.alert_percent}
    return alerts | ({"forecast-100": alert(100, "Forecasted")} if args.forecast else {})
