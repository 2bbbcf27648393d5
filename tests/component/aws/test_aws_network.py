from __future__ import annotations

from ipaddress import IPv4Network

import pytest

from gpuplatform.aws import AwsNetwork, AwsNetworkArgs
from gpuplatform.aws.zones import control_plane_zones, placement
from gpuplatform.errors import Refusal


@pytest.fixture
def network(run, tags, cidr):
    def make(**changed):
        values = {
            "name": "vision-prod",
            "cidr": cidr,
            "zones": ("use1-az4", "use1-az6"),
            "nodes_max": 20,
            "region": "us-east-1",
            "tags": tags,
        }
        args = AwsNetworkArgs(**(values | changed))
        return run(lambda: AwsNetwork("network", args))

    return make


def test_each_zone_has_a_private_and_a_smaller_public_subnet_that_do_not_overlap(network):
    recorded = network()
    blocks = {r.name: IPv4Network(r.inputs["cidrBlock"]) for r in recorded.of_type("aws:ec2/subnet:Subnet")}
    assert set(blocks) == {f"network-{kind}-use1-az{n}" for kind in ("private", "public") for n in (4, 6)}
    assert blocks["network-private-use1-az4"].prefixlen < blocks["network-public-use1-az4"].prefixlen
    listed = list(blocks.values())
    assert not any(a.overlaps(b) for i, a in enumerate(listed) for b in listed[i + 1 :])


def test_no_subnet_gives_out_public_addresses(network):
    subnets = network().of_type("aws:ec2/subnet:Subnet")
    assert subnets
    assert not [r for r in subnets if r.inputs.get("mapPublicIpOnLaunch")]


def test_a_zone_id_and_a_zone_name_go_into_their_own_property():
    assert placement("use1-az4") == {"availabilityZoneId": "use1-az4"}
    assert placement("us-east-1a") == {"availabilityZone": "us-east-1a"}
    assert placement("apne1-az1") == {"availabilityZoneId": "apne1-az1"}


def test_load_balancers_find_their_subnets_by_role(network):
    recorded = network()
    private = recorded.named_type("aws:ec2/subnet:Subnet", "network-private-use1-az4").inputs["tags"]
    public = recorded.named_type("aws:ec2/subnet:Subnet", "network-public-use1-az4").inputs["tags"]
    assert private["kubernetes.io/role/internal-elb"] == "1"
    assert public["kubernetes.io/role/elb"] == "1"
    assert "kubernetes.io/role/elb" not in private


def test_a_single_nat_gateway_serves_every_zone(network):
    recorded = network(nat="single")
    routes = [r for r in recorded.of_type("aws:ec2/route:Route") if "natGatewayId" in r.inputs]
    assert len(routes) == 2
    assert {r.inputs["natGatewayId"] for r in routes} == {"network-nat-use1-az4-id"}


def test_with_one_nat_gateway_a_zone_no_zone_leaves_through_another(network):
    recorded = network(nat="per-zone")
    routes = {
        r.name: r.inputs["natGatewayId"]
        for r in recorded.of_type("aws:ec2/route:Route")
        if "private" in r.name
    }
    assert routes == {
        "network-private-use1-az4-out": "network-nat-use1-az4-id",
        "network-private-use1-az6-out": "network-nat-use1-az6-id",
    }


def test_a_nat_gateway_waits_for_the_internet(network):
    recorded = network()
    [gateway] = recorded.of_type("aws:ec2/natGateway:NatGateway")
    assert recorded.named("network-public-out").urn in gateway.dependencies


def test_traffic_to_s3_of_every_private_subnet_stays_off_the_nat_gateway(network):
    recorded = network()
    endpoint = recorded.named("network-s3").inputs
    assert endpoint["vpcEndpointType"] == "Gateway"
    assert endpoint["serviceName"] == "com.amazonaws.us-east-1.s3"
    assert sorted(endpoint["routeTableIds"]) == [
        "network-private-use1-az4-id",
        "network-private-use1-az6-id",
    ]


def test_the_default_security_group_has_no_rule(network):
    group = network().named("network-default").inputs
    assert "ingress" not in group
    assert "egress" not in group


def test_a_cidr_too_small_for_the_nodes_is_refused_before_anything_is_registered(network):
    with pytest.raises(Refusal, match=r"asks? for up to 20; a /\d+ would do") as caught:
        network(cidr=IPv4Network("10.0.0.0/22"))
    assert caught.value.where == "network.cidr"


def test_the_control_plane_stays_out_of_zones_that_take_none():
    assert control_plane_zones(("use1-az4", "use1-az3", "use1-az6")) == ("use1-az4", "use1-az6")


def test_one_zone_is_too_few_for_a_control_plane():
    with pytest.raises(Refusal, match="1 zone"):
        control_plane_zones(("use1-az4",))
    with pytest.raises(Refusal, match="use1-az3 takes no control plane"):
        control_plane_zones(("use1-az3", "use1-az4"))
