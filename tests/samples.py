"""The sample stacks as they would be registered, recorded once for all who look at them."""

from __future__ import annotations

import datetime as dt
from functools import cache
from pathlib import Path

from gpuplatform.catalog import load
from gpuplatform.config import Platform, find_project, from_file
from gpuplatform.plan.recorder import Recording, record
from gpuplatform.platform import Decision, decide
from gpuplatform.platform.build import build

ROOT = Path(__file__).parent.parent
TODAY = dt.date(2026, 12, 1)
"""The day every test lives on."""

STACKS = ("aws-dev", "aws-prod", "azure-dev", "azure-prod", "gcp-dev", "gcp-prod")


@cache
def config_of(stack: str) -> Platform:
    return from_file(find_project(ROOT), stack)


@cache
def decision_of(stack: str) -> Decision:
    return decide(config_of(stack), load(), TODAY)


@cache
def recording_of(stack: str) -> Recording:
    decision = decision_of(stack)
    return record(lambda: build(decision), stack=stack)
