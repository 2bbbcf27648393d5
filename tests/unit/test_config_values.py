"""What a correct file means."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from gpuplatform.config import AwsLayout, OnDemand, Platform, Project, Spot, find_project, from_file
from gpuplatform.config.defaults import system_sku

SAMPLES = ("aws-dev", "aws-prod", "azure-dev", "azure-prod", "gcp-dev", "gcp-prod")


@pytest.mark.parametrize("stack", SAMPLES)
def test_every_sample_is_read_and_its_network_divides(stack: str, root: Path) -> None:
    platform = from_file(find_project(root), stack)
    assert platform.environment == stack.split("-")[1]
    assert platform.cloud.provider == stack.split("-", maxsplit=1)[0]
    assert platform.layout().__class__.__name__ == f"{stack.split('-', maxsplit=1)[0].capitalize()}Layout"


def test_the_samples_are_all_the_stacks_there_are(root: Path) -> None:
    assert find_project(root).stacks() == SAMPLES


def test_a_stack_may_be_named_with_its_organization_and_project(root: Path) -> None:
    project = find_project(root)
    assert project.stack_file("org/gpuplatform/aws-dev") == project.stack_file("aws-dev")


def test_defaults_are_on_demand_nodes_in_all_zones_and_a_system_pool(loaded: Callable[..., Platform]) -> None:
    platform = loaded(lambda p: p["node_pools"][0].pop("capacity"))
    assert platform.node_pools[0].capacity == OnDemand()
    assert platform.node_pools[0].zones is None
    assert (platform.cluster.system.nodes.min, platform.cluster.system.nodes.max) == (2, 4)
    assert system_sku(platform) == "m6i.xlarge"


def test_values_arrive_with_their_types(loaded: Callable[..., Platform]) -> None:
    platform = loaded()
    assert platform.network.cidr == IPv4Network("10.10.0.0/16")
    assert platform.budget is not None
    assert platform.budget.monthly_usd == Decimal(3000)
    assert isinstance(platform.node_pools[0].capacity, Spot)
    assert isinstance(platform.layout(), AwsLayout)


def test_nodes_max_counts_the_system_pool_and_its_surge(loaded: Callable[..., Platform]) -> None:
    assert loaded().nodes_max == (4 + 1) + 2


@pytest.mark.parametrize(
    ("environment", "said", "expected"),
    [
        ("prod", {}, True),
        ("dev", {}, False),
        ("prod", {"protect": False}, False),
        ("dev", {"protect": True}, True),
    ],
)
def test_prod_protects_what_holds_data_unless_told_otherwise(
    environment: str, said: dict[str, bool], expected: bool, loaded: Callable[..., Platform]
) -> None:
    assert loaded(lambda p: p.update(environment=environment, **said)).protects is expected


def test_project_and_team_fall_back_to_the_platform_s_name(loaded: Callable[..., Platform]) -> None:
    tags = loaded().tags.aws()
    assert (tags["project"], tags["team"]) == ("vision", "vision")
    assert tags["expires"] == "2027-01-31"
    assert "experiment" not in tags
    other = loaded(
        lambda p: (p.pop("expires"), p.update(project="maps", team="routing", experiment="a b"))
    ).tags.aws()
    assert (other["project"], other["team"], other["experiment"]) == ("maps", "routing", "a b")
    assert "expires" not in other


def test_a_date_without_quotes_is_a_date(written: Callable[..., Project]) -> None:
    project = written()
    text = project.stack_file("s").read_text()
    project.stack_file("s").write_text(text.replace("'2027-01-31'", "2027-01-31"))
    assert str(from_file(project, "s").expires) == "2027-01-31"
