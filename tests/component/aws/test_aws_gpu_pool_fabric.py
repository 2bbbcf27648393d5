"""What a pool with EFA, a reservation or a capacity block is on EKS."""

from __future__ import annotations

import pytest
from aws_pools import BLOCK, GROUP, RESERVATION
from aws_pools import profile as aws_profile
from samples import TODAY

from gpuplatform.aws import EksClusterIds, EksFabricIds, EksGpuPool, EksGpuPoolArgs
from gpuplatform.catalog import load
from gpuplatform.errors import Refusal
from gpuplatform.platform import decide
from gpuplatform.platform.aws import build
from gpuplatform.platform.build import build as build_decision

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
PLACEMENT = "aws:ec2/placementGroup:PlacementGroup"
SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"
RULES = (
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
)
FABRIC = EksFabricIds(vpc_id="vpc-1", security_group_id="sg-cluster")


@pytest.fixture
def pool(run, tags):
    def make(sku="p5.48xlarge", *, zones=("use1-az4",), fabric_ids=FABRIC, **changes):
        args = EksGpuPoolArgs(
            cluster=EksClusterIds(
                cluster_name="vision-prod",
                kubernetes_version="1.35",
                node_role_arn="arn:aws:iam::123456789012:role/nodes",
                subnet_by_zone={"use1-az4": "subnet-4", "use1-az6": "subnet-6"},
                fabric=fabric_ids,
            ),
            profile=aws_profile(sku, **changes),
            nodes_min=0,
            nodes_max=4,
            zones=zones,
            tags=tags,
        )
        return run(lambda: EksGpuPool("pool-train", args))

    return make


def only(recorded, token):
    [found] = recorded.of_type(token)
    return found


def test_eks_1_without_a_reservation_nodes_stand_in_exactly_one_cluster_placement_group(pool):
    recorded = pool()
    group = only(recorded, PLACEMENT)
    assert group.inputs["strategy"] == "cluster"
    assert only(recorded, TEMPLATE).inputs["placement"] == {"groupName": f"{group.name}-id"}


@pytest.mark.parametrize("capacity", [RESERVATION, BLOCK, {"kind": "reservation", "id": GROUP}])
def test_eks_1_reserved_nodes_stand_in_none(pool, capacity):
    recorded = pool(capacity=capacity)
    assert recorded.of_type(PLACEMENT) == ()
    assert "placement" not in only(recorded, TEMPLATE).inputs


@pytest.mark.parametrize("capacity", [RESERVATION, BLOCK])
def test_eks_1_who_deploys_is_warned_of_what_a_reservation_needs(run, platform, capacity):
    pool = {"name": "train", "sku": "p5.48xlarge", "purpose": "training", "nodes": {"min": 0, "max": 4}}
    config = platform(node_pools=({**pool, "zones": ("use1-az4",), "capacity": capacity},))
    decision = decide(config, load(), TODAY)
    messages = run(lambda: build_decision(decision)).messages
    assert [message for message in messages if message.startswith("train: ") and capacity["id"] in message]


def test_eks_1_a_named_group_is_used_and_none_made(pool):
    recorded = pool(capacity=RESERVATION, placement_group="rack7")
    assert recorded.of_type(PLACEMENT) == ()
    assert only(recorded, TEMPLATE).inputs["placement"] == {"groupName": "rack7"}


def test_eks_2_a_capacity_block_has_all_five_properties(pool):
    recorded = pool(capacity=BLOCK)
    group, template = only(recorded, NODE_GROUP).inputs, only(recorded, TEMPLATE).inputs
    assert group["capacityType"] == "CAPACITY_BLOCK"
    assert template["instanceMarketOptions"] == {"marketType": "capacity-block"}
    assert template["capacityReservationSpecification"] == {
        "capacityReservationTarget": {"capacityReservationId": BLOCK["id"]}
    }
    assert template["instanceType"] == "p5.48xlarge"
    assert "instanceTypes" not in group
    assert group["subnetIds"] == ["subnet-4"]


@pytest.mark.parametrize("capacity", [BLOCK, RESERVATION])
def test_eks_2_two_zones_are_refused(pool, capacity):
    with pytest.raises(Refusal, match="use1-az4, use1-az6") as caught:
        pool(capacity=capacity, purpose="batch", zones=("use1-az4", "use1-az6"))
    assert capacity["id"] in caught.value.rule


@pytest.mark.parametrize(
    ("name", "target"),
    [(RESERVATION["id"], "capacityReservationId"), (GROUP, "capacityReservationResourceGroupArn")],
)
def test_a_reservation_is_targeted_and_nothing_is_bought_beside_it(pool, name, target):
    recorded = pool(capacity={"kind": "reservation", "id": name})
    template, group = only(recorded, TEMPLATE).inputs, only(recorded, NODE_GROUP).inputs
    assert template["capacityReservationSpecification"] == {
        "capacityReservationPreference": "capacity-reservations-only",
        "capacityReservationTarget": {target: name},
    }
    assert group["capacityType"] == "ON_DEMAND"
    assert group["instanceTypes"] == ["p5.48xlarge"]
    assert not {"instanceMarketOptions", "instanceType"} & template.keys()


@pytest.mark.parametrize(
    ("sku", "interfaces"), [("p5.48xlarge", 33), ("p6-b300.48xlarge", 17), ("p4d.24xlarge", 5)]
)
def test_net_1_the_template_has_the_interfaces_of_the_profile(pool, sku, interfaces):
    listed = only(pool(sku), TEMPLATE).inputs["networkInterfaces"]
    assert len(listed) == interfaces
    assert {interface["deviceIndex"] for interface in listed} <= {0, 1}
    first = listed[0]
    assert (first["networkCardIndex"], first["deviceIndex"], first["interfaceType"]) == (0, 0, "interface")
    assert {interface["interfaceType"] for interface in listed[1:]} == {"efa-only"}
    # Several interfaces and a public address exclude each other; subnets are the node group's.
    assert not any({"associatePublicIpAddress", "subnetId"} & interface.keys() for interface in listed)


def test_net_3_a_security_group_trusts_itself_in_both_directions(pool):
    recorded = pool()
    group = only(recorded, SECURITY_GROUP)
    for token in RULES:
        rule = only(recorded, token).inputs
        assert rule["ipProtocol"] == "-1"
        assert rule["securityGroupId"] == rule["referencedSecurityGroupId"] == f"{group.name}-id"
        assert not {"cidrIpv4", "fromPort", "toPort"} & rule.keys()
    assert group.inputs["vpcId"] == "vpc-1"


@pytest.mark.parametrize("sku", ["p5.48xlarge", "p6-b300.48xlarge", "g6e.8xlarge"])
def test_net_3_every_interface_has_the_group_and_the_clusters_own(pool, sku):
    recorded = pool(sku)
    own = f"{only(recorded, SECURITY_GROUP).name}-id"
    for interface in only(recorded, TEMPLATE).inputs["networkInterfaces"]:
        assert interface["securityGroups"] == ["sg-cluster", own]


def test_net_3_no_node_is_launched_before_the_rules_exist(pool):
    recorded = pool()
    needed = only(recorded, NODE_GROUP).dependencies
    assert {only(recorded, token).urn for token in RULES} <= set(needed)


def test_sto_5_the_release_of_the_image_is_passed_on_and_else_left_to_eks(pool):
    pinned = only(pool(image_release="1.35.2-20260901"), NODE_GROUP)
    assert pinned.inputs["releaseVersion"] == "1.35.2-20260901"
    assert "releaseVersion" not in only(pool(), NODE_GROUP).inputs


def test_a_pool_without_fabric_leaves_interfaces_and_security_groups_to_eks(pool):
    recorded = pool(fabric="none")
    assert "networkInterfaces" not in only(recorded, TEMPLATE).inputs
    assert recorded.of_type(SECURITY_GROUP) == ()
    assert only(pool(fabric="none", fabric_ids=None), NODE_GROUP).inputs["labels"]


def test_a_pool_with_efa_in_a_cluster_of_unknown_network_is_refused(pool):
    with pytest.raises(Refusal, match="without `fabric`") as caught:
        pool(fabric_ids=None)
    assert "EksFabricIds" in caught.value.way_out


def test_a_pool_of_all_the_networks_zones_is_refused_before_anything_is_registered(run, platform, decision):
    config = platform(
        node_pools=(
            {"name": "train", "sku": "p5.48xlarge", "purpose": "training", "nodes": {"min": 0, "max": 4}},
        )
    )
    registered = []

    def program():
        try:
            build(decision(config))
        except Refusal as refusal:
            registered.append(refusal)

    recorded = run(program)
    assert registered[0].where == "node_pools.train.zones"
    assert recorded.resources == ()


def test_the_clusters_own_security_group_reaches_the_pools(run, platform, decision):
    config = platform()
    recorded = run(lambda: build(decision(config)))
    template = recorded.named_type(TEMPLATE, "pool-train-gpu-pool")
    assert template.inputs["networkInterfaces"][0]["securityGroups"][0] == "sg-cluster"
