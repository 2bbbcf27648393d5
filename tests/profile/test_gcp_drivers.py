"""Who installs the driver on GKE: the whole product of the settings, and the three tuples that work."""

from __future__ import annotations

from itertools import product

import pytest

from gpuplatform import catalog
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile import GkeDriver, node_profile, operator_values
from gpuplatform.profile.driver import OperatorDriver
from gpuplatform.profile.gcp import node_daemons

CATALOG = catalog.load()
LABEL = "gke-no-default-nvidia-gpu-device-plugin"
DRIVERS = (None, "cloud", "operator")
IMAGES = (None, "cos", "ubuntu", "al2023", "bottlerocket", "azurelinux")


def profile(sku="g2-standard-48", **changes):
    asked = {"name": "serve", "sku": sku, "purpose": "inference", "nodes": {"max": 4}, **changes}
    return node_profile(NodePool.model_validate(asked), CATALOG.sku("gcp", sku))


@pytest.mark.parametrize(("driver", "image"), list(product(DRIVERS, IMAGES)))
def test_drv_4_only_the_consistent_tuples_come_out(driver, image):
    ours = image in {None, "cos", "ubuntu"}
    if not ours or (driver == "cloud" and image == "ubuntu"):
        with pytest.raises(Refusal) as caught:
            profile(driver=driver, image=image)
        named = ("image", image) if not ours else ("driver", "ubuntu")
        assert caught.value.where == f"node_pools.serve.{named[0]}"
        assert named[1] in caught.value.what
        return
    made = profile(driver=driver, image=image)
    values = operator_values([made])
    installers = [each["metadata"]["name"] for each in node_daemons([made])]
    match made.driver:
        case GkeDriver():
            # Google's driver: version named, plugin GKE's, no label, nothing of the operator's.
            assert made.image == "COS_CONTAINERD"
            assert made.driver.version in {"DEFAULT", "LATEST"}
            assert LABEL not in made.labels
            assert made.device_plugins == ("gke",)
            assert values["devicePlugin"]["enabled"] is False
            assert values["driver"]["enabled"] is False
            assert installers == []
        case OperatorDriver(host="gke-cos"):
            assert (driver, made.image) == ("operator", "COS_CONTAINERD")
            assert made.labels[LABEL] == "true"
            assert made.device_plugins == ("gpu-operator",)
            assert values["driver"]["enabled"] is False
            assert values["toolkit"]["installDir"] == "/home/kubernetes/bin/nvidia"
            assert installers == ["nvidia-driver-installer"]
        case OperatorDriver(host="gke-ubuntu"):
            assert made.image == "UBUNTU_CONTAINERD"
            assert made.labels[LABEL] == "true"
            assert made.device_plugins == ("gpu-operator",)
            assert values["driver"].get("enabled", True) is True
            assert installers == []
        case other:
            pytest.fail(f"{other} is no owner on GKE")


def test_ubuntu_left_alone_gets_the_operator_s_driver():
    assert profile(image="ubuntu").driver == OperatorDriver(host="gke-ubuntu")


def test_drv_4_the_clash_names_both_fields():
    with pytest.raises(Refusal) as caught:
        profile(driver="cloud", image="ubuntu")
    assert "driver: cloud and image: ubuntu" in caught.value.what


def test_ubuntu_does_not_run_on_arm():
    with pytest.raises(Refusal, match=r"image: ubuntu and sku: a4x-highgpu-4g"):
        profile("a4x-highgpu-4g", image="ubuntu", capacity={"kind": "reservation", "id": "racks"})


def test_gke_2_the_driver_s_version_is_always_named():
    for sku in CATALOG.skus("gcp"):
        try:
            made = profile(sku.name, capacity={"kind": "spot"})
        except Refusal:
            continue
        assert isinstance(made.driver, GkeDriver)
        assert made.driver.version == ("LATEST" if sku.family == "g4" else "DEFAULT")


def test_gke_1_the_gpu_taint_is_declared_with_gke_s_own_value_beside_the_user_s():
    made = profile(taints=({"key": "dedicated", "value": "gpu"},))
    assert [(taint.key, taint.value, taint.effect) for taint in made.taints] == [
        ("nvidia.com/gpu", "present", "NoSchedule"),
        ("dedicated", "gpu", "NoSchedule"),
    ]


def test_arm_nodes_carry_the_taint_that_gke_gives_them():
    made = profile("a4x-highgpu-4g", capacity={"kind": "reservation", "id": "racks"})
    assert made.arch == "arm64"
    assert ("kubernetes.io/arch", "arm64") in [(taint.key, taint.value) for taint in made.taints]


def test_a_gpu_on_an_n1_host_is_named_with_its_host():
    made = profile("n1-standard-8+nvidia-tesla-t4:1")
    assert (made.accelerator, made.gpus) == ("nvidia-tesla-t4", 1)
    with pytest.raises(Refusal) as caught:
        profile("n1+nvidia-tesla-t4:4")
    assert caught.value.way_out == "name the host too: n1-standard-8+nvidia-tesla-t4:4"


def test_a_share_of_a_gpu_is_refused_with_a_whole_one_instead():
    with pytest.raises(Refusal) as caught:
        profile("g4-standard-12")
    assert "0.25 of a GPU" in caught.value.what
    assert "g4-standard-48" in caught.value.way_out
