"""Every value that we give a chart exists in that chart, with the type that it has there."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
import yaml

from gpuplatform.kubernetes.charts import CHARTS, GPU_OPERATOR
from gpuplatform.profile import AksDriver, AmiDriver, GkeDriver, NodeProfile, Taint, operator_values

DATA = Path(__file__).parent / "data"
VERSIONS = ("v26.3.3", "v26.7.0")
DRIVERS = {
    "EKS, driver in the image": AmiDriver(ami_type="AL2023_x86_64_NVIDIA"),
    "EKS on Arm, driver in the image": AmiDriver(ami_type="AL2023_ARM_64_NVIDIA"),
    "GKE, default driver": GkeDriver(),
    "GKE, latest driver": GkeDriver(version="LATEST"),
    "AKS, driver of the node image": AksDriver(),
}
GPU = Taint(key="nvidia.com/gpu", value="present", effect="NoSchedule")


def profile(driver, *taints, pool="train"):
    return NodeProfile(
        pool=pool,
        sku="some-machine",
        gpus=8,
        gpu_model="H100",
        accelerator=None,
        arch="amd64",
        driver=driver,
        image="some-image",
        spot=False,
        labels={},
        taints=(GPU, *taints),
        scale_from_zero={},
        disk_gib=200,
    )


def chart_defaults(version):
    folder = DATA / f"gpu-operator-{version}"
    defaults = yaml.safe_load((folder / "values.yaml").read_text())
    sub_chart = yaml.safe_load((folder / "node-feature-discovery.values.yaml").read_text())
    defaults["node-feature-discovery"] = overlaid(sub_chart, defaults["node-feature-discovery"])
    return defaults


def overlaid(below, above):
    if isinstance(below, dict) and isinstance(above, dict):
        return {
            key: overlaid(below[key], above[key])
            if key in below and key in above
            else above.get(key, below.get(key))
            for key in {**below, **above}
        }
    return above


def misfits(values, defaults, path=""):
    """Paths of values that the chart does not have, or has with another type."""
    for key, value in values.items():
        here = f"{path}.{key}".lstrip(".")
        if key not in defaults:
            yield here
        elif defaults[key] is None or defaults[key] == {}:
            continue  # the chart leaves the shape open
        elif type(value) is not type(defaults[key]):
            yield f"{here} is {type(value).__name__}, the chart has {type(defaults[key]).__name__}"
        elif isinstance(value, dict):
            yield from misfits(value, defaults[key], here)


@pytest.mark.parametrize(("version", "mode"), list(product(VERSIONS, DRIVERS)))
def test_every_value_of_every_driver_mode_exists_in_the_chart_with_its_type(version, mode):
    values = operator_values([profile(DRIVERS[mode])])

    assert list(misfits(values, chart_defaults(version))) == []


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"drivers": {"enabled": False}}, ["drivers"]),
        ({"driver": {"enable": False}}, ["driver.enable"]),
        ({"driver": {"enabled": "false"}}, ["driver.enabled is str, the chart has bool"]),
        ({"toolkit": {"env": {"name": "X"}}}, ["toolkit.env is dict, the chart has list"]),
        ({"node-feature-discovery": {"workers": {}}}, ["node-feature-discovery.workers"]),
    ],
)
def test_a_misspelt_or_mistyped_value_is_found(values, found):
    assert list(misfits(values, chart_defaults("v26.3.3"))) == found


@pytest.mark.parametrize("mode", DRIVERS)
def test_the_driver_is_never_installed_by_two_owners(mode):
    """DRV-1, DRV-2, DRV-4: in every mode so far the cloud owns the driver; the chart's default is on."""
    assert chart_defaults(GPU_OPERATOR.version)["driver"]["enabled"] is True

    assert operator_values([profile(DRIVERS[mode])])["driver"]["enabled"] is False


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("mode", DRIVERS)
def test_the_service_monitor_is_off_since_its_crd_may_be_missing(version, mode):
    values = overlaid(chart_defaults(version), operator_values([profile(DRIVERS[mode])]))

    assert values["dcgmExporter"]["serviceMonitor"]["enabled"] is False


@pytest.mark.parametrize("mode", DRIVERS)
def test_every_daemonset_tolerates_every_taint_of_every_pool_with_exists(mode):
    """DRV-5, with the user's own taint of NVIDIA/gpu-operator#26."""
    dedicated = Taint(key="dedicated", value="gpu", effect="NoSchedule")
    spot = Taint(key="example.com/spot", value="true", effect="NoExecute")
    pools = [profile(DRIVERS[mode], dedicated), profile(DRIVERS[mode], spot, pool="serve")]

    values = overlaid(chart_defaults(GPU_OPERATOR.version), operator_values(pools))

    for tolerations in (
        values["daemonsets"]["tolerations"],
        values["node-feature-discovery"]["worker"]["tolerations"],
    ):
        assert {(t["key"], t["operator"], t["effect"]) for t in tolerations} == {
            ("nvidia.com/gpu", "Exists", "NoSchedule"),
            ("dedicated", "Exists", "NoSchedule"),
            ("example.com/spot", "Exists", "NoExecute"),
        }
        assert all("value" not in t for t in tolerations)


def test_on_gke_the_toolkit_and_the_driver_folder_are_googles():
    """DRV-4: one advertiser of GPUs, and the driver where Container-Optimized OS has it."""
    values = operator_values([profile(GkeDriver())])

    assert values["devicePlugin"]["enabled"] is False
    assert values["hostPaths"]["driverInstallDir"] == "/home/kubernetes/bin/nvidia"
    assert values["toolkit"]["installDir"] == "/home/kubernetes/bin/nvidia"


def test_every_pinned_chart_has_its_real_values_beside_the_tests():
    for chart in CHARTS:
        assert (DATA / f"{chart.name}-{chart.version}" / "values.yaml").is_file()
        assert chart.repository.startswith("https://")
