from __future__ import annotations

from datetime import date

import pytest

from gpuplatform import catalog
from gpuplatform.guardrails import Footprint, Limits, NodeGroup, Verdict, judge

DAY = date(2026, 11, 30)


@pytest.fixture
def known():
    return catalog.load()


@pytest.fixture
def group():
    """A node group that breaks no rule, with some of it changed."""

    def make(**changes) -> NodeGroup:
        cloud = changes.get("cloud", "aws")
        machine, region = {
            "aws": ("g6.xlarge", "us-east-1"),
            "azure": ("Standard_NC4as_T4_v3", "eastus"),
            "gcp": ("g2-standard-8", "us-central1"),
        }[cloud]
        defaults = {
            "name": "train",
            "where": "node_pools.train",
            "cloud": cloud,
            "machine": machine,
            "region": region,
            "nodes_min": 0,
            "nodes_max": 1,
            "asks_for_gpus": True,
        }
        return NodeGroup(**(defaults | changes))

    return make


@pytest.fixture
def verdicts(known):
    """The verdicts on some groups, by rule; the last one of a rule counts."""

    def run(*groups, planes=(), limits=None, today=DAY, prices=None) -> dict[str, Verdict]:
        footprint = Footprint(node_groups=groups, control_planes=planes)
        found = judge(footprint, limits or Limits(), prices or known, today)
        return {verdict.rule: verdict for verdict in found}

    return run
