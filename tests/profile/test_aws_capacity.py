"""What AWS sells of each GPU machine, and what buying it so makes of a pool."""

from __future__ import annotations

import pytest
from aws_pools import BLOCK, GROUP, NVIDIA_SKUS, RESERVATION, pool, profile, refusal
from pydantic import ValidationError


def test_eks_1_efa_on_machines_of_ones_own_gets_exactly_one_cluster_placement_group():
    for kind in ("on-demand", "spot"):
        assert profile("p5.48xlarge", capacity={"kind": kind}).placement.kind == "cluster"


@pytest.mark.parametrize("capacity", [RESERVATION, BLOCK, {"kind": "reservation", "id": GROUP}])
def test_eks_1_reserved_machines_get_no_placement_group_and_the_person_is_told(capacity):
    made = profile("p5.48xlarge", capacity=capacity)
    assert made.placement.kind == "none"
    [sentence] = made.preconditions
    assert capacity["id"] in sentence


@pytest.mark.parametrize("capacity", [{"kind": "on-demand"}, RESERVATION, BLOCK])
def test_eks_1_a_group_that_the_user_names_is_used_whatever_was_bought(capacity):
    placement = profile("p5.48xlarge", capacity=capacity, placement_group="rack7").placement
    assert (placement.kind, placement.name) == ("existing", "rack7")


def test_nodes_that_do_not_work_together_are_not_bound_to_one_zone_by_a_placement_group():
    assert profile("g6.12xlarge", purpose="inference", zones=None).placement.kind == "none"
    assert profile("p5.48xlarge", nodes={"min": 0, "max": 1}).placement.kind == "none"
    assert profile("g6.xlarge", fabric="none").placement.kind == "none"


def test_eks_2_a_capacity_block_needs_its_reservation():
    with pytest.raises(ValidationError, match=r"capacity-block\.id"):
        pool("p5.48xlarge", capacity={"kind": "capacity-block"})
    plan = profile("p5.48xlarge", capacity=BLOCK).capacity
    assert (plan.kind, plan.id) == ("capacity-block", BLOCK["id"])


@pytest.mark.parametrize("capacity", [BLOCK, RESERVATION])
def test_eks_2_what_lies_in_one_zone_is_not_spread_over_two(capacity):
    refused = refusal("p5.48xlarge", capacity=capacity, purpose="batch", zones=["use1-az4", "use1-az6"])
    assert refused.where == "node_pools.train.zones"
    assert capacity["id"] in refused.rule
    assert "zones: [use1-az4]" in refused.way_out


def test_a_group_of_reservations_may_lie_in_several_zones_where_nodes_need_no_fabric():
    made = profile(
        "p5.48xlarge",
        capacity={"kind": "reservation", "id": GROUP},
        purpose="inference",
        zones=["use1-az4", "use1-az6"],
    )
    assert made.capacity.id == GROUP


@pytest.mark.parametrize("sku", ["g6.12xlarge", "g5.xlarge", "p3dn.24xlarge", "g7e.48xlarge"])
def test_blocks_are_sold_of_p_machines_only(sku):
    refused = refusal(sku, capacity=BLOCK, fabric=None, purpose="batch")
    assert "not sold in capacity blocks" in str(refused)
    assert "reservation" in refused.way_out


@pytest.mark.parametrize("capacity", [{"kind": "on-demand"}, {"kind": "spot"}, RESERVATION])
def test_an_ultraserver_is_sold_in_blocks_only(capacity):
    refused = refusal("p6e-gb200.36xlarge", capacity=capacity)
    assert "capacity blocks only" in refused.rule
    assert "capacity-block" in refused.way_out


def test_eks_3_spot_has_no_maximum_price_and_says_so():
    with pytest.raises(ValidationError, match=r"spot\.max_price"):
        pool("g6.xlarge", capacity={"kind": "spot", "max_price": "1.00"})
    assert profile("g6.xlarge", purpose="inference", capacity={"kind": "spot"}).spot


@pytest.mark.parametrize("kind", ["flex-start", "queued"])
@pytest.mark.parametrize(("sku", "instead"), [("p5.48xlarge", "capacity-block"), ("g6.xlarge", "spot")])
def test_what_only_google_sells_is_refused_with_what_aws_has_instead(kind, sku, instead):
    refused = refusal(sku, capacity={"kind": kind}, purpose="batch")
    assert kind in str(refused)
    assert instead in refused.way_out


@pytest.mark.parametrize(
    "name", ["h100s", "projects/p/reservations/r", "cr-xyz", "arn:aws:ec2:us-east-1:123456789012:cr/x"]
)
def test_a_reservation_of_another_shape_is_refused(name):
    refused = refusal("p5.48xlarge", capacity={"kind": "reservation", "id": name})
    assert refused.where == "node_pools.train.capacity.id"
    assert "describe-capacity-reservations" in refused.way_out


@pytest.mark.parametrize("sku", NVIDIA_SKUS)
def test_eks_6_an_empty_pool_tells_the_autoscaler_its_labels_taint_and_every_resource(sku):
    made = profile(sku, fabric=None, purpose="batch")
    prefix = "k8s.io/cluster-autoscaler/node-template"
    hints = made.scale_from_zero
    assert {f"{prefix}/label/{key}": value for key, value in made.labels.items()}.items() <= hints.items()
    assert hints[f"{prefix}/taint/nvidia.com/gpu"] == "true:NoSchedule"
    assert hints[f"{prefix}/resources/nvidia.com/gpu"] == str(made.gpus)
    # Whatever the pool's own pods ask for, or they wait forever for a node that has it.
    for name in made.pod.resources:
        assert f"{prefix}/resources/{name}" in hints
    assert hints[f"{prefix}/resources/ephemeral-storage"].endswith("Gi")


def test_eks_6_the_numbers_of_a_p4d():
    hints = profile("p4d.24xlarge").scale_from_zero
    resources = {
        key.rpartition("resources/")[2]: value for key, value in hints.items() if "/resources/" in key
    }
    assert resources == {
        "nvidia.com/gpu": "8",
        "vpc.amazonaws.com/efa": "4",
        "hugepages-2Mi": "10256Mi",
        "ephemeral-storage": "7450Gi",
    }


def test_the_autoscaler_is_told_of_the_boot_disk_where_local_disks_are_not_the_pods():
    for mode in ("raw", "none"):
        hints = profile("p4d.24xlarge", local_disks=mode, disk_gib=300).scale_from_zero
        assert hints["k8s.io/cluster-autoscaler/node-template/resources/ephemeral-storage"] == "300Gi"
