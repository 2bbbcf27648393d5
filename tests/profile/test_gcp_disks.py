"""Local SSDs of GKE pools: how many, whose, and what cannot be had."""

from __future__ import annotations

import pytest

from gpuplatform import catalog
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile import node_profile

CATALOG = catalog.load()


def disks(sku, mode=None, kind="spot"):
    capacity = {"kind": kind, **({"id": "racks"} if kind == "reservation" else {})}
    asked = {"name": "serve", "sku": sku, "purpose": "inference", "nodes": {"max": 4}, "capacity": capacity}
    pool = NodePool.model_validate({**asked, "local_disks": mode})
    made = node_profile(pool, CATALOG.sku("gcp", sku)).local_disks
    return made.mode, made.count, made.gib


@pytest.mark.parametrize(
    ("sku", "count"),
    [
        ("a2-ultragpu-1g", 1),
        ("a2-ultragpu-8g", 8),
        ("a3-highgpu-1g", 2),
        ("a3-highgpu-8g", 16),
        ("a3-megagpu-8g", 16),
        ("a3-ultragpu-8g", 32),
        ("a4-highgpu-8g", 32),
    ],
)
def test_disks_of_the_machine_are_the_pods_own_storage_unless_the_pool_says_otherwise(sku, count):
    assert disks(sku) == ("ephemeral", count, count * 375)
    assert disks(sku, "raw") == ("raw", count, count * 375)


@pytest.mark.parametrize("sku", ["a2-ultragpu-1g", "a3-megagpu-8g", "a3-ultragpu-8g"])
def test_sto_5_on_gke_disks_of_the_machine_cannot_be_left_off(sku):
    with pytest.raises(Refusal) as caught:
        disks(sku, "none")
    assert caught.value.where == "node_pools.serve.local_disks"
    assert "ephemeral" in caught.value.way_out


def test_an_nvlink_rack_s_machine_says_by_itself_how_many_disks_it_has():
    assert disks("a4x-highgpu-4g", kind="reservation") == ("ephemeral", 0, 12000)


@pytest.mark.parametrize(
    ("sku", "count"),
    [
        ("a2-highgpu-1g", 1),
        ("a2-highgpu-4g", 4),
        ("a2-megagpu-16g", 8),
        ("g2-standard-4", 1),
        ("g2-standard-24", 2),
        ("g2-standard-32", 1),
        ("g2-standard-96", 8),
        ("g4-standard-48", 4),
        ("n1-standard-8+nvidia-tesla-t4:2", 2),
    ],
)
def test_disks_that_cost_extra_are_attached_only_where_they_are_asked_for(sku, count):
    assert disks(sku) == ("none", 0, 0)
    assert disks(sku, "none") == ("none", 0, 0)
    assert disks(sku, "ephemeral") == ("ephemeral", count, count * 375)
    assert disks(sku, "raw") == ("raw", count, count * 375)


@pytest.mark.parametrize(
    ("sku", "disk"),
    [
        ("a3-ultragpu-8g", "hyperdisk-balanced"),
        ("a4-highgpu-8g", "hyperdisk-balanced"),
        ("a3-megagpu-8g", ""),
    ],
)
def test_machines_that_take_no_persistent_disk_boot_from_hyperdisk(sku, disk):
    pool = {
        "name": "serve",
        "sku": sku,
        "purpose": "batch",
        "nodes": {"max": 2},
        "capacity": {"kind": "spot"},
    }
    assert node_profile(NodePool.model_validate(pool), CATALOG.sku("gcp", sku)).disk_type == disk
