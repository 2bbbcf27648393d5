"""Guardrails: what a deployment would run, judged against limits and facts. Pure, and free of Pulumi.

`footprint_of_config` and `footprint_of_resources` describe a deployment, `judge` gives the verdicts,
`cost` the month's price.
"""

from __future__ import annotations

from gpuplatform.guardrails.cost import HOURS_A_MONTH, NOT_COUNTED, Cost, CostLine, cost, usd
from gpuplatform.guardrails.footprint import (
    UNKNOWN_MARKS,
    ControlPlane,
    Footprint,
    NodeGroup,
    RawResource,
    Unknown,
)
from gpuplatform.guardrails.from_config import footprint_of_config
from gpuplatform.guardrails.from_resources import Inventory, footprint_of_resources
from gpuplatform.guardrails.judge import judge, judge_money, judge_parts
from gpuplatform.guardrails.limits import Limits, limits_of_config, strictest
from gpuplatform.guardrails.verdict import Rule, Status, Verdict

__all__ = [
    "HOURS_A_MONTH",
    "NOT_COUNTED",
    "UNKNOWN_MARKS",
    "ControlPlane",
    "Cost",
    "CostLine",
    "Footprint",
    "Inventory",
    "Limits",
    "NodeGroup",
    "RawResource",
    "Rule",
    "Status",
    "Unknown",
    "Verdict",
    "cost",
    "footprint_of_config",
    "footprint_of_resources",
    "judge",
    "judge_money",
    "judge_parts",
    "limits_of_config",
    "strictest",
    "usd",
]
