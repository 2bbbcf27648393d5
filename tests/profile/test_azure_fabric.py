"""InfiniBand on AKS: which machines have it, and what a pool on them needs."""

from __future__ import annotations

import pytest

from gpuplatform import catalog
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile import InfiniBand, NoFabric, OperatorDriver, azure, node_profile

CATALOG = catalog.load()
H100 = "Standard_ND96isr_H100_v5"
GROUP = (
    "/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/near/providers"
    "/Microsoft.Compute/proximityPlacementGroups/close"
)
ADAPTERS = {
    "Standard_ND96asr_v4": 8,
    "Standard_ND96amsr_A100_v4": 8,
    "Standard_ND96isr_H100_v5": 8,
    "Standard_ND96isr_H200_v5": 8,
    "Standard_ND128isr_NDR_GB200_v6": 4,
    "Standard_ND128isr_GB300_v6": 4,
}
NVIDIA = [sku.name for sku in CATALOG.skus("azure") if sku.gpu_vendor == "nvidia" and sku.k8s_supported]


def pool(sku, **changes):
    asked = {
        "name": "train",
        "sku": sku,
        "purpose": "training",
        "nodes": {"min": 0, "max": 4},
        "zones": ("1",),
        **changes,
    }
    return NodePool.model_validate(asked)


def profile(sku, **changes):
    return node_profile(pool(sku, **changes), CATALOG.sku("azure", sku))


def refusal(*args, **kwargs):
    with pytest.raises(Refusal) as caught:
        profile(*args, **kwargs)
    return caught.value


@pytest.mark.parametrize("sku", sorted(ADAPTERS))
def test_net_6_infiniband_is_owned_by_the_operator_with_rdma_and_all_adapters_are_one_pod_s(sku):
    made = profile(sku, fabric="required")
    assert isinstance(made.fabric, InfiniBand)
    assert made.driver == OperatorDriver(host="aks-ubuntu", rdma=True)
    assert made.advertised["rdma/ib"] == ADAPTERS[sku]
    assert made.pod.resources["rdma/ib"] == str(ADAPTERS[sku])
    assert made.pod.resources["nvidia.com/gpu"] == str(made.gpus)
    assert made.pod.capabilities == ("IPC_LOCK",)
    assert made.pod.env["NCCL_IB_DISABLE"] == "0"
    assert "sriov" in made.device_plugins


@pytest.mark.parametrize("sku", sorted(set(NVIDIA) - set(ADAPTERS)))
def test_net_6_no_other_machine_has_infiniband_and_requiring_it_is_an_error(sku):
    made = profile(sku, purpose="inference")
    assert isinstance(made.fabric, NoFabric)
    assert "rdma/ib" not in made.advertised
    assert made.pod.capabilities == ()
    error = refusal(sku, fabric="required")
    assert error.where == "node_pools.train.fabric"
    assert made.fabric.reason in error.what


def test_net_6_every_rdma_machine_of_the_catalogue_is_answered_for():
    for sku in CATALOG.skus("azure"):
        if sku.rdma and sku.gpu_vendor == "nvidia" and sku.name not in ADAPTERS:
            assert "before ConnectX-6" in profile(sku.name, purpose="inference").fabric.reason


def test_net_6_a_driver_of_aks_with_infiniband_is_refused_and_allowed_without():
    error = refusal(H100, driver="cloud")
    assert error.where == "node_pools.train.driver"
    assert "nvidia-peermem" in error.rule
    assert "driver: operator" in error.way_out
    assert "fabric: none" in error.way_out
    assert profile(H100, driver="cloud", fabric="none").fabric == NoFabric(reason="the pool asks for none")


def test_net_6_the_feature_that_keeps_a_pool_on_one_network_is_named_before_anything_is_made():
    (feature,) = profile(H100).preconditions
    assert "AKSInfinibandSupport is registered" in feature
    assert "az feature register --namespace Microsoft.ContainerService" in feature
    assert "az provider register" in feature


@pytest.mark.parametrize("sku", ["Standard_ND128isr_NDR_GB200_v6", "Standard_ND128isr_GB300_v6"])
def test_grace_blackwell_needs_the_feature_unregistered_and_ubuntu_24_04(sku):
    made = profile(sku)
    assert "AKSInfinibandSupport is not registered" in made.preconditions[0]
    assert "az feature unregister" in made.preconditions[0]
    assert made.image == "Ubuntu2404"
    assert made.arch == "arm64"


def test_grace_blackwell_nodes_share_nvlink_by_a_compute_domain():
    made = profile("Standard_ND128isr_GB300_v6")
    assert made.fabric.nvlink_domain
    assert "dra" in made.device_plugins
    assert [claim["resourceClaimTemplateName"] for claim in made.pod.claims] == ["train-channel"]
    assert [thing["kind"] for thing in made.pod.objects] == ["ComputeDomain"]
    assert made.flavor.topology_levels == ("nvidia.com/gpu.clique", "kubernetes.io/hostname")
    assert not profile(H100).fabric.nvlink_domain
    assert profile(H100).pod.claims == ()


def test_pools_that_need_the_feature_both_ways_are_refused_together_and_taken_apart():
    hopper, blackwell = profile(H100), profile("Standard_ND128isr_GB300_v6", name="rack")
    tcp = profile("Standard_ND128isr_GB300_v6", name="alone", fabric="none")
    azure.check_feature([hopper, hopper, tcp])
    azure.check_feature([blackwell])
    with pytest.raises(Refusal) as caught:
        azure.check_feature([blackwell, hopper])
    assert "train" in caught.value.what
    assert "rack" in caught.value.what
    assert "two subscriptions" in caught.value.way_out


def test_more_machines_than_a_placement_group_holds_are_a_precondition_of_infiniband():
    assert len(profile(H100, nodes={"max": 100}).preconditions) == 1
    assert "limit of 100 machines" in profile(H100, nodes={"max": 101}).preconditions[1]


@pytest.mark.parametrize("asked", [{"purpose": "training"}, {"purpose": "batch", "fabric": "required"}])
def test_nodes_that_work_together_over_infiniband_stand_in_one_zone(asked):
    error = refusal(H100, zones=("1", "2"), **asked)
    assert error.where == "node_pools.train.zones"
    assert 'zones: ["1"]' in error.way_out
    assert profile(H100, zones=("2",), **asked).fabric.adapters == 8


def test_nodes_that_each_serve_alone_may_stand_in_several_zones():
    assert profile(H100, zones=("1", "2"), purpose="inference").fabric.adapters == 8
    assert profile(H100, zones=("1", "2"), nodes={"max": 1}).fabric.adapters == 8


def test_a_proximity_group_is_made_where_nodes_train_over_ethernet_in_one_zone():
    a100 = "Standard_NC96ads_A100_v4"
    assert profile(a100, fabric="none").placement.kind == "proximity"
    for other in (
        {"zones": ("1", "2")},
        {"zones": None},
        {"purpose": "inference"},
        {"nodes": {"max": 1}},
        {"capacity": {"kind": "spot"}},
    ):
        assert profile(a100, **{"fabric": "none", **other}).placement.kind == "none"


def test_eks_1_reserved_machines_get_no_placement_group_and_may_not_name_one():
    reserved = {
        "kind": "reservation",
        "id": GROUP.replace("proximityPlacementGroups", "capacityReservationGroups"),
    }
    a100 = "Standard_NC96ads_A100_v4"
    assert profile(a100, fabric="none", capacity=reserved).placement.kind == "none"
    error = refusal(a100, fabric="none", capacity=reserved, placement_group=GROUP)
    assert error.where == "node_pools.train.placement_group"
    assert "leave placement_group out" in error.way_out


def test_infiniband_gets_no_proximity_group_by_itself_and_takes_the_user_s():
    assert profile(H100).placement.kind == "none"
    made = profile(H100, placement_group=GROUP)
    assert (made.placement.kind, made.placement.name) == ("existing", GROUP)
    (role,) = (said for said in made.preconditions if "Contributor" in said)
    assert GROUP in role
    assert not any("Contributor" in said for said in profile(H100).preconditions)
    assert "one zone" in refusal(H100, placement_group=GROUP, zones=("1", "2"), nodes={"max": 1}).rule
    assert "proximityPlacementGroups/NAME" in refusal(H100, placement_group="close").rule


@pytest.mark.parametrize(
    ("sku", "floor"),
    [(H100, 150), ("Standard_ND96asr_v4", 180), ("Standard_ND128isr_GB300_v6", 150)],
)
def test_a_published_floor_is_a_peak_and_holds_over_infiniband_alone(sku, floor):
    expected = profile(sku).bandwidth
    assert (expected.floor, expected.metric) == (floor, "peak")
    assert expected.source
    assert profile(sku, fabric="none").bandwidth is None
    assert profile("Standard_ND96isr_H200_v5").bandwidth is None
