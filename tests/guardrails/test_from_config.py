from __future__ import annotations

import copy
import json

import pytest
import yaml

from gpuplatform.config import from_engine
from gpuplatform.guardrails import footprint_of_config, limits_of_config


@pytest.fixture
def stack(root):
    text = (root / "stacks" / "config" / "Pulumi.aws-prod.yaml").read_text()
    document = yaml.safe_load(text)["config"]["gpuplatform:platform"]

    def make(**changes):
        kept = {key: value for key, value in (copy.deepcopy(document) | changes).items() if value is not None}
        value = json.dumps(kept, default=str)
        return from_engine(value, secret=False, stack="aws-prod")

    return make


def test_each_pool_and_the_system_pool_are_groups_named_as_in_the_configuration(stack):
    footprint = footprint_of_config(stack())
    assert [(group.name, group.where) for group in footprint.node_groups] == [
        ("serve", "node_pools.serve"),
        ("system", "cluster.system"),
        ("train", "node_pools.train"),
    ]
    (plane,) = footprint.control_planes
    assert (plane.name, plane.where, plane.kubernetes_version) == ("vision-prod", "cluster", "1.35")


def test_only_the_system_pool_asks_for_no_gpus(stack):
    groups = footprint_of_config(stack()).node_groups
    assert {group.name for group in groups if group.system} == {"system"}
    assert {group.purpose for group in groups} == {None, "training", "inference"}


def test_a_pool_without_zones_has_those_of_the_network(stack):
    groups = {group.name: group for group in footprint_of_config(stack()).node_groups}
    assert groups["train"].zones == ("use1-az4",)
    assert groups["serve"].zones == groups["system"].zones == ("use1-az4", "use1-az6")


def test_capacity_and_bounds_are_the_pools_own(stack):
    pool = {
        "name": "spot",
        "sku": "g6.xlarge",
        "purpose": "batch",
        "nodes": {"min": 2, "max": 7},
        "capacity": {"kind": "spot"},
    }
    groups = {group.name: group for group in footprint_of_config(stack(node_pools=[pool])).node_groups}
    spot = groups["spot"]
    assert (spot.capacity, spot.nodes_min, spot.nodes_max) == ("spot", 2, 7)


def test_the_stacks_limits_are_read_and_absent_ones_are_none(stack):
    limits = limits_of_config(stack(guardrails={"regions": ["us-east-1"], "not_evaluated": "fail"}))
    assert (limits.regions, limits.gpu_models, limits.not_evaluated_fails) == (("us-east-1",), None, True)
    assert limits_of_config(stack(budget=None)).monthly_usd is None
