"""Cloud Billing's budgets, and whom they tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.gcp.common import NOT_FOUND, project_of
from gpuplatform.sandbox.cloud.rule import Call, CloudError, Reference, Rule
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES"]

CHANNEL = "gcp:monitoring/notificationChannel:NotificationChannel"

_CHANNELS = 5


def _check_budget(call: Call) -> Iterator[Problem]:
    units = call.get("amount.specifiedAmount.units")
    if isinstance(units, str) and units != wire.UNKNOWN and not re.fullmatch(r"-?\d+", units):
        yield Problem("amount.specifiedAmount.units", f"{units!r} is no whole number; nanos has the rest")
    labels = call.get("budgetFilter.labels")
    if isinstance(labels, dict) and len(labels) > 1:
        yield Problem("budgetFilter.labels", "a budget filters by one label")
    channels = call.get("allUpdatesRule.monitoringNotificationChannels")
    if isinstance(channels, list) and len(channels) > _CHANNELS:
        yield Problem(
            "allUpdatesRule.monitoringNotificationChannels", f"a budget tells at most {_CHANNELS} channels"
        )


def _create_budget(call: Call) -> None:
    config = call.account.config
    if not (config.get("userProjectOverride") and config.get("billingProject")):
        raise CloudError(
            "googleapi: Error 403: Your application is authenticating by using local Application Default"
            " Credentials. The billingbudgets.googleapis.com API requires a quota project, which is not set"
            " by default., forbidden"
        )
    for project in wire.at(call.inputs, "budgetFilter.projects[]"):
        # GoogleCloudPlatform/cloud-foundation-fabric#2365
        if not re.fullmatch(r"projects/\d+", str(project)):
            raise CloudError(
                f"googleapi: Error 400: Request contains an invalid argument., badRequest ({project} is not"
                " projects/NUMBER)"
            )


def _budget_outputs(call: Call) -> dict[str, Any]:
    return {"name": call.id.rpartition("/")[2]}


def _budget_id(call: Call) -> str:
    number = wire.digest(call.urn, str(call.world.made()), length=32)
    return f"billingAccounts/{call.get('billingAccount')}/budgets/{number}"


def _channel_id(call: Call) -> str:
    number = int(wire.digest(call.urn, str(call.world.made()), length=15), 16)
    return f"projects/{project_of(call)}/notificationChannels/{number}"


RULES = (
    Rule(
        CHANNEL,
        id=_channel_id,
        outputs=lambda call: {"name": call.id, "verificationStatus": ""},
    ),
    Rule(
        "gcp:billing/budget:Budget",
        references=(Reference("allUpdatesRule.monitoringNotificationChannels[]", CHANNEL, NOT_FOUND),),
        check=_check_budget,
        create=_create_budget,
        id=_budget_id,
        outputs=_budget_outputs,
    ),
)
