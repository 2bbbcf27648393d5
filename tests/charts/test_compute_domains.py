"""Values of NVIDIA's driver for compute domains, for every owner of the GPU driver."""

from __future__ import annotations

import pytest
from profiles import made_profile

from gpuplatform.kubernetes.charts import DRA_DRIVER
from gpuplatform.kubernetes.compute_domains import compute_domain_values, shares_nvlink
from gpuplatform.profile import AksDriver, AmiDriver, GkeDriver, OperatorDriver, Taint

ARM = Taint(key="kubernetes.io/arch", value="arm64", effect="NoSchedule")
RACK = ("gke", "dra")

# Keys and types of ours in the chart's values.yaml (NVIDIA/k8s-dra-driver-gpu v25.8.1).
KNOWN = {
    "nvidiaDriverRoot": str,
    "resources.gpus.enabled": bool,
    "resources.computeDomains.enabled": bool,
    "controller.affinity": dict,
    "kubeletPlugin.affinity": dict,
    "kubeletPlugin.tolerations": list,
}


def values(driver=None):
    rack = made_profile(driver or GkeDriver(), ARM, pool="rack", device_plugins=RACK)
    return compute_domain_values([made_profile(driver or GkeDriver(), pool="serve"), rack])


def leaves(tree, path=""):
    for key, value in tree.items():
        here = f"{path}.{key}".lstrip(".")
        if here in KNOWN or not isinstance(value, dict):
            yield here, value
        else:
            yield from leaves(value, here)


def test_every_value_is_one_that_the_chart_has():
    found = dict(leaves(values()))

    assert found.keys() == KNOWN.keys()
    assert all(isinstance(found[key], KNOWN[key]) for key in found)
    assert DRA_DRIVER.version == "25.8.1"


@pytest.mark.parametrize(
    ("driver", "root"),
    [
        (GkeDriver(), "/home/kubernetes/bin/nvidia"),
        (OperatorDriver(host="gke-cos"), "/home/kubernetes/bin/nvidia"),
        (OperatorDriver(host="gke-ubuntu"), "/run/nvidia/driver"),
        (OperatorDriver(host="aks-ubuntu"), "/run/nvidia/driver"),
        (AksDriver(), "/"),
        (AmiDriver(ami_type="AL2023_ARM_64_NVIDIA"), "/"),
    ],
)
def test_the_driver_is_looked_for_where_its_owner_puts_it(driver, root):
    assert values(driver)["nvidiaDriverRoot"] == root


def test_gpus_stay_with_the_device_plugin():
    assert values()["resources"] == {"gpus": {"enabled": False}, "computeDomains": {"enabled": True}}


def test_the_plugin_runs_on_racks_and_the_controller_on_no_gpu_node():
    def terms(part):
        affinity = values()[part]["affinity"]["nodeAffinity"]
        return affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]

    assert terms("kubeletPlugin") == [
        {"matchExpressions": [{"key": "gpuplatform.io/pool", "operator": "In", "values": ["rack"]}]}
    ]
    assert terms("controller") == [
        {"matchExpressions": [{"key": "gpuplatform.io/pool", "operator": "DoesNotExist"}]}
    ]


def test_drv_5_the_plugin_tolerates_every_taint_of_its_nodes():
    tolerated = {(each["key"], each["operator"]) for each in values()["kubeletPlugin"]["tolerations"]}

    assert tolerated == {("nvidia.com/gpu", "Exists"), ("kubernetes.io/arch", "Exists")}


def test_only_racks_ask_for_it():
    assert shares_nvlink(made_profile(GkeDriver(), device_plugins=RACK))
    assert not shares_nvlink(made_profile(GkeDriver()))
