"""What Azure sells of each GPU machine, and what buying it so makes of a pool."""

from __future__ import annotations

import pytest

from gpuplatform import catalog
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile import Taint, node_profile

CATALOG = catalog.load()
SUBSCRIPTION = "/subscriptions/00000000-0000-4000-8000-000000000001"
GROUP = f"{SUBSCRIPTION}/resourceGroups/reserved/providers/Microsoft.Compute/capacityReservationGroups/a100s"
KINDS = {
    "on-demand": {"kind": "on-demand"},
    "spot": {"kind": "spot"},
    "reservation": {"kind": "reservation", "id": GROUP},
    "capacity-block": {"kind": "capacity-block", "id": "cr-0123456789abcdef0"},
    "flex-start": {"kind": "flex-start"},
    "queued": {"kind": "queued"},
}
SPOT = "kubernetes.azure.com/scalesetpriority"


def profile(sku, kind="on-demand", **changes):
    asked = {
        "name": "train",
        "sku": sku,
        "purpose": "batch",
        "nodes": {"min": 0, "max": 4},
        "capacity": KINDS[kind] if isinstance(kind, str) else kind,
        **changes,
    }
    return node_profile(NodePool.model_validate(asked), CATALOG.sku("azure", sku))


def refusal(*args, **kwargs):
    with pytest.raises(Refusal) as caught:
        profile(*args, **kwargs)
    return caught.value


def test_aks_2_a_spot_pool_declares_the_label_and_the_taint_that_aks_adds():
    made = profile("Standard_NC24ads_A100_v4", "spot")
    assert made.capacity.kind == "spot"
    assert made.labels[SPOT] == "spot"
    assert Taint(key=SPOT, value="spot", effect="NoSchedule") in made.taints


@pytest.mark.parametrize("kind", ["on-demand", "reservation"])
def test_aks_2_no_other_pool_has_the_label_or_the_taint_of_spot(kind):
    made = profile("Standard_NC24ads_A100_v4", kind)
    assert SPOT not in made.labels
    assert SPOT not in {taint.key for taint in made.taints}


def test_a_reservation_is_named_by_its_group_and_needs_it_filled_and_a_role_on_it():
    made = profile("Standard_NC24ads_A100_v4", "reservation")
    assert made.capacity.id == GROUP
    filled, role = made.preconditions
    assert GROUP in filled
    assert "Standard_NC24ads_A100_v4" in filled
    assert "role" in role


@pytest.mark.parametrize(
    "id_",
    [
        "cr-0123456789abcdef0",
        "a100s",
        GROUP.replace("capacityReservationGroups", "capacityReservations"),
        f"{GROUP}/capacityReservations/a100",
    ],
)
def test_what_names_no_group_of_azure_is_refused_with_the_form_of_one(id_):
    error = refusal("Standard_NC24ads_A100_v4", {"kind": "reservation", "id": id_})
    assert error.where == "node_pools.train.capacity.id"
    assert "capacityReservationGroups/NAME" in error.rule
    assert "az capacity reservation group list" in error.way_out


@pytest.mark.parametrize(
    "sku",
    [
        "Standard_ND96asr_v4",
        "Standard_ND96isr_H100_v5",
        "Standard_ND96isr_H200_v5",
        "Standard_ND128isr_GB300_v6",
        "Standard_NC40ads_H100_v5",
        "Standard_NC144ds_xl_RTXPRO6000BSE_v6",
    ],
)
def test_what_azure_takes_no_reservations_of_is_refused_with_what_it_sells_instead(sku):
    error = refusal(sku, "reservation")
    assert error.what == f"{sku} cannot be reserved on demand"
    assert "NC_A100_v4" in error.rule
    assert "on-demand" in error.way_out
    assert "spot" in error.way_out
    assert profile(sku, "on-demand").capacity.kind == "on-demand"
    assert profile(sku, "spot").capacity.kind == "spot"


@pytest.mark.parametrize("kind", ["capacity-block", "flex-start", "queued"])
def test_what_only_another_cloud_sells_is_refused_with_its_name_and_an_alternative_that_works(kind):
    reservable, other = "Standard_NC24ads_A100_v4", "Standard_ND96isr_H100_v5"
    for sku in (reservable, other):
        error = refusal(sku, kind)
        assert error.where == "node_pools.train.capacity"
        assert "AWS" in error.rule or "Google Cloud" in error.rule
        assert ("reservation" in error.way_out) == (sku == reservable)
        assert "spot" in error.way_out
