"""The GPU Operator's values for every owner of the driver, against the chart itself."""

from __future__ import annotations

from itertools import product

import pytest
from chart_data import DATA, chart_defaults, misfits, overlaid, yaml_of
from profiles import made_profile

from gpuplatform.kubernetes.charts import CHARTS, GPU_OPERATOR
from gpuplatform.profile import (
    AksDriver,
    AmiDriver,
    GkeDriver,
    InfiniBand,
    OperatorDriver,
    SharedGpu,
    operator_values,
)

VERSIONS = ("v26.3.3", "v26.7.0")
INFINIBAND = InfiniBand(resource="rdma/ib", adapters=8)
POOLS = {
    "EKS, driver in the image": made_profile(AmiDriver(ami_type="AL2023_x86_64_NVIDIA")),
    "EKS on Arm, driver in the image": made_profile(AmiDriver(ami_type="AL2023_ARM_64_NVIDIA")),
    "EKS, Bottlerocket": made_profile(
        AmiDriver(ami_type="BOTTLEROCKET_x86_64_NVIDIA"), plugin="bottlerocket"
    ),
    "GKE, default driver": made_profile(GkeDriver(), plugin="gke"),
    "GKE, latest driver": made_profile(GkeDriver(version="LATEST"), plugin="gke"),
    "GKE, own plugin on Container-Optimized OS": made_profile(OperatorDriver(host="gke-cos")),
    "GKE, the operator on Ubuntu": made_profile(OperatorDriver(host="gke-ubuntu")),
    "AKS, driver of the node image": made_profile(AksDriver()),
    "AKS, GRID": made_profile(AksDriver(kind="GRID")),
    "AKS, the operator": made_profile(OperatorDriver(host="aks-ubuntu")),
    "AKS, the operator with InfiniBand": made_profile(
        OperatorDriver(host="aks-ubuntu", rdma=True), fabric=INFINIBAND
    ),
}
SHARED = {
    "whole": None,
    "cut": SharedGpu(
        kind="mig",
        owner="gpu-operator",
        config="all-1g.10gb",
        resource="nvidia.com/mig-1g.10gb",
        per_node=56,
        per_gpu=7,
        profile="1g.10gb",
        label="nvidia.com/mig.config",
        entry={"devices": "all", "mig-enabled": True, "mig-devices": {"1g.10gb": 7}},
    ),
    "in turns": SharedGpu(
        kind="time-slicing",
        owner="gpu-operator",
        config="time-slicing-4",
        resource="nvidia.com/gpu.shared",
        per_node=32,
        per_gpu=4,
        label="nvidia.com/device-plugin.config",
        entry={"version": "v1", "sharing": {"timeSlicing": {"resources": []}}},
    ),
}


def values_of(mode, sharing="whole"):
    pool = POOLS[mode]
    second = made_profile(
        pool.driver,
        pool="serve",
        plugin=pool.device_plugins[0],
        fabric=pool.fabric,
        sharing=SHARED[sharing],
    )
    return operator_values([pool, second])


@pytest.mark.parametrize(("version", "mode", "sharing"), list(product(VERSIONS, POOLS, SHARED)))
def test_every_value_of_every_driver_mode_exists_in_the_chart_with_its_type(version, mode, sharing):
    found = misfits(values_of(mode, sharing), chart_defaults("gpu-operator", version))

    assert list(found) == []


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
    assert list(misfits(values, chart_defaults("gpu-operator", "v26.3.3"))) == found


@pytest.mark.parametrize("version", VERSIONS)
def test_drv_2_the_charts_own_default_is_to_install_driver_and_toolkit(version):
    """So a mode that says nothing would install a second driver."""
    defaults = chart_defaults("gpu-operator", version)

    assert defaults["driver"]["enabled"] is True
    assert defaults["toolkit"]["enabled"] is True
    for mode in POOLS:
        values = values_of(mode)
        assert "enabled" in values["driver"]
        assert "enabled" in values["toolkit"]


@pytest.mark.parametrize(("version", "mode"), list(product(VERSIONS, POOLS)))
def test_the_service_monitor_is_off_since_its_crd_may_be_missing(version, mode):
    values = overlaid(chart_defaults("gpu-operator", version), values_of(mode))

    assert values["dcgmExporter"]["serviceMonitor"]["enabled"] is False


@pytest.mark.parametrize(("version", "mode"), list(product(VERSIONS, POOLS)))
def test_drv_9_the_chart_brings_feature_discovery_unless_the_network_operator_does(version, mode):
    values = overlaid(chart_defaults("gpu-operator", version), values_of(mode))

    assert values["nfd"]["enabled"] is ("InfiniBand" not in mode)


@pytest.mark.parametrize("version", VERSIONS)
def test_only_one_of_the_two_policies_that_exclude_one_another_is_made(version):
    """v26.7.0 has a second one, for dynamic resource allocation; both at once are an invalid installation."""
    defaults = chart_defaults("gpu-operator", version)

    assert defaults.get("gpuCluster", {"deployCR": False})["deployCR"] is False
    assert defaults.get("clusterPolicy", {"deployCR": True})["deployCR"] is True


@pytest.mark.parametrize(("version", "mode", "sharing"), list(product(VERSIONS, POOLS, SHARED)))
def test_the_parts_that_reach_the_cluster_policy_are_fields_of_its_kind(version, mode, sharing):
    """The chart copies these parts of its values into the ClusterPolicy as they are."""
    crd = yaml_of(f"gpu-operator-{version}/nvidia.com_clusterpolicies.yaml")
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    values = values_of(mode, sharing)

    for part, keys in {
        "driver": ("enabled", "rdma", "upgradePolicy"),
        "toolkit": ("enabled", "env", "installDir"),
        "devicePlugin": ("enabled", "env"),
        "migManager": ("enabled", "env"),
        "gdrcopy": ("enabled",),
    }.items():
        for key in set(values.get(part, {})) & set(keys):
            assert key in spec[part]["properties"], (part, key)
    policy = values["driver"].get("upgradePolicy", {})
    shape = spec["driver"]["properties"]["upgradePolicy"]["properties"]
    # The values and the policy name one field differently: gpuPodDeletion is podDeletion there.
    renamed = {"gpuPodDeletion": "podDeletion"}
    for key, value in policy.items():
        field = shape[renamed.get(key, key)]
        assert not isinstance(value, dict) or set(value) <= set(field["properties"]), key


def test_every_pinned_chart_has_its_real_values_beside_the_tests():
    for chart in CHARTS:
        assert (DATA / f"{chart.name}-{chart.version}" / "values.yaml").is_file(), chart.name
        assert chart.repository.startswith(("https://", "oci://"))
        assert chart.version == yaml_of(f"{chart.name}-{chart.version}/Chart.yaml")["version"] or (
            # NVIDIA's chart is versioned when it is packed.
            chart is GPU_OPERATOR
        )
