"""Budgets of subscriptions. They are stored: nothing is spent here, so nobody is written to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.rule import Call, CloudError, NameRule, Rule
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES"]

_NOTIFICATIONS_MAX = 5
_CONTACTS_MAX = 50


def _check(call: Call) -> Iterator[Problem]:
    """https://learn.microsoft.com/rest/api/consumption/budgets/create-or-update."""
    start = call.get("timePeriod.startDate")
    if isinstance(start, str) and start != wire.UNKNOWN and not re.match(r"\d{4}-\d{2}-01", start):
        yield Problem("timePeriod.startDate", f"{start} is not the first of a month")
    both = call.inputs.get("filter", {}).get("and")
    if isinstance(both, list) and len(both) < 2:  # noqa: PLR2004 - the API's own number
        yield Problem("filter.and", "must have at least 2 items")
    notifications = call.inputs.get("notifications")
    if not isinstance(notifications, Mapping):
        return
    if len(notifications) > _NOTIFICATIONS_MAX:
        yield Problem("notifications", f"at most {_NOTIFICATIONS_MAX}, not {len(notifications)}")
    for name, notification in notifications.items():
        contacts = notification.get("contactEmails") or []
        if not contacts and not notification.get("contactGroups"):
            yield Problem(f"notifications.{name}", "has neither contactEmails nor contactGroups")
        if len(contacts) > _CONTACTS_MAX:
            yield Problem(f"notifications.{name}.contactEmails", f"at most {_CONTACTS_MAX}")
        threshold = notification.get("threshold")
        if isinstance(threshold, int | float) and not 0 < threshold <= 1000:  # noqa: PLR2004 - likewise
            yield Problem(f"notifications.{name}.threshold", f"{threshold:g} is not between 0 and 1000")


def _update(call: Call, old: Mapping[str, Any]) -> None:
    if wire.first(old, "timePeriod.startDate") != call.get("timePeriod.startDate"):
        raise CloudError("Code=400: Budget start date cannot be updated. Please recreate the budget.")


RULES = (
    Rule(
        "azure-native:consumption:Budget",
        names=NameRule(r"[\w-]{1,63}", "1 to 63 of letters, digits, _ and -"),
        check=_check,
        update=_update,
    ),
)
