"""The VPC: what it holds, and that nothing in it is public."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest

from gpuplatform.config.layout import gcp_layout
from gpuplatform.errors import Refusal

SUBNET = "gcp:compute/subnetwork:Subnetwork"
NAT = "gcp:compute/routerNat:RouterNat"


def test_the_subnet_and_its_ranges_are_the_layouts(environment):
    (subnet,) = environment().of_type(SUBNET)
    layout = gcp_layout(IPv4Network("10.0.0.0/16"), 20)

    assert subnet.inputs["ipCidrRange"] == str(layout.nodes)
    assert {r["rangeName"]: r["ipCidrRange"] for r in subnet.inputs["secondaryIpRanges"]} == {
        "pods": str(layout.pods),
        "services": str(layout.services),
    }


def test_there_are_no_subnets_but_ours(environment):
    recording = environment()

    assert recording.named("network-vpc").inputs["autoCreateSubnetworks"] is False
    assert len(recording.of_type(SUBNET)) == 1


def test_nodes_reach_googles_apis_without_public_addresses(environment):
    (subnet,) = environment().of_type(SUBNET)

    assert subnet.inputs["privateIpGoogleAccess"] is True


def test_nat_serves_this_subnet_and_no_other(environment, cloud):
    (nat,) = environment(computed=cloud).of_type(NAT)

    assert nat.inputs["sourceSubnetworkIpRangesToNat"] == "LIST_OF_SUBNETWORKS"
    assert nat.inputs["subnetworks"] == [
        {"name": "network-nodes-id", "sourceIpRangesToNats": ["ALL_IP_RANGES"]}
    ]


def test_dynamic_ports_exclude_endpoint_independent_mapping(environment):
    """The API refuses both together."""
    (nat,) = environment().of_type(NAT)

    assert nat.inputs["enableDynamicPortAllocation"] is True
    assert nat.inputs["enableEndpointIndependentMapping"] is False


def test_the_cluster_comes_after_nat_so_that_its_nodes_can_pull_images(environment):
    recording = environment()
    (nat,) = recording.of_type(NAT)

    assert nat.urn in recording.named("cluster-gke").dependencies


def test_a_network_too_small_for_its_nodes_is_refused_before_anything_is_registered(environment):
    with pytest.raises(Refusal) as refused:
        environment(network={"cidr": IPv4Network("10.0.0.0/22"), "nodes_max": 20})

    assert refused.value.where == "network.cidr"
    assert "10.0.0.0/22" in str(refused.value)
    assert "way out" in str(refused.value)


def test_physical_names_are_the_environments(environment):
    names = {r.inputs["name"] for r in environment().resources if r.type.startswith("gcp:compute/")}

    assert names == {
        "vision-prod",
        "vision-prod-nodes",
        "vision-prod-router",
        "vision-prod-nat",
        "vision-prod-webhooks",
    }


def test_the_control_plane_reaches_webhooks_on_the_nodes_and_nobody_else_does(environment):
    """GKE opens 443 and 10250 only; Kueue's webhooks and its visibility API listen elsewhere."""
    recording = environment()
    rule = recording.named("network-webhooks").inputs

    assert rule["allows"] == [{"protocol": "tcp", "ports": ["8082", "9443"]}]
    block = recording.named("cluster-gke").inputs["privateClusterConfig"]["masterIpv4CidrBlock"]
    assert rule["sourceRanges"] == [block]
    assert recording.named("network-webhooks").urn in recording.named("cluster-gke").dependencies
