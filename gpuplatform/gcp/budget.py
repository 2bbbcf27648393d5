"""A budget of Cloud Billing: who is told when an environment has cost a part of it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import pulumi
from pulumi_gcp import Provider

from gpuplatform.component import Component
from gpuplatform.contracts import BudgetArgs
from gpuplatform.gcp.project import project_number
from gpuplatform.gcp.resource import GcpResource

__all__ = ["GcpBudget", "GcpBudgetArgs"]

_NANOS: Final = 10**9


@dataclass(frozen=True, kw_only=True)
class GcpBudgetArgs(BudgetArgs):
    """What a `GcpBudget` is made of: the arguments of every budget, and those of Google Cloud.

    The currency is the billing account's own; Cloud Billing refuses any other.

    Attributes:
        billing_account: The billing account that pays, such as `012345-6789AB-CDEF01`.
        project: The environment's project, by its ID.
        region: The cloud's own name of the region.
    """

    billing_account: str
    project: str
    region: str


class GcpBudget(Component):
    """A monthly budget of what carries the environment's label in its project.

    Cloud Billing filters by one label, and by no more (https://cloud.google.com/billing/docs/reference/budget/
    rest/v1/billingAccounts.budgets#Filter): two platforms whose environments share project and name are
    counted together, and what takes no labels, such as traffic, is counted by none. It reports; it stops
    nothing.

    Preconditions in the project: the APIs `billingbudgets`, `cloudbilling`, `cloudresourcemanager` and
    `monitoring`; for whoever deploys: `billing.resourcebudgets.write` there, which does for budgets of a
    single project (https://cloud.google.com/billing/docs/how-to/budget-api-access-control), or
    roles/billing.costsManager on the billing account.

    Outputs:
        budget_name: Its resource name.
    """

    TOKEN = "gpuplatform:index:GcpBudget"  # noqa: S105 - a type token, no secret

    budget_name: pulumi.Output[str]

    def __init__(self, name: str, args: GcpBudgetArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        channels = [
            GcpResource(
                "gcp:monitoring/notificationChannel:NotificationChannel",
                # By the address, not by its place in the list.
                f"{name}-{contact}",
                {
                    "project": args.project,
                    "type": "email",
                    "displayName": f"{args.name} budget",
                    "labels": {"email_address": contact},
                    "userLabels": args.tags.gcp(),
                },
                self.child(),
            )
            for contact in args.contacts
        ]
        # A provider of its own: Cloud Billing has no project, so it asks which one's quota a call counts
        # against, and with a person's credentials refuses one that doesn't say
        # (hashicorp/terraform-provider-google#8444).
        provider = Provider(
            f"{name}-billing",
            project=args.project,
            region=args.region,
            billing_project=args.project,
            user_project_override=True,
            opts=self.child(),
        )
        budget = GcpResource(
            "gcp:billing/budget:Budget",
            f"{name}-budget",
            {
                "billingAccount": args.billing_account,
                "displayName": args.name,
                # Not for people of the billing account only: the project's deployments own it too.
                "ownershipScope": "ALL_USERS",
                "amount": {"specifiedAmount": _amount(args.amount, args.currency)},
                "budgetFilter": {
                    # By number: with the ID, the API answers with the number, and each update would set it
                    # back (GoogleCloudPlatform/cloud-foundation-fabric#2365).
                    "projects": [pulumi.Output.concat("projects/", project_number(self, args.project))],
                    "labels": {"environment": args.tags.gcp()["environment"]},
                    "calendarPeriod": "MONTH",
                    "creditTypesTreatment": "INCLUDE_ALL_CREDITS",
                },
                "thresholdRules": _thresholds(args),
                "allUpdatesRule": {
                    "monitoringNotificationChannels": [channel.id for channel in channels],
                    # Else everybody with a role on the billing account is told as well.
                    "disableDefaultIamRecipients": True,
                },
                "name": None,
            },
            self.child(provider=provider),
        )
        self.budget_name = budget.name
        self.finish(budget_name=budget.name)


def _amount(amount: Decimal, currency: str) -> dict[str, Any]:
    """Whole units as text and the rest in billionths, as google.type.Money is written in JSON."""
    units, rest = divmod(amount, 1)
    nanos = {"nanos": int(rest * _NANOS)} if rest else {}
    return {"currencyCode": currency, "units": str(int(units)), **nanos}


def _thresholds(args: BudgetArgs) -> list[dict[str, Any]]:
    """Parts of the amount once they are spent, and the whole of it once it is forecast."""
    spent: list[dict[str, Any]] = [
        {"thresholdPercent": percent / 100, "spendBasis": "CURRENT_SPEND"} for percent in args.alert_percent
    ]
    forecast = {"thresholdPercent": 1.0, "spendBasis": "FORECASTED_SPEND"}
    return [*spent, *([forecast] if args.forecast else [])]
