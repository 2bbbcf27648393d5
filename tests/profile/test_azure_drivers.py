"""Node images of AKS, and who installs the driver on them."""

from __future__ import annotations

import pytest

from gpuplatform import catalog
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile import AksDriver, OperatorDriver, node_profile, operator_values

CATALOG = catalog.load()
NVIDIA = [sku for sku in CATALOG.skus("azure") if sku.gpu_vendor == "nvidia" and sku.k8s_supported]
A100, H100, A10 = "Standard_NC24ads_A100_v4", "Standard_ND96isr_H100_v5", "Standard_NV36ads_A10_v5"


def profile(sku, **changes):
    asked = {"name": "serve", "sku": sku, "purpose": "inference", "nodes": {"max": 2}, **changes}
    return node_profile(NodePool.model_validate(asked), CATALOG.sku("azure", sku))


def refusal(*args, **kwargs):
    with pytest.raises(Refusal) as caught:
        profile(*args, **kwargs)
    return caught.value


@pytest.mark.parametrize("sku", NVIDIA, ids=lambda sku: sku.name)
@pytest.mark.parametrize("owner", [None, "cloud", "operator"])
def test_drv_1_aks_and_the_operator_never_both_own_the_driver(sku, owner):
    try:
        made = profile(sku.name, driver=owner)
    except Refusal:
        assert owner is not None
        return
    values = operator_values([made])
    by_aks = isinstance(made.driver, AksDriver)
    assert by_aks != values["driver"]["enabled"]
    assert by_aks != values["toolkit"]["enabled"]
    expected = "nvidia-container-runtime" if by_aks else "nvidia"
    assert values["operator"]["runtimeClass"] == expected
    assert values.get("driver", {}).get("rdma", {}).get("enabled", False) == getattr(
        made.driver, "rdma", False
    )


def test_drv_1_pools_of_two_owners_in_one_cluster_are_refused_by_name():
    with pytest.raises(Refusal) as caught:
        operator_values([profile(H100, name="train"), profile(A100)])
    assert "train" in caught.value.what
    assert "serve" in caught.value.what
    assert operator_values([profile(H100, name="train"), profile(A100, driver="operator")])["driver"]["rdma"][
        "enabled"
    ]


@pytest.mark.parametrize(
    ("sku", "kind"),
    [
        (A100, "CUDA"),
        ("Standard_NC4as_T4_v3", "CUDA"),
        (A10, "GRID"),
        ("Standard_NV6ads_A10_v5", "GRID"),
        ("Standard_NC16ads_A10_v4", "GRID"),
        ("Standard_NC144ds_xl_RTXPRO6000BSE_v6", "GRID"),
    ],
)
def test_aks_installs_grid_on_the_machines_that_take_no_cuda_driver(sku, kind):
    assert profile(sku).driver == AksDriver(kind=kind)


def test_the_operator_installs_no_grid_driver():
    error = refusal(A10, driver="operator")
    assert error.where == "node_pools.serve.driver"
    assert "GRID" in error.rule
    assert "driver: cloud" in error.way_out


def test_the_operator_owns_the_driver_where_the_pool_asks_for_it():
    assert profile(A100, driver="operator").driver == OperatorDriver(host="aks-ubuntu", rdma=False)


def test_aks_7_azure_linux_is_taken_where_aks_lists_the_machine_and_refused_elsewhere():
    for sku in ("Standard_NC4as_T4_v3", A100, A10):
        assert profile(sku, image="azurelinux").image == "AzureLinux"
    for sku in ("Standard_NC144ds_xl_RTXPRO6000BSE_v6", "Standard_NC6", "Standard_NV12s_v3"):
        error = refusal(sku, image="azurelinux")
        assert error.where == "node_pools.serve.image"
        assert error.what == f"Azure Linux has no GPU support for {sku}"
        assert "image: ubuntu" in error.way_out
        assert profile(sku, image="ubuntu").image == "Ubuntu"


def test_aks_7_infiniband_and_the_operator_s_driver_need_ubuntu():
    assert "fabric: none" in refusal(H100, image="azurelinux").way_out
    assert profile(H100, image="azurelinux", fabric="none").image == "AzureLinux"
    assert "image: ubuntu" in refusal(A100, image="azurelinux", driver="operator").way_out


@pytest.mark.parametrize("image", ["al2023", "bottlerocket", "cos"])
def test_other_clouds_images_are_refused(image):
    error = refusal(A100, image=image)
    assert image in error.what
    assert "Azure Linux" in error.rule


def test_grace_blackwell_is_the_operator_s_even_without_its_fabric():
    sku = "Standard_ND128isr_GB300_v6"
    assert profile(sku, fabric="none").driver == OperatorDriver(host="aks-ubuntu", rdma=False)
    assert "fabric: none" not in refusal(sku, driver="cloud").way_out


def test_support_that_is_announced_only_is_a_precondition():
    assert profile("Standard_NC144ds_xl_RTXPRO6000BSE_v6").preconditions == (
        "AKS has announced support for Standard_NC144ds_xl_RTXPRO6000BSE_v6 in the region.",
    )
    assert profile(A100).preconditions == ()
