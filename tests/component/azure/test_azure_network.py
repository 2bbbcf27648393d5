"""The virtual network: one way out, no way in, room for every node."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Network
from typing import Any

import pytest
from azure_samples import network_args

from gpuplatform.azure import AzureNetwork
from gpuplatform.errors import Refusal
from gpuplatform.plan.recorder import Recording, record

Update = Callable[[Callable[[], Any]], Recording]


def build(update: Update, **changes: Any) -> Recording:
    return update(lambda: AzureNetwork("network", network_args(**changes)))


def test_nodes_get_half_of_the_network(update: Update):
    subnet = build(update).named("network-nodes").inputs
    assert IPv4Network(subnet["addressPrefix"]) == IPv4Network("10.0.0.0/17")


def test_the_subnet_is_never_written_inline_where_an_update_would_wipe_it(update: Update):
    recording = build(update)
    assert "subnets" not in recording.named("network-vnet").inputs
    assert len(recording.of_type("azure-native:network:Subnet")) == 1


def test_the_only_way_out_is_the_nat_gateway(update: Update):
    recording = build(update)
    subnet = recording.named("network-nodes").inputs
    assert subnet["natGateway"]["id"].endswith("/vision-prod-nat")
    assert subnet["defaultOutboundAccess"] is False
    addresses = recording.named("network-nat").inputs["publicIpAddresses"]
    assert [address["id"].rsplit("/", 1)[-1] for address in addresses] == ["vision-prod-nat-ip"]
    (outputs,) = recording.outputs.values()
    assert outputs["egress_cidrs"] == ["20.1.2.3/32"]


def test_the_security_group_lets_pods_talk_and_opens_nothing_else(update: Update):
    rules = build(update).named("network-security-group").inputs["securityRules"]
    assert {rule["direction"] for rule in rules} == {"Inbound", "Outbound"}
    for rule in rules:
        assert rule["sourceAddressPrefixes"] == ["10.0.0.0/17", "100.64.0.0/10"]
        assert rule["destinationAddressPrefix"] == "100.64.0.0/10"


def test_everything_is_in_the_region_that_was_asked_for(update: Update):
    regions = {
        resource.name: resource.inputs["location"]
        for resource in build(update, region="westeurope").resources
        if resource.custom and resource.type != "azure-native:network:Subnet"
    }
    assert set(regions.values()) == {"westeurope"}
    assert len(regions) == 5


def test_a_network_too_small_for_the_nodes_is_refused_with_the_size_that_would_do():
    with pytest.raises(Refusal, match=r"the pools ask for up to 300.*a /22 would do"):
        record(lambda: AzureNetwork("network", network_args(cidr=IPv4Network("10.0.0.0/24"), nodes_max=300)))


def test_a_long_name_is_cut_to_each_limit_with_a_hash(update: Update):
    recording = build(update, name="a" * 62)
    name = recording.named("network-vnet").inputs["virtualNetworkName"]
    assert len(name) == 64
    assert name != recording.named("network-nat").inputs["natGatewayName"]


def test_the_resource_group_is_protected_only_where_asked(update: Update):
    assert build(update, protect=True).named("network-group").protect
    assert not build(update, protect=False).named("network-group").protect
