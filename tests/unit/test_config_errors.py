"""Every mistake a person can make in a stack's file has its own sentence, with the place and the way out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuplatform.config import KEY, Platform, Project, find_project, from_engine, from_file
from gpuplatform.errors import ConfigError

Loaded = Callable[..., Platform]


def _pool(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda platform: platform["node_pools"][0].update(values)


def _in(section: str, **values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda platform: platform[section].update(values)


def _top(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda platform: platform.update(values)


def _api(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda platform: platform["cluster"]["api_access"].update(values)


CASES = {
    "an unknown key names the nearest": (_top(nodepools=[]), ["nodepools", "did you mean `node_pools`"]),
    "an unknown key of a pool names the nearest": (
        _pool(skuu="x"),
        ["node_pools[0].skuu", "did you mean `sku`"],
    ),
    "max below min": (_pool(nodes={"min": 3, "max": 1}), ["node_pools[0].nodes", "max (1) is below min (3)"]),
    "a pool name used twice": (
        lambda platform: platform["node_pools"].append(dict(platform["node_pools"][0])),
        ["node_pools", "the name serve is used twice"],
    ),
    "the system pool's name": (_pool(name="system"), ["the name system belongs to"]),
    "a pool name that AKS would refuse": (_pool(name="gpu-h100-train"), ["node_pools[0].name", "At most 12"]),
    "a CIDR too small for the nodes": (
        _in("network", cidr="10.0.0.0/24"),
        ["network.cidr", "holds 0 nodes", "a /21"],
    ),
    "a CIDR with host bits": (_in("network", cidr="10.0.0.1/16"), ["has host bits set"]),
    "a CIDR that is a number": (_in("network", cidr=10), ["network.cidr", "is text"]),
    "a public CIDR": (_in("network", cidr="8.0.0.0/16"), ["no private block"]),
    "a VPC larger than AWS allows": (_in("network", cidr="10.0.0.0/8"), ["a /16 to a /28"]),
    "a version without quotes": (
        _in("cluster", kubernetes_version=1.3),
        ["1.3 is a number", 'in quotes: "1.3"'],
    ),
    "a patch version": (
        _in("cluster", kubernetes_version="1.35.2"),
        ["'1.35.2' is not accepted", "quoted minor"],
    ),
    "a cost center without quotes": (_top(cost_center=4711), ["4711 is a number where text belongs"]),
    "a secret where a plain value belongs": (_top(owner={"secure": "v1:abc"}), ["owner", "a secret stands"]),
    "a secret among labels": (
        _pool(labels={"secure": "v1:abc"}),
        ["node_pools[0].labels", "a secret stands"],
    ),
    "an amount in quotes": (_in("budget", monthly_usd="100"), ["budget.monthly_usd", "a plain number"]),
    "an amount below zero": (_in("budget", monthly_usd=-1), ["above zero"]),
    "an amount that is no number": (_in("budget", monthly_usd=float("nan")), ["a finite number"]),
    "an amount without end": (_in("budget", monthly_usd=float("inf")), ["a finite number"]),
    "an amount that YAML reads as text": (_in("budget", monthly_usd="1e400"), ["YAML reads 1e400 as text"]),
    "an amount below a cent": (_in("budget", monthly_usd=1e-9), ["below one cent"]),
    "an amount that is true": (_in("budget", monthly_usd=True), ["a plain number"]),
    "an admin that is no ARN": (_in("cluster", admins=["me"]), ["cluster.admins[0]", "IAM role or user ARN"]),
    "no admin": (_in("cluster", admins=[]), ["cluster.admins", "at least 1"]),
    "a zone of another cloud": (_in("network", zones=["us-central1-a"]), ["network.zones[0]", "zone ID"]),
    "a zone twice": (_in("network", zones=["use1-az4", "use1-az4"]), ["a zone is named twice"]),
    "a pool's zone outside the network": (
        _pool(zones=["use1-az1"]),
        ["node_pools[0].zones", "no zone of the network"],
    ),
    "an open API": (_api(public_cidrs=["0.0.0.0/0"]), ["opens the API to the whole internet"]),
    "an API nobody reaches": (_api(private=False, public_cidrs=[]), ["nobody could reach the API"]),
    "a provider misspelt": (_in("cloud", provider="awss"), ["cloud", "did you mean 'aws'"]),
    "no provider": (lambda platform: platform["cloud"].pop("provider"), ["`provider` is missing"]),
    "an account that is a number": (_in("cloud", account=123456789012), ["cloud.account", "in quotes"]),
    "a missing key": (lambda platform: platform.pop("owner"), ["owner is missing", "add `owner:`"]),
    "a capacity misspelt": (_pool(capacity={"kind": "spott"}), ["did you mean 'spot'"]),
    "a maximum price for spot": (
        _pool(capacity={"kind": "spot", "max_price": 1}),
        ["there is no key `max_price`"],
    ),
    "a date that is none": (_top(expires="soon"), ["expires", "like 2027-01-31"]),
    "no pools": (_top(node_pools=[]), ["node_pools", "at least 1"]),
    "one zone for a control plane that wants two": (
        _in("network", zones=["use1-az4"]),
        ["EKS wants subnets in two zones"],
    ),
    "a label that nodes refuse": (
        _pool(labels={"node-role.kubernetes.io/gpu": "x"}),
        ["labels", "belong to the cluster"],
    ),
    "a taint key twice": (
        _pool(taints=[{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}]),
        ["taints", "a is tainted twice"],
    ),
    "the pool's own taint": (_pool(taints=[{"key": "nvidia.com/gpu"}]), ["taints", "by itself"]),
    "a capacity block that is none": (
        _pool(capacity={"kind": "capacity-block", "id": "block-1"}),
        ["node_pools[0].capacity.id", "The block's reservation"],
    ),
    "a reservation without its ID": (
        _pool(capacity={"kind": "reservation"}),
        ["node_pools[0].capacity.id", "is missing"],
    ),
    "one share of a GPU": (
        _pool(sharing={"kind": "time-slicing", "replicas": 1}),
        ["node_pools[0].sharing.replicas", "greater than or equal to 2"],
    ),
    "a kind of sharing that is none": (
        _pool(sharing={"kind": "mgi"}),
        ["node_pools[0].sharing", "did you mean 'mig'"],
    ),
    "a MIG profile that is none": (
        _pool(sharing={"kind": "mig", "profile": "7"}),
        ["node_pools[0].sharing.profile"],
    ),
    "a fabric that is none": (_pool(fabric="yes"), ["node_pools[0].fabric", "'required'"]),
    "a class of a pool that is not there": (
        _top(workload_classes=[{"name": "jobs", "pools": ["serve", "train"]}]),
        ["workload_classes[0].pools", "there is no pool train"],
    ),
    "a class that names a pool twice": (
        _top(workload_classes=[{"name": "jobs", "pools": ["serve", "serve"]}]),
        ["workload_classes[0].pools", "named twice"],
    ),
    "an empty name": (_top(name=""), ["name", "is not accepted"]),
    "a negative minimum": (_pool(nodes={"min": -1, "max": 1}), ["node_pools[0].nodes.min"]),
    "half a node": (_pool(nodes={"min": 0, "max": 1.5}), ["node_pools[0].nodes.max"]),
}

NOT_BUILT = {
    "group": _top(teams=[{"name": "vision", "group": "ml-vision"}]),
    "gpus": _top(teams=[{"name": "vision", "gpus": {"serve": 1}}]),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_has_its_own_sentence(case: str, loaded: Loaded) -> None:
    change, expected = CASES[case]
    with pytest.raises(ConfigError) as raised:
        loaded(change)
    message = str(raised.value)
    assert message.startswith("Pulumi.s.yaml")
    for part in expected:
        assert part in message


@pytest.mark.parametrize("case", CASES)
def test_one_mistake_is_reported_once(case: str, loaded: Loaded) -> None:
    with pytest.raises(ConfigError) as raised:
        loaded(CASES[case][0])
    assert raised.value.problems == ()


@pytest.mark.parametrize(
    ("sample", "access", "expected"),
    [
        (
            "azure-dev",
            {"private": True, "public_cidrs": ["198.51.100.0/24"]},
            "private or public, never both",
        ),
        ("gcp-dev", {"private": False, "public_cidrs": ["198.51.100.0/24"]}, "set it to true"),
    ],
)
def test_an_api_that_the_cloud_does_not_have_is_refused(
    sample: str, access: dict[str, Any], expected: str, loaded: Loaded
) -> None:
    with pytest.raises(ConfigError, match=expected) as raised:
        loaded(_api(**access), sample=sample)
    assert "cluster.api_access" in raised.value.where


@pytest.mark.parametrize("key", NOT_BUILT)
def test_a_part_that_is_not_built_is_refused_by_name(key: str, loaded: Loaded) -> None:
    with pytest.raises(ConfigError, match="not supported by this version") as raised:
        loaded(NOT_BUILT[key])
    assert f"`{key}`" in str(raised.value)


def test_two_mistakes_are_both_reported(loaded: Loaded) -> None:
    with pytest.raises(ConfigError) as raised:
        loaded(lambda platform: (platform.pop("owner"), platform.update(colour="blue")))
    assert len(raised.value.problems) == 2
    assert "owner is missing" in str(raised.value)
    assert "there is no key `colour`" in str(raised.value)


def test_the_line_of_the_mistake_is_named(written: Callable[..., Project]) -> None:
    project = written(_pool(nodes={"min": 3, "max": 1}))
    lines = project.stack_file("s").read_text().splitlines()
    expected = next(number for number, line in enumerate(lines, 1) if line.strip().startswith("nodes:"))
    with pytest.raises(ConfigError) as raised:
        from_file(project, "s")
    assert raised.value.where == f"Pulumi.s.yaml:{expected}: node_pools[0].nodes"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "the file is empty"),
        ("# only a comment\n", "the file is empty"),
        ("config: [\n  a: {", "this is no YAML"),
        ("config:\n\t- a\n", "this is no YAML"),
        ("config:\n  a: 1\n  a: 2\n", "the key 'a' is written twice"),
        ("- a\n", "`gpuplatform:platform` is missing"),
        ("config:\n", "`gpuplatform:platform` is missing"),
        ("config:\n  gpuplatform:platform: text\n", "a mapping, not str"),
        ("config:\n  gpuplatform:platform: {secure: v1xyz}\n", "a secret stands"),
        ("config: !!python/object:os.system {}\n", "this is no YAML"),
    ],
)
def test_a_file_that_is_no_stack_is_refused(text: str, expected: str, loaded: Loaded) -> None:
    with pytest.raises(ConfigError) as raised:
        loaded(text)
    assert expected in str(raised.value)


def test_a_file_that_is_no_text_is_refused(written: Callable[..., Project]) -> None:
    project = written()
    project.stack_file("s").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="UTF-8"):
        from_file(project, "s")


def test_a_stack_without_a_file_names_those_that_have_one(written: Callable[..., Project]) -> None:
    with pytest.raises(ConfigError, match="the stacks here are s"):
        from_file(written(), "prod")


def test_a_folder_without_a_project_is_said_to_have_none(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no Pulumi"):
        find_project(tmp_path)


def test_the_engine_s_value_is_read_like_the_file_s(written: Callable[..., Project]) -> None:
    project = written()
    value = yaml.safe_load(project.stack_file("s").read_text())["config"][KEY]
    assert from_engine(json.dumps(value, default=str), secret=False, stack="s") == from_file(project, "s")


@pytest.mark.parametrize(
    ("value", "secret", "expected"),
    [
        (None, False, "is missing"),
        ("{}", True, "a secret stands where a plain value belongs"),
        ("plain", False, "a mapping, not str"),
        ("[]", False, "a mapping, not list"),
    ],
)
def test_a_wrong_value_from_the_engine_is_refused(value: str | None, secret: bool, expected: str) -> None:
    with pytest.raises(ConfigError) as raised:
        from_engine(value, secret=secret, stack="s")
    assert expected in str(raised.value)
    assert "Pulumi.s.yaml" in raised.value.where
