"""Where an AKS node's boot disk stands, and its local NVMe."""

from __future__ import annotations

import pytest

from gpuplatform import catalog
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile import LocalDisks, node_profile

CATALOG = catalog.load()
NVIDIA = [sku.name for sku in CATALOG.skus("azure") if sku.gpu_vendor == "nvidia" and sku.k8s_supported]
H100, T4 = "Standard_ND96isr_H100_v5", "Standard_NC4as_T4_v3"


def disks(sku, **changes):
    asked = {"name": "serve", "sku": sku, "purpose": "inference", "nodes": {"max": 2}, **changes}
    return node_profile(NodePool.model_validate(asked), CATALOG.sku("azure", sku)).local_disks


def refusal(*args, **kwargs):
    with pytest.raises(Refusal) as caught:
        disks(*args, **kwargs)
    return caught.value


def test_sto_5_a_boot_disk_that_fits_stands_on_local_storage_and_is_the_pods_own():
    assert disks(H100) == LocalDisks(mode="ephemeral", gib=200, boot="local")
    assert disks(H100, disk_gib=1024, local_disks="ephemeral").boot == "local"
    assert disks(T4, disk_gib=144).boot == "local"


@pytest.mark.parametrize(
    ("sku", "limit"),
    [(T4, 144), ("Standard_NC24ads_A100_v4", 256), (H100, 1024), ("Standard_NV72ads_A10_v5", 2040)],
)
def test_sto_5_a_boot_disk_beyond_the_machine_s_limit_is_refused_if_local_was_asked_for(sku, limit):
    error = refusal(sku, disk_gib=limit + 1, local_disks="ephemeral")
    assert error.where == "node_pools.serve.local_disks"
    assert f"{limit} GiB at most" in error.rule
    assert f"disk_gib: {limit} or less" in error.way_out
    assert disks(sku, disk_gib=limit + 1) == LocalDisks(mode="none", boot="network")


def test_sto_5_a_machine_without_ephemeral_boot_disks_is_told_so():
    assert disks("Standard_NC6").boot == "network"
    assert "no ephemeral OS disk" in refusal("Standard_NC6", local_disks="ephemeral").rule


def test_sto_5_a_limit_that_azure_does_not_publish_is_neither_promised_nor_guessed():
    assert disks("Standard_ND96asr_v4") == LocalDisks(mode="none", boot="cloud")
    error = refusal("Standard_ND96asr_v4", local_disks="ephemeral")
    assert "not published" in error.what
    assert "leave local_disks out" in error.way_out


def test_none_keeps_the_boot_disk_on_the_network():
    assert disks(H100, local_disks="none") == LocalDisks(mode="none", boot="network")


@pytest.mark.parametrize(
    ("sku", "count", "gib"),
    [
        (H100, 8, 28610),
        ("Standard_ND96isr_H200_v5", 8, 28610),
        ("Standard_NC48ads_A100_v4", 2, 1788),
        ("Standard_NC96ads_A100_v4", 4, 3576),
    ],
)
def test_raw_leaves_the_nvme_disks_as_block_devices(sku, count, gib):
    made = disks(sku, local_disks="raw")
    assert (made.mode, made.count, made.gib) == ("raw", count, gib)


@pytest.mark.parametrize("sku", [T4, "Standard_NC40ads_H100_v5", "Standard_NC144ds_xl_RTXPRO6000BSE_v6"])
def test_raw_is_refused_on_a_machine_without_nvme_disks(sku):
    error = refusal(sku, local_disks="raw")
    assert "no NVMe disks" in error.what
    assert H100 in error.way_out


@pytest.mark.parametrize("sku", NVIDIA)
def test_a_boot_disk_larger_than_aks_makes_is_refused_on_every_machine(sku):
    assert refusal(sku, disk_gib=2049).where == "node_pools.serve.disk_gib"
    assert disks(sku, disk_gib=2048).boot in {"network", "local", "cloud"}
