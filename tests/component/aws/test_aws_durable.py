"""What holds for an environment with storage, teams and a budget as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuplatform.platform.aws import build
from gpuplatform.sandbox.sdk_types import check, output_names
from gpuplatform.tags import KEYS

URNS = Path(__file__).parent / "urns_durable.txt"
TOKENS = {
    "storage-data": "gpuplatform:index:AwsObjectStore",
    "storage-scratch": "gpuplatform:index:AwsSharedFilesystem",
    "identity-perception": "gpuplatform:index:AwsWorkloadIdentity",
    "budget": "gpuplatform:index:AwsBudget",
}
DURABLE = {
    "storage": {
        "data": {"tier": "object", "cold_after_days": 30},
        "scratch": {
            "tier": "shared-filesystem",
            "capacity_gib": 2400,
            "throughput": 250,
            "source": "data",
            "zone": "use1-az4",
        },
    },
    "teams": ({"name": "perception", "storage": ("data", "scratch")},),
    "budget": {"monthly_usd": 5_000_000, "contacts": ("ml@example.com",)},
}


@pytest.fixture
def recorded(run, platform, decision):
    config = platform(**DURABLE)
    return run(lambda: build(decision(config)))


def durable(recorded):
    return [r for r in recorded.resources if any(f"{token}$" in r.urn for token in TOKENS.values())]


def test_type_tokens_of_components_never_change(recorded):
    found = {r.name: r.type for r in recorded.resources if not r.custom}
    assert TOKENS.items() <= found.items()


def test_urns_never_change_without_an_alias(recorded):
    urns = sorted(resource.urn for resource in durable(recorded))
    assert "\n".join(urns) + "\n" == URNS.read_text(), (
        "a changed URN replaces what exists: give the resource an alias, then write the new list"
    )


def test_what_is_kept_stands_on_nothing_of_the_cluster(recorded):
    """`pulumi destroy --exclude-protected` keeps all that a protected resource depends on."""
    by_urn = {r.urn: r for r in recorded.resources}
    seen, waiting = set(), [r.urn for r in recorded.resources if r.protect and "storage-" in r.name]
    assert len(waiting) > 15
    while waiting:
        urn = waiting.pop()
        if urn in seen or urn not in by_urn:
            continue
        seen.add(urn)
        waiting += [*by_urn[urn].dependencies, by_urn[urn].parent]
    kept = {by_urn[urn].type for urn in seen}
    assert not {token for token in kept if "Eks" in token or token.startswith(("aws:eks/", "aws:iam/"))}
    assert "aws:ec2/natGateway:NatGateway" not in kept


def test_everything_that_holds_data_is_protected_and_nothing_of_who_uses_it(recorded):
    protected = {r.name for r in durable(recorded) if r.protect}
    assert protected == {r.name for r in durable(recorded) if r.name.startswith("storage-")}


def test_the_file_system_lets_the_networks_own_addresses_in(recorded):
    rules = recorded.of_type("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
    blocks = {r.inputs["cidrIpv4"] for r in rules if r.name.startswith("storage-scratch-network")}
    assert blocks == {"10.0.0.0/16"}


def test_everything_taggable_is_tagged(recorded):
    taggable = [r for r in durable(recorded) if "tags" in output_names(r.type)]
    wanted = set(KEYS) - {"experiment"}
    assert len(taggable) > 10
    assert not [r.name for r in taggable if not wanted <= r.inputs.get("tags", {}).keys()]


def test_every_input_has_a_name_and_type_that_the_sdk_knows(recorded):
    assert not {r.name: found for r in durable(recorded) if (found := check(r.type, r.inputs))}


def test_the_cluster_has_the_drivers_of_its_tiers(recorded):
    addons = {r.inputs["addonName"] for r in recorded.of_type("aws:eks/addon:Addon")}
    assert {"aws-mountpoint-s3-csi-driver", "aws-fsx-csi-driver"} <= addons


def test_a_preview_needs_no_computed_value(platform, decision, recorded):
    from gpuplatform.plan.recorder import record

    preview = record(lambda: build(decision(platform(**DURABLE))))
    assert {r.urn for r in preview.resources} == {r.urn for r in recorded.resources}
