"""A plan's time a resource, with two hundred pools and with twenty."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from typing import Any

import yaml
from measure import ROOT, Ratio, inside, paired

from gpuplatform.catalog import load
from gpuplatform.config import KEY, Platform, find_project
from gpuplatform.plan.recorder import record
from gpuplatform.platform import decide
from gpuplatform.platform.build import build

FEW, MANY = 20, 200
SAMPLES = {"aws-dev": "10.0.0.0/16", "azure-dev": "10.0.0.0/12", "gcp-dev": "10.0.0.0/12"}


def many_pools_against_few() -> Iterator[Ratio]:
    """Everything that `plan` does, less start-up: configuration, decision, resources."""
    for sample, cidr in SAMPLES.items():
        few, many = (_document(sample, cidr, pools) for pools in (FEW, MANY))
        count_few, count_many = _plan(few), _plan(many)
        yield paired(
            f"plan of {MANY} pools on {sample[:-4]} / of {FEW}, per resource",
            _each(lambda: _plan(many), count_many),  # noqa: B023 - called before the next turn
            _each(lambda: _plan(few), count_few),  # noqa: B023 - likewise
            goal=1.2,
            runs=7,
        )


def _each(body: Any, count: int) -> Any:
    run = inside(body)
    return lambda: run() / count


def _document(sample: str, cidr: str, pools: int) -> str:
    text = find_project(ROOT).stack_file(sample).read_text()
    platform: dict[str, Any] = yaml.safe_load(text)["config"][KEY]
    platform["network"]["cidr"] = cidr
    platform["node_pools"] = [
        {**platform["node_pools"][0], "name": f"pool{index}", "nodes": {"min": 0, "max": 1}}
        for index in range(pools)
    ]
    platform["budget"] = {"monthly_usd": 10_000_000}
    # What does not grow with the pools would be most of the smaller stack, at another time a resource.
    for key in ("storage", "teams", "identity"):
        platform.pop(key, None)
    return json.dumps(platform, default=str)


def _plan(document: str) -> int:
    decision = decide(Platform.model_validate_json(document), load(), dt.date(2026, 12, 1))
    return len(record(lambda: build(decision)).resources)
