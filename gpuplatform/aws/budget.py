"""A budget in AWS itself: what carries the environment's tags, by month, with warnings by e-mail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pulumi

from gpuplatform.aws.resource import AwsResource
from gpuplatform.component import Component
from gpuplatform.contracts import BudgetArgs
from gpuplatform.errors import Refusal
from gpuplatform.naming import fit

__all__ = ["AwsBudget", "AwsBudgetArgs"]

MOST_NOTIFICATIONS: Final = 10
MOST_CONTACTS: Final = 10
"""Of one budget, and of one notification
(https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_Notification.html)."""


@dataclass(frozen=True, kw_only=True)
class AwsBudgetArgs(BudgetArgs):
    """What an `AwsBudget` is made of: the arguments of every budget.

    Raises:
        Refusal: AWS cannot build it.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.currency != "USD":
            raise Refusal(
                f"a budget in {self.currency}",
                where="budget.currency",
                # https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_Spend.html
                rule="AWS Budgets are in US dollars, whatever the invoice is paid in",
                way_out="leave it out",
            )
        if len(self.alert_percent) + self.forecast > MOST_NOTIFICATIONS:
            raise Refusal(
                f"{len(self.alert_percent) + self.forecast} notifications",
                where="budget.alert_percent",
                rule=f"a budget has at most {MOST_NOTIFICATIONS}, the forecast's included",
                way_out="leave some out",
            )
        if len(self.contacts) > MOST_CONTACTS:
            raise Refusal(
                f"{len(self.contacts)} contacts",
                where="budget.contacts",
                rule=f"a notification goes to at most {MOST_CONTACTS} addresses",
                way_out="name a mailing list",
            )


class AwsBudget(Component):
    """A monthly budget over what carries both the environment's `project` and its `environment` tag.

    Two things must be so, and no component of one account can make them so: both tags are activated as
    cost allocation tags in the organisation's payer account, up to 24 hours after they are first seen
    (https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/activating-tags.html; until then the budget
    counts nothing), and the account may see its costs. Some costs carry no tags at all: support, and part of
    the traffic.

    Outputs:
        budget_name: Its physical name.
    """

    TOKEN = "gpuplatform:index:AwsBudget"  # noqa: S105 - a type token, no secret

    budget_name: pulumi.Output[str]

    def __init__(self, name: str, args: AwsBudgetArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        physical = fit("AWS budget", args.name, "monthly")
        AwsResource(
            "aws:budgets/budget:Budget",
            f"{name}-budget",
            {
                "name": physical,
                "budgetType": "COST",
                "timeUnit": "MONTHLY",
                "limitAmount": f"{args.amount:f}",
                "limitUnit": args.currency,
                # Filters of the older kind, `costFilters`, are an OR within one name, and all tags share the
                # name TagKeyValue: they would count every project's `prod`.
                "filterExpression": {"ands": [_tagged("project", args), _tagged("environment", args)]},
                "metrics": "UnblendedCost",
                "notifications": _notifications(args),
                "tags": args.tags.aws(),
            },
            self.child(),
        )
        self.budget_name = pulumi.Output.from_input(physical)
        self.finish(budget_name=self.budget_name)


def _tagged(key: str, args: BudgetArgs) -> dict[str, Any]:
    return {"tags": {"key": key, "values": [args.tags.aws()[key]], "matchOptions": ["EQUALS"]}}


def _notifications(args: BudgetArgs) -> list[dict[str, Any]]:
    asked = [("ACTUAL", percent) for percent in args.alert_percent]
    if args.forecast:
        asked.append(("FORECASTED", 100))
    return [
        {
            "notificationType": kind,
            "comparisonOperator": "GREATER_THAN",
            "threshold": percent,
            "thresholdType": "PERCENTAGE",
            "subscriberEmailAddresses": list(args.contacts),
        }
        for kind, percent in asked
    ]
