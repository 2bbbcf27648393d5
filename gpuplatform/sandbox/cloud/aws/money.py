"""Budgets. They are stored: nothing is spent here, so nobody is written to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpuplatform.sandbox.cloud.rule import Call, NameRule, Rule
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES"]

_MOST_NOTIFICATIONS = 10
_MOST_ADDRESSES = 10


def _check_budget(call: Call) -> Iterator[Problem]:
    """As the provider conflicts them, and the API counts them."""
    expression, filters = call.inputs.get("filterExpression"), call.inputs.get("costFilters")
    if expression is not None and filters is not None:
        yield Problem("filterExpression", "conflicts with costFilters")
    if expression is not None and "metrics" not in call.inputs:
        yield Problem("filterExpression", "requires metrics")
    unit = call.get("limitUnit")
    if call.get("budgetType") == "COST" and isinstance(unit, str) and unit != "USD":
        yield Problem("limitUnit", f"{unit} is not USD (InvalidParameterException)")
    notifications = call.inputs.get("notifications") or ()
    if len(notifications) > _MOST_NOTIFICATIONS:
        yield Problem("notifications", f"more than {_MOST_NOTIFICATIONS} (CreationLimitExceededException)")
    for index, notification in enumerate(notifications):
        addresses = notification.get("subscriberEmailAddresses") or ()
        topics = notification.get("subscriberSnsTopicArns") or ()
        if not addresses and not topics:
            yield Problem(f"notifications[{index}]", "has no subscriber (InvalidParameterException)")
        if len(addresses) > _MOST_ADDRESSES:
            yield Problem(f"notifications[{index}]", f"has more than {_MOST_ADDRESSES} addresses")


def _outputs(call: Call) -> dict[str, Any]:
    owner = call.account.owner
    return {"accountId": owner, "arn": f"arn:aws:budgets::{owner}:budget/{call.name}"}


RULES = (
    Rule(
        "aws:budgets/budget:Budget",
        names=NameRule(r"[^:\\]{1,100}", "1 to 100 characters without : and \\"),
        check=_check_budget,
        id=lambda call: f"{call.account.owner}:{call.name}",
        outputs=_outputs,
    ),
)
