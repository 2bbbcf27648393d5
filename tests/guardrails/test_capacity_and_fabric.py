"""How machines are bought and what connects them, read from the raw resources of any program."""

from __future__ import annotations

import pytest

from gpuplatform import catalog
from gpuplatform.catalog import Price
from gpuplatform.guardrails import RawResource, Unknown, footprint_of_resources

MARK = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
GKE_POOL = "gcp:container/nodePool:NodePool"
GCE = "gcp:compute/instance:Instance"
AKS_POOL = "azure-native:containerservice:AgentPool"
AKS_POOL_DATED = "azure-native:containerservice/v20250801:AgentPool"
VM = "azure-native:compute:VirtualMachine"
SCALE_SET = "azure-native:compute:VirtualMachineScaleSet"
ID = "cr-0123456789abcdef0"


def raw(type_, props, *, name="r", **depends):
    urn = f"urn:pulumi:dev::p::{type_}::{name}"
    return RawResource(
        type=type_, name=name, urn=urn, props=props, provider_region="us-east-1", depends=depends
    )


def only_group(*resources):
    (group,) = footprint_of_resources(resources).node_groups
    return group


def eks(template, **node_group):
    """A node group with a launch template of its own."""
    described = raw(TEMPLATE, {"name": "t", "instanceType": "p5.48xlarge", **template}, name="t")
    props = {"launchTemplate": {"name": "t"}, "scalingConfig": {"minSize": 0.0, "maxSize": 4.0}, **node_group}
    return only_group(described, raw(NODE_GROUP, props, name="train", launchTemplate=(described.urn,)))


def target(value):
    return {"capacityReservationSpecification": {"capacityReservationTarget": value}}


@pytest.mark.parametrize(
    ("template", "node_group", "kind"),
    [
        ({}, {}, "on-demand"),
        ({}, {"capacityType": "ON_DEMAND"}, "on-demand"),
        ({}, {"capacityType": "SPOT"}, "spot"),
        (target({"capacityReservationId": ID}), {"capacityType": "ON_DEMAND"}, "reservation"),
        (target({"capacityReservationResourceGroupArn": "arn:aws:x"}), {}, "reservation"),
        (target({"capacityReservationId": MARK}), {}, "reservation"),
        (target(MARK), {}, "reservation"),
        (
            {
                **target({"capacityReservationId": ID}),
                "instanceMarketOptions": {"marketType": "capacity-block"},
            },
            {"capacityType": "CAPACITY_BLOCK"},
            "capacity-block",
        ),
        ({"capacityReservationSpecification": {"capacityReservationPreference": "open"}}, {}, "on-demand"),
    ],
)
def test_how_an_eks_node_group_is_bought(template, node_group, kind):
    assert eks(template, **node_group).capacity == kind


@pytest.mark.parametrize(
    ("template", "attached"),
    [
        ({}, False),
        ({"networkInterfaces": [{"interfaceType": "interface"}]}, False),
        ({"networkInterfaces": [{"interfaceType": "interface"}, {"interfaceType": "efa-only"}]}, True),
        ({"networkInterfaces": [{"interfaceType": "efa"}]}, True),
    ],
)
def test_whether_efa_is_attached_to_an_eks_node_group(template, attached):
    assert eks(template).fabric is attached


def test_interfaces_that_only_the_update_will_tell_are_unknown():
    assert isinstance(eks({"networkInterfaces": MARK}).fabric, Unknown)
    assert isinstance(eks({"networkInterfaces": [{"interfaceType": MARK}]}).fabric, Unknown)
    out_of_sight = {"launchTemplate": {"id": "lt-1"}, "scalingConfig": {"maxSize": 1.0}}
    assert isinstance(only_group(raw(NODE_GROUP, out_of_sight)).fabric, Unknown)


def gke(config=None, **pool):
    props = {
        "location": "us-central1",
        "nodeConfig": {"machineType": "a3-megagpu-8g", **(config or {})},
        "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 4},
        **pool,
    }
    return only_group(raw(GKE_POOL, props, name="train"))


@pytest.mark.parametrize(
    ("config", "pool", "kind"),
    [
        ({}, {}, "on-demand"),
        ({"spot": True}, {}, "spot"),
        ({"flexStart": True}, {}, "flex-start"),
        ({"flexStart": True}, {"queuedProvisioning": {"enabled": True}}, "queued"),
        ({"reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION"}}, {}, "reservation"),
        ({"reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}}, {}, "on-demand"),
    ],
)
def test_how_a_gke_pool_is_bought(config, pool, kind):
    assert gke(config, **pool).capacity == kind


@pytest.mark.parametrize(
    ("network", "attached"),
    [
        ({}, False),
        ({"networkConfig": {"enablePrivateNodes": True}}, False),
        ({"networkConfig": {"additionalNodeNetworkConfigs": []}}, False),
        ({"networkConfig": {"additionalNodeNetworkConfigs": [{"network": "a"}]}}, True),
        ({"networkConfig": {"acceleratorNetworkProfile": "auto"}}, True),
    ],
)
def test_whether_further_networks_reach_a_gke_pool(network, attached):
    assert gke(**network).fabric is attached


@pytest.mark.parametrize(
    "network",
    [MARK, {"additionalNodeNetworkConfigs": MARK}, {"acceleratorNetworkProfile": MARK}],
)
def test_networks_that_only_the_update_will_tell_are_unknown(network):
    assert isinstance(gke(networkConfig=network).fabric, Unknown)


@pytest.mark.parametrize(
    ("props", "kind"),
    [
        ({}, "on-demand"),
        ({"scheduling": {"provisioningModel": "SPOT"}}, "spot"),
        ({"scheduling": {"preemptible": True}}, "spot"),
        ({"scheduling": {"provisioningModel": "FLEX_START"}}, "flex-start"),
        ({"scheduling": {"provisioningModel": "RESERVATION_BOUND"}}, "reservation"),
        ({"reservationAffinity": {"type": "SPECIFIC_RESERVATION"}}, "reservation"),
        ({"reservationAffinity": {"type": "ANY_RESERVATION"}}, "on-demand"),
        ({"scheduling": {"provisioningModel": MARK}}, "on-demand"),
    ],
)
def test_how_a_machine_of_compute_engine_is_bought(props, kind):
    props = {"machineType": "a3-highgpu-8g", "zone": "us-central1-a", **props}

    assert only_group(raw(GCE, props)).capacity == kind


@pytest.mark.parametrize("type_", [AKS_POOL, AKS_POOL_DATED])
@pytest.mark.parametrize(
    ("props", "kind"),
    [
        ({}, "on-demand"),
        ({"scaleSetPriority": "Spot"}, "spot"),
        ({"capacityReservationGroupID": "/subscriptions/x"}, "reservation"),
        ({"capacityReservationGroupID": MARK}, "reservation"),
        ({"scaleSetPriority": "Regular", "capacityReservationGroupID": ""}, "on-demand"),
    ],
)
def test_how_an_agent_pool_is_bought(type_, props, kind):
    group = only_group(raw(type_, {"vmSize": "Standard_ND96isr_H100_v5", "count": 1.0, **props}))

    assert group.capacity == kind
    assert group.fabric is None  # InfiniBand is part of the machine: nothing attaches it


@pytest.mark.parametrize(
    ("props", "kind"),
    [
        ({}, "on-demand"),
        ({"priority": "Low"}, "spot"),
        ({"capacityReservation": {"capacityReservationGroup": {"id": "/subscriptions/x"}}}, "reservation"),
    ],
)
def test_how_a_virtual_machine_or_a_scale_set_is_bought(props, kind):
    size = {"hardwareProfile": {"vmSize": "Standard_NC40ads_H100_v5"}, "location": "eastus"}
    assert only_group(raw(VM, {**size, **props})).capacity == kind

    sku = {"name": "Standard_NC40ads_H100_v5", "capacity": 2.0}
    scale_set = {"sku": sku, "location": "eastus", "virtualMachineProfile": props}
    assert only_group(raw(SCALE_SET, scale_set)).capacity == kind


@pytest.mark.parametrize(
    ("cloud", "machine", "region"),
    [
        ("aws", "p5.48xlarge", "us-east-1"),
        ("azure", "Standard_ND96isr_H100_v5", "eastus"),
        ("gcp", "a3-highgpu-8g", "us-central1"),
    ],
)
def test_every_kind_of_capacity_has_a_price_or_a_ceiling_and_says_which(cloud, machine, region):
    known = catalog.load()
    on_demand = known.price(cloud, machine, region)
    assert isinstance(on_demand, Price)

    for kind in ("spot", "reservation", "capacity-block", "flex-start", "queued"):
        price = known.price(cloud, machine, region, kind)
        assert isinstance(price, Price), kind
        assert price.usd_per_hour > 0
        if price.usd_per_hour == on_demand.usd_per_hour:
            # Reserved machines are billed at the on-demand price, whether they run or not.
            assert price.basis == ("on-demand" if kind == "reservation" else "on-demand as ceiling"), kind
