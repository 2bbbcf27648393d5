"""What an environment may cost, and what Operations allow."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gpuplatform.config.base import At, Model
from gpuplatform.config.values import EMAIL, Usd

__all__ = ["Budget", "Contact", "Guardrails", "budget_problem"]

Contact = Annotated[
    str,
    Field(
        max_length=50,  # AWS Budgets' own limit of a subscriber's address
        pattern=EMAIL,
        description="An e-mail address of at most 50 characters, of letters, digits and . _ + -, and the @.",
    ),
]


class Budget(Model):
    """What the environment may cost at the autoscaler's maximum."""

    monthly_usd: Annotated[Usd, Field(description="US dollars a month of 730 hours.")]
    contacts: Annotated[
        tuple[Contact, ...],
        Field(
            max_length=5,
            description="Who hears of it when the cloud has billed a part of it: at most 5 e-mail addresses. "
            "The budget is made in the cloud as well where there are some.",
        ),
    ] = ()
    alert_percent: Annotated[
        tuple[Annotated[int, Field(ge=1, le=1000, description="A part of the budget, per cent.")], ...],
        Field(
            min_length=1,
            max_length=4,
            description="Parts of the budget that are reported once billed, per cent: 1 to 4, rising.",
        ),
    ] = (50, 75, 90)
    forecast: Annotated[
        bool, Field(description="Whether a month that is forecast to go over the budget is reported as well.")
    ] = True
    billing_account: Annotated[
        str | None,
        Field(
            pattern=r"^[0-9A-F]{6}-[0-9A-F]{6}-[0-9A-F]{6}$",
            description="GCP: the billing account that pays, such as 012345-6789AB-CDEF01.",
        ),
    ] = None
    currency: Annotated[
        str | None,
        Field(
            pattern=r"^[A-Z]{3}$",
            description="The currency that the account is billed in, such as EUR; USD where left out.",
        ),
    ] = None
    monthly: Annotated[
        Usd | None,
        Field(description="The same amount in that currency, which the cloud's own budget is written in."),
    ] = None

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if list(self.alert_percent) != sorted(set(self.alert_percent)):
            raise At(
                "alert_percent", f"{', '.join(map(str, self.alert_percent))} do not rise; write each once"
            )
        if len({contact.casefold() for contact in self.contacts}) < len(self.contacts):
            raise At("contacts", "an address is named twice")
        return self

    @model_validator(mode="after")
    def _one_currency(self) -> Self:
        foreign = self.currency not in {None, "USD"}
        if foreign and self.monthly is None:
            raise At(
                "monthly",
                f"the account is billed in {self.currency}, and no rate of exchange is known here: "
                f"write the amount in {self.currency}",
            )
        if not foreign and self.monthly is not None:
            raise At("monthly", "monthly_usd says it already; monthly is for another currency")
        return self


class Guardrails(Model):
    """Operations' limits. A policy pack's own limits apply as well; the stricter of the two wins."""

    regions: Annotated[
        tuple[str, ...] | None, Field(min_length=1, description="Regions that may be used; all if left out.")
    ] = None
    gpu_models: Annotated[
        tuple[str, ...] | None,
        Field(min_length=1, description="GPU models that may be used, such as H100; all if left out."),
    ] = None
    max_price_age_days: Annotated[
        int | None,
        Field(
            ge=1, description="A price older than this makes the budget 'not evaluated'; never if left out."
        ),
    ] = None
    not_evaluated: Annotated[
        Literal["warn", "fail"],
        Field(description="Whether a verdict that could not be evaluated blocks the deployment."),
    ] = "warn"


def budget_problem(provider: str, budget: Budget) -> tuple[str, str] | None:
    """What of a budget its cloud cannot do: the path below `budget`, and why; None where it can all of it."""
    if provider == "aws" and budget.currency not in {None, "USD"}:
        # https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_Spend.html
        return "currency", "AWS Budgets are in US dollars, whatever the invoice is paid in; leave it out"
    if provider != "gcp" and budget.billing_account is not None:
        return "billing_account", "only Google Cloud's budgets belong to a billing account; leave it out"
    if provider == "gcp" and budget.contacts and budget.billing_account is None:
        # https://cloud.google.com/billing/docs/reference/budget/rest/v1/billingAccounts.budgets
        why = "billing_account is missing: Google Cloud's budgets belong to the billing account that pays"
        return "billing_account", f"{why}; `gcloud billing projects describe PROJECT` prints it"
    return None
