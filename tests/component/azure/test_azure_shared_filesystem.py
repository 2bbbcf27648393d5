"""Shared file systems on Azure: ports, subnets, endpoints, and what a teardown leaves."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Network
from typing import Any

import pytest
from azure_durable_samples import COMMON, files_plan, lustre_plan, make_filesystem, make_network
from azure_samples import SUBSCRIPTION, network_args, network_ids

from gpuplatform.azure import AzureNetwork, AzureSharedFilesystem, AzureSharedFilesystemArgs
from gpuplatform.errors import Refusal
from gpuplatform.plan.recorder import Recording, Registered, record
from gpuplatform.storage import SharedFilesystemPlan

Update = Callable[[Callable[[], Any]], Recording]


def build(update: Update, plan: SharedFilesystemPlan) -> Recording:
    return update(lambda: make_filesystem(plan, make_network()))


def reached(resource: Registered, recording: Recording) -> set[str]:
    by_urn = {r.urn: r for r in recording.resources}
    seen: set[str] = set()
    waiting = [resource.urn]
    while waiting:
        urn = waiting.pop()
        if urn not in seen:
            seen.add(urn)
            waiting += by_urn[urn].dependencies if urn in by_urn else ()
    return {by_urn[urn].name for urn in seen if urn in by_urn}


def test_sto_1_lustre_s_ports_are_open_from_the_whole_network_both_ways(update: Update) -> None:
    rules = build(update, lustre_plan()).named("network-lustre-security-group").inputs["securityRules"]
    lustre = {rule["direction"]: rule for rule in rules if rule["protocol"] == "Tcp"}
    assert set(lustre) == {"Inbound", "Outbound"}
    for rule in lustre.values():
        assert rule["destinationPortRanges"] == ["988", "1018-1023"]
        assert (rule["sourceAddressPrefix"], rule["destinationAddressPrefix"]) == (
            "10.0.0.0/16",
            "10.0.0.0/16",
        )
        assert rule["access"] == "Allow"
    (azure,) = [rule for rule in rules if rule["protocol"] != "Tcp"]
    assert (azure["direction"], azure["destinationAddressPrefix"]) == ("Outbound", "AzureCloud")
    assert len({(rule["direction"], rule["priority"]) for rule in rules}) == len(rules)


def test_sto_1_the_file_system_waits_for_the_rules_and_stands_in_the_pool_s_zone(update: Update) -> None:
    recording = build(update, lustre_plan(zone="2"))
    filesystem = recording.named("storage-scratch-lustre")
    assert "network-lustre-security-group" in reached(filesystem, recording)
    assert filesystem.inputs["zones"] == ["2"]
    assert filesystem.inputs["filesystemSubnet"].endswith("/lustre-scratch")


def test_a_kept_file_system_keeps_its_subnet_and_network_but_neither_gateway_nor_nodes(
    update: Update,
) -> None:
    recording = build(update, lustre_plan())
    stands_on = reached(recording.named("storage-scratch-lustre"), recording)
    assert {"network-vnet", "network-group", "network-lustre-scratch"} <= stands_on
    assert not {"network-nat", "network-nat-address", "network-nodes", "network-endpoints"} & stands_on


def test_size_and_throughput_are_bought_as_planned(update: Update) -> None:
    filesystem = build(update, lustre_plan(capacity_gib=131_072)).named("storage-scratch-lustre").inputs
    assert filesystem["storageCapacityTiB"] == 128
    assert filesystem["sku"] == {"name": "AMLFS-Durable-Premium-250"}
    assert filesystem["maintenanceWindow"]["timeOfDayUTC"]


def test_lustre_is_mounted_by_its_address(update: Update) -> None:
    recording = build(update, lustre_plan())
    (outputs,) = [o for urn, o in recording.outputs.items() if urn.endswith("storage-scratch")]
    assert outputs["address"] == "10.0.128.4@tcp:/lustrefs"


def test_an_nfs_share_has_no_key_and_no_public_address(update: Update) -> None:
    account = build(update, files_plan()).named("storage-home-account").inputs
    assert account["allowSharedKeyAccess"] is False
    assert account["publicNetworkAccess"] == "Disabled"
    assert account["networkRuleSet"]["defaultAction"] == "Deny"
    assert account["kind"] == "FileStorage"


def test_an_nfs_share_s_data_stands_on_nothing_of_the_network(update: Update) -> None:
    recording = build(update, files_plan())
    for name in ("storage-home-account", "storage-home-share"):
        assert not {r for r in reached(recording.named(name), recording) if r.startswith("network")}
    endpoint = recording.named("storage-home-endpoint")
    assert not endpoint.protect  # made again by the next `up`
    assert endpoint.inputs["subnet"]["id"].endswith("/endpoints")


def test_a_mount_waits_for_the_endpoint_its_name_and_the_zone() -> None:
    made: list[AzureSharedFilesystem] = []
    record(lambda: made.append(make_filesystem(files_plan(), make_network())))
    names = {resource._name for resource in made[0].handle.ready}
    assert names == {"storage-home-endpoint", "storage-home-endpoint-name", "network-file-zone-link"}
    volume = made[0].handle.volume
    assert (volume.driver, volume.attributes["protocol"]) == ("file.csi.azure.com", "nfs")


@pytest.mark.parametrize("plan", [lustre_plan(), files_plan()])
def test_what_holds_data_is_protected_where_kept(update: Update, plan: SharedFilesystemPlan) -> None:
    recording = build(update, plan)
    protected = {resource.name for resource in recording.resources if resource.protect}
    held = {
        "azure-managed-lustre": {"storage-scratch-group", "storage-scratch-lustre"},
        "azure-files-nfs": {
            "storage-home-group",
            "storage-home-account",
            "storage-home-soft-delete",
            "storage-home-share",
        },
    }
    assert protected - {"network-group"} == held[plan.service]


@pytest.mark.parametrize("plan", [lustre_plan(keep=False), files_plan(keep=False)])
def test_what_goes_is_not_protected(update: Update, plan: SharedFilesystemPlan) -> None:
    protected = {resource.name for resource in build(update, plan).resources if resource.protect}
    assert protected <= {"network-group"}


def test_lustre_subnets_and_endpoints_lie_in_the_other_half_and_a_network_without_them_has_none(
    update: Update,
) -> None:
    recording = update(make_network)
    half = IPv4Network("10.0.128.0/17")
    for name in ("network-lustre-scratch", "network-endpoints"):
        assert IPv4Network(recording.named(name).inputs["addressPrefix"]).subnet_of(half)
    plain = update(lambda: AzureNetwork("network", network_args()))
    assert {r.name for r in plain.of_type("azure-native:network:Subnet")} == {"network-nodes"}
    assert plain.of_type("azure-native:privatedns:PrivateZone") == ()
    assert plain.named("network-nodes").inputs == recording.named("network-nodes").inputs


def test_subnets_are_made_one_after_the_other_and_the_nodes_last(update: Update) -> None:
    recording = update(
        lambda: AzureNetwork("network", network_args(lustre={"one": 4096, "two": 4096}, files=True))
    )
    one, two = recording.named("network-lustre-one"), recording.named("network-lustre-two")
    assert one.urn in two.dependencies
    assert two.urn in recording.named("network-endpoints").dependencies
    assert recording.named("network-endpoints").urn in recording.named("network-nodes").dependencies


@pytest.mark.parametrize(
    ("plan", "where", "words"),
    [
        (lustre_plan(source="data"), "storage.scratch.source", "shared keys"),
        (lustre_plan(tier="other"), "storage.other", "subnet of its own"),
        (files_plan(), "storage.home", "private endpoints"),
        (lustre_plan(service="fsx-lustre"), "storage.scratch", ""),
    ],
)
def test_what_azure_cannot_build_is_refused_by_name(
    plan: SharedFilesystemPlan, where: str, words: str
) -> None:
    with pytest.raises(Refusal) as refused:
        AzureSharedFilesystemArgs(plan=plan, network=network_ids(), subscription=SUBSCRIPTION, **COMMON)
    assert refused.value.where == where
    assert words in refused.value.rule
    assert refused.value.way_out
