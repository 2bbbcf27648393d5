"""What Google sells of each GPU machine, and what buying it so makes of a pool."""

from __future__ import annotations

import pytest

from gpuplatform import catalog
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile import node_profile

CATALOG = catalog.load()
KINDS = {
    "on-demand": {"kind": "on-demand"},
    "spot": {"kind": "spot"},
    "reservation": {"kind": "reservation", "id": "h100s"},
    "capacity-block": {"kind": "capacity-block", "id": "cr-0123456789abcdef0"},
    "flex-start": {"kind": "flex-start", "max_run_hours": 24},
    "queued": {"kind": "queued", "max_run_hours": 24},
}


def profile(sku, kind="on-demand", **changes):
    asked = {
        "name": "train",
        "sku": sku,
        "purpose": "batch",
        "nodes": {"min": 0, "max": 4},
        "capacity": KINDS[kind] if isinstance(kind, str) else kind,
        **changes,
    }
    return node_profile(NodePool.model_validate(asked), CATALOG.sku("gcp", sku))


def refusal(*args, **kwargs):
    with pytest.raises(Refusal) as caught:
        profile(*args, **kwargs)
    return caught.value


@pytest.mark.parametrize("sku", ["a3-highgpu-1g", "a3-highgpu-2g", "a3-highgpu-4g"])
def test_parts_of_an_a3_high_are_sold_as_spot_and_flex_start_only(sku):
    for kind in ("spot", "flex-start", "queued"):
        assert profile(sku, kind).capacity.kind == kind
    for kind in ("on-demand", "reservation"):
        error = refusal(sku, kind)
        assert "spot, flex-start, queued only" in error.rule
        assert "kind: spot" in error.way_out


@pytest.mark.parametrize("sku", ["a3-ultragpu-8g", "a4-highgpu-8g"])
def test_h200_and_b200_are_not_sold_on_demand(sku):
    error = refusal(sku, "on-demand")
    assert error.what == f"{sku} is not sold on demand"
    assert error.where == "node_pools.train.capacity.kind"
    assert "kind: reservation, id: NAME" in error.way_out
    for kind in ("reservation", "spot", "flex-start", "queued"):
        assert profile(sku, kind).capacity.kind == kind


@pytest.mark.parametrize("sku", ["a4x-highgpu-4g", "a4x-maxgpu-4g-metal"])
def test_nvlink_racks_are_sold_by_reservation_only(sku):
    assert profile(sku, "reservation").capacity.id == "h100s"
    for kind in ("on-demand", "spot", "flex-start", "queued"):
        assert "by reservation only" in refusal(sku, kind).rule


def test_no_machine_of_google_is_sold_as_a_capacity_block():
    error = refusal("a3-megagpu-8g", "capacity-block")
    assert "no capacity blocks" in error.what
    assert "calendar mode" in error.rule
    assert "reservation" in error.way_out


@pytest.mark.parametrize("sku", ["g4-standard-48", "n1-standard-8+nvidia-tesla-t4:1"])
def test_flex_start_is_not_sold_outside_accelerator_optimized_machines_before_g4(sku):
    assert "not sold by flex-start" in refusal(sku, "flex-start").what


@pytest.mark.parametrize("sku", CATALOG.skus("gcp"), ids=lambda sku: sku.name)
def test_on_demand_agrees_with_the_catalogue_for_every_machine(sku):
    if sku.attaches_to_host or sku.gpu_count < 1:
        return
    if sku.on_demand:
        assert profile(sku.name).capacity.kind == "on-demand"
    else:
        assert "not sold on demand" in refusal(sku.name).what


@pytest.mark.parametrize(
    "name",
    [
        "h100s",
        "projects/example-ml/reservations/h100s",
        "h100s/reservationBlocks/block-1",
        "projects/example-ml/reservations/h100s/reservationBlocks/block-1",
    ],
)
def test_a_reservation_is_named_alone_with_its_project_and_with_its_block(name):
    assert profile("a3-megagpu-8g", {"kind": "reservation", "id": name}).capacity.id == name


@pytest.mark.parametrize("name", ["cr-0123/", "H100s", "projects/x/h100s", "9h100s"])
def test_what_is_no_reservation_is_refused(name):
    error = refusal("a3-megagpu-8g", {"kind": "reservation", "id": name})
    assert error.where == "node_pools.train.capacity.id"


@pytest.mark.parametrize("kind", ["flex-start", "queued"])
def test_nodes_that_go_after_some_days_cannot_always_be_there(kind):
    error = refusal("a3-megagpu-8g", kind, nodes={"min": 1, "max": 4})
    assert error.where == "node_pools.train.nodes.min"
    assert "min: 0" in error.way_out


def test_gke_3_queued_capacity_has_its_label_its_taint_its_check_and_no_placement():
    made = profile("a3-megagpu-8g", "queued")
    assert made.capacity.max_run_hours == 24
    assert made.labels["cloud.google.com/gke-queued"] == "true"
    assert [(t.value, t.effect) for t in made.taints if t.key == "cloud.google.com/gke-queued"] == [
        ("true", "NoSchedule")
    ]
    assert made.flavor.admission_check == "queued-provisioning"
    assert made.placement.kind == "none"


@pytest.mark.parametrize("kind", ["on-demand", "spot", "reservation", "flex-start"])
def test_other_capacity_has_neither_the_queue_s_label_nor_its_check(kind):
    made = profile("a3-megagpu-8g", kind)
    assert "cloud.google.com/gke-queued" not in made.labels
    assert made.flavor.admission_check == ""


def test_gke_3_queued_capacity_with_a_placement_policy_is_refused():
    error = refusal("a3-megagpu-8g", "queued", placement_group="close")
    assert error.where == "node_pools.train.placement_group"


@pytest.mark.parametrize("sku", ["a3-ultragpu-8g", "a4-highgpu-8g"])
def test_flex_start_is_placed_compactly_on_h200_and_b200(sku):
    assert profile(sku, "flex-start").placement.kind == "compact"


def test_flex_start_takes_no_placement_policy_elsewhere():
    assert profile("a3-megagpu-8g", "flex-start").placement.kind == "none"
    assert "A3 Ultra and A4 only" in refusal("a3-megagpu-8g", "flex-start", placement_group="close").rule


@pytest.mark.parametrize("sku", ["a3-highgpu-8g", "a3-megagpu-8g", "a3-ultragpu-8g", "a4-highgpu-8g"])
def test_eks_1_on_gke_a_reservation_gets_no_automatic_placement(sku):
    assert profile(sku, "reservation").placement.kind == "none"
    named = profile(sku, "reservation", placement_group="close").placement
    assert (named.kind, named.name) == ("existing", "close")


@pytest.mark.parametrize("sku", ["a3-highgpu-8g", "a3-megagpu-8g"])
def test_nodes_with_a_fabric_bought_on_demand_stand_close_together(sku):
    assert profile(sku).placement.kind == "compact"
    assert profile(sku, nodes={"max": 1}).placement.kind == "none"
    assert profile(sku, fabric="none").placement.kind == "none"


def test_an_nvlink_domain_has_its_topology_and_at_most_eighteen_nodes():
    assert profile("a4x-highgpu-4g", "reservation", nodes={"max": 18}).placement.topology == "1x72"
    error = refusal("a4x-highgpu-4g", "reservation", nodes={"max": 19})
    assert error.where == "node_pools.train.nodes.max"
    assert "18 nodes" in error.rule


def test_spot_and_flex_start_say_which_quota_they_use():
    for kind in ("spot", "flex-start", "queued"):
        assert any("preemptible H100" in said for said in profile("a3-megagpu-8g", kind).preconditions)
    assert not any("preemptible" in said for said in profile("a3-megagpu-8g").preconditions)
