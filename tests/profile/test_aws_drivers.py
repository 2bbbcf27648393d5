"""EKS's images, which own the driver."""

from __future__ import annotations

import pytest
from aws_pools import CATALOG, NVIDIA_SKUS, pool, profile, refusal

from gpuplatform.errors import Refusal
from gpuplatform.profile import AmiDriver, node_profile


@pytest.mark.parametrize(
    ("sku", "image", "ami"),
    [
        ("p5.48xlarge", None, "AL2023_x86_64_NVIDIA"),
        ("p5.48xlarge", "al2023", "AL2023_x86_64_NVIDIA"),
        ("p5.48xlarge", "bottlerocket", "BOTTLEROCKET_x86_64_NVIDIA"),
        ("g5g.xlarge", None, "AL2023_ARM_64_NVIDIA"),
        ("g5g.xlarge", "bottlerocket", "BOTTLEROCKET_ARM_64_NVIDIA"),
        ("p6e-gb200.36xlarge", None, "AL2023_ARM_64_NVIDIA"),
    ],
)
def test_the_image_fits_the_processor(sku, image, ami):
    made = profile(sku, image=image, purpose="batch")
    assert made.driver == AmiDriver(ami_type=ami)
    assert made.image == ami
    assert made.arch == ("arm64" if "ARM" in ami else "amd64")


@pytest.mark.parametrize("sku", NVIDIA_SKUS)
@pytest.mark.parametrize("image", ["al2023", "bottlerocket"])
def test_drv_2_the_operator_never_installs_the_driver_on_eks_images(sku, image):
    refused = refusal(sku, image=image, driver="operator", purpose="batch")
    assert refused.where == "node_pools.train.driver"
    assert "driver: cloud" in refused.way_out


def test_drv_2_the_clouds_driver_may_be_named():
    assert isinstance(profile("p5.48xlarge", driver="cloud").driver, AmiDriver)


def test_sto_5_a_pool_may_stay_on_one_release_of_its_image():
    assert profile("p5.48xlarge", image_release="1.35.2-20260901").image_release == "1.35.2-20260901"
    assert profile("p5.48xlarge").image_release == ""


@pytest.mark.parametrize(("cloud", "sku"), [("azure", "Standard_NC24ads_A100_v4"), ("gcp", "g2-standard-4")])
def test_sto_5_elsewhere_the_cloud_chooses_the_release_and_says_so(cloud, sku):
    asked = pool(sku, image_release="2026.09.01", purpose="inference", zones=None)
    with pytest.raises(Refusal, match="release of the image") as caught:
        node_profile(asked, CATALOG.sku(cloud, sku))
    assert caught.value.where == "node_pools.train.image_release"


@pytest.mark.parametrize("image", ["ubuntu", "azurelinux", "cos"])
def test_an_image_of_another_cloud_is_refused(image):
    refused = refusal("p5.48xlarge", image=image)
    assert refused.where == "node_pools.train.image"
    assert "al2023" in refused.way_out


def test_bottlerocket_advertises_the_gpus_and_keeps_the_operators_parts_away():
    made = profile("g6.xlarge", image="bottlerocket", purpose="inference")
    assert made.device_plugins == ("bottlerocket",)
    off = {
        key
        for key, value in made.labels.items()
        if key.startswith("nvidia.com/gpu.deploy.") and value == "false"
    }
    assert {key.rpartition(".")[2] for key in off} == {
        "container-toolkit",
        "device-plugin",
        "driver",
        "mig-manager",
    }
    assert not any("gpu.deploy" in key for key in profile("g6.xlarge", purpose="inference").labels)


def test_a_gb200_needs_amazon_linux_and_cannot_be_cut():
    assert "IMEX" in str(refusal("p6e-gb200.36xlarge", image="bottlerocket"))
    cut = {"kind": "mig", "profile": "1g.23gb"}
    assert "CDMM" in refusal("p6e-gb200.36xlarge", sharing=cut).rule
