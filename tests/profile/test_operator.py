"""The GPU Operator's values: one owner of the driver a cluster, and each value with its reason."""

from __future__ import annotations

from itertools import combinations, product

import pytest
import yaml
from profiles import made_profile

from gpuplatform.errors import Refusal
from gpuplatform.profile import (
    AksDriver,
    AmiDriver,
    GkeDriver,
    InfiniBand,
    OperatorDriver,
    SharedGpu,
    Taint,
    operator_values,
)

INFINIBAND = InfiniBand(resource="rdma/ib", adapters=8)
DRIVERS = {
    "AL2023": AmiDriver(ami_type="AL2023_x86_64_NVIDIA"),
    "AL2023 on Arm": AmiDriver(ami_type="AL2023_ARM_64_NVIDIA"),
    "Bottlerocket": AmiDriver(ami_type="BOTTLEROCKET_x86_64_NVIDIA"),
    "GKE": GkeDriver(),
    "GKE latest": GkeDriver(version="LATEST"),
    "AKS CUDA": AksDriver(),
    "AKS GRID": AksDriver(kind="GRID"),
    "operator on AKS": OperatorDriver(host="aks-ubuntu"),
    "operator on AKS with RDMA": OperatorDriver(host="aks-ubuntu", rdma=True),
    "operator on GKE COS": OperatorDriver(host="gke-cos"),
    "operator on GKE Ubuntu": OperatorDriver(host="gke-ubuntu"),
}
# Drivers that one set of values serves together.
FAMILIES = (
    {"AL2023", "AL2023 on Arm", "Bottlerocket"},
    {"GKE", "GKE latest"},
    {"AKS CUDA", "AKS GRID"},
    {"operator on AKS", "operator on AKS with RDMA", "operator on GKE Ubuntu"},
    {"operator on GKE COS"},
)
OPERATOR_DRIVES = {"operator on AKS", "operator on AKS with RDMA", "operator on GKE Ubuntu"}
PLUGINS = {"Bottlerocket": "bottlerocket", "GKE": "gke", "GKE latest": "gke"}


def made(name, *taints, pool="train", **other):
    rdma = getattr(DRIVERS[name], "rdma", False)
    fabric = {"fabric": INFINIBAND} if rdma else {}
    return made_profile(
        DRIVERS[name], *taints, pool=pool, plugin=PLUGINS.get(name, "gpu-operator"), **{**fabric, **other}
    )


def values_of(name, **other):
    return operator_values([made(name, **other)])


@pytest.mark.parametrize("name", DRIVERS)
def test_drv_1_the_operator_installs_the_driver_exactly_where_nobody_else_does(name):
    assert values_of(name)["driver"]["enabled"] is (name in OPERATOR_DRIVES)


@pytest.mark.parametrize(("one", "other"), list(combinations(DRIVERS, 2)))
def test_drv_1_two_owners_in_one_cluster_are_an_error_that_names_both_pools(one, other):
    pools = [made(one, pool="train"), made(other, pool="serve")]
    if any({one, other} <= family for family in FAMILIES):
        assert operator_values(pools)
        return

    with pytest.raises(Refusal) as refused:
        operator_values(pools)

    assert "train (" in refused.value.what
    assert "serve (" in refused.value.what
    assert refused.value.way_out


def test_drv_1_the_way_out_names_the_pools_that_can_follow_the_one_that_cannot():
    """InfiniBand leaves its pool no choice; the others, which only took the default, have one."""
    pools = [
        made("operator on AKS with RDMA", pool="train"),
        made("AKS CUDA", pool="serve"),
        made("AKS CUDA", pool="notebooks"),
    ]

    with pytest.raises(Refusal) as refused:
        operator_values(pools)

    assert refused.value.where == "node_pools.serve.driver"
    assert "driver: operator on serve, notebooks" in refused.value.way_out
    assert "fabric: none on train" in refused.value.way_out


@pytest.mark.parametrize("name", ["AKS CUDA", "AKS GRID"])
def test_drv_1_driver_toolkit_and_runtime_class_of_aks_always_go_together(name):
    values = values_of(name)

    assert values["driver"]["enabled"] is False
    assert values["toolkit"]["enabled"] is False
    assert values["operator"]["runtimeClass"] == "nvidia-container-runtime"
    assert values["operator"]["resources"]["limits"]["memory"] == "700Mi"


@pytest.mark.parametrize("name", sorted(FAMILIES[0]))
def test_drv_2_amazon_linux_and_bottlerocket_bring_driver_and_toolkit(name):
    values = values_of(name)

    assert (values["driver"]["enabled"], values["toolkit"]["enabled"]) == (False, False)


def test_bottlerockets_own_plugin_is_the_only_one_where_all_pools_have_it():
    assert values_of("Bottlerocket")["devicePlugin"]["enabled"] is False

    both = operator_values([made("AL2023", pool="train"), made("Bottlerocket", pool="serve")])
    assert both["devicePlugin"]["enabled"] is True


@pytest.mark.parametrize("name", ["GKE", "GKE latest"])
def test_drv_4_googles_driver_comes_with_googles_plugin(name):
    values = values_of(name)

    assert values["devicePlugin"]["enabled"] is False
    assert values["driver"]["enabled"] is False


@pytest.mark.parametrize("name", ["GKE", "GKE latest", "operator on GKE COS"])
def test_drv_4_on_container_optimized_os_driver_and_toolkit_are_found_in_googles_folder(name):
    values = values_of(name)

    assert values["hostPaths"]["driverInstallDir"] == "/home/kubernetes/bin/nvidia"
    assert values["toolkit"]["installDir"] == "/home/kubernetes/bin/nvidia"
    assert values["gdrcopy"]["enabled"] is False


def test_drv_4_nvidias_plugin_on_container_optimized_os_has_no_driver_container_behind_it():
    values = values_of("operator on GKE COS")

    assert (values["devicePlugin"]["enabled"], values["driver"]["enabled"]) == (True, False)


@pytest.mark.parametrize("name", DRIVERS)
def test_drv_5_every_daemonset_tolerates_every_taint_of_every_pool_with_exists(name):
    dedicated = Taint(key="dedicated", value="gpu", effect="NoSchedule")
    spot = Taint(key="kubernetes.azure.com/scalesetpriority", value="spot", effect="NoExecute")

    values = operator_values([made(name, dedicated), made(name, spot, pool="serve")])

    wanted = {
        ("nvidia.com/gpu", "Exists", "NoSchedule"),
        ("dedicated", "Exists", "NoSchedule"),
        ("kubernetes.azure.com/scalesetpriority", "Exists", "NoExecute"),
    }
    lists = [values["daemonsets"]["tolerations"]]
    if values["nfd"]["enabled"]:
        lists.append(values["node-feature-discovery"]["worker"]["tolerations"])
    for tolerations in lists:
        assert {(one["key"], one["operator"], one["effect"]) for one in tolerations} == wanted
        assert all("value" not in one for one in tolerations)


@pytest.mark.parametrize("name", DRIVERS)
def test_drv_9_node_feature_discovery_is_the_network_operators_where_there_is_one(name):
    assert values_of(name)["nfd"]["enabled"] is (name != "operator on AKS with RDMA")


def test_net_6_infiniband_has_the_operators_driver_with_rdma_and_mofed_from_a_container():
    driver = values_of("operator on AKS with RDMA")["driver"]

    assert driver["rdma"] == {"enabled": True, "useHostMofed": False}
    assert values_of("operator on AKS with RDMA")["gdrcopy"]["enabled"] is True
    assert values_of("operator on AKS")["driver"]["rdma"]["enabled"] is False


def test_net_6_one_pool_with_infiniband_is_enough_for_rdma():
    pools = [made("operator on AKS", pool="serve"), made("operator on AKS with RDMA", pool="train")]

    assert operator_values(pools)["driver"]["rdma"]["enabled"] is True
    assert operator_values(pools[::-1]) == operator_values(pools)


@pytest.mark.parametrize("name", DRIVERS)
def test_a_toolkit_of_the_operators_gives_unprivileged_pods_no_gpus_they_did_not_ask_for(name):
    values = values_of(name)

    assert values["cdi"]["enabled"] is True
    if values["toolkit"]["enabled"]:
        env = {one["name"]: one["value"] for one in values["toolkit"]["env"]}
        assert env == {
            "RUNTIME_CONFIG_SOURCE": "file",
            "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED": "false",
        }


@pytest.mark.parametrize("name", sorted(OPERATOR_DRIVES))
def test_a_new_driver_takes_one_node_at_a_time_and_waits_for_its_jobs(name):
    policy = values_of(name)["driver"]["upgradePolicy"]

    assert policy["maxParallelUpgrades"] == 1
    assert policy["waitForCompletion"]["podSelector"] == "batch.kubernetes.io/job-name"
    assert policy["waitForCompletion"]["timeoutSeconds"] == 0
    assert policy["gpuPodDeletion"]["force"] is False


@pytest.mark.parametrize("name", DRIVERS)
def test_nothing_is_installed_for_virtual_machines_or_confidential_computing(name):
    values = values_of(name)

    for part in ("ccManager", "kataSandboxDevicePlugin", "sandboxDevicePlugin", "vfioManager"):
        assert values[part] == {"enabled": False}
    assert values["dcgmExporter"]["serviceMonitor"]["enabled"] is False


def sliced(config="time-slicing-4", owner="gpu-operator"):
    return SharedGpu(
        kind="time-slicing",
        owner=owner,
        config=config,
        resource="nvidia.com/gpu.shared",
        per_node=32,
        per_gpu=4,
        label="nvidia.com/device-plugin.config" if owner == "gpu-operator" else "",
        entry={"version": "v1", "sharing": {"timeSlicing": {"resources": []}}},
    )


def cut(profile="1g.10gb", owner="gpu-operator"):
    return SharedGpu(
        kind="mig",
        owner=owner,
        config=f"all-{profile}",
        resource=f"nvidia.com/mig-{profile}",
        per_node=56,
        per_gpu=7,
        profile=profile,
        label="nvidia.com/mig.config" if owner == "gpu-operator" else "",
        entry={"devices": "all", "mig-enabled": True, "mig-devices": {profile: 7}},
    )


def test_drv_7_each_sharing_pool_has_its_entry_and_all_other_nodes_the_default():
    values = operator_values(
        [
            made("AL2023", pool="train"),
            made("AL2023", pool="serve", sharing=sliced()),
            made("AL2023", pool="notebooks", sharing=sliced("mps-8")),
        ]
    )

    config = values["devicePlugin"]["config"]
    assert config["create"] is True
    assert config["name"]
    assert config["default"] in config["data"]
    entries = {name: yaml.safe_load(text) for name, text in config["data"].items()}
    assert entries == {
        config["default"]: {"version": "v1"},
        "time-slicing-4": sliced().entry,
        "mps-8": sliced().entry,
    }
    assert values["devicePlugin"]["env"]  # the driver's own values of the plugin are kept


def test_drv_7_mig_entries_are_those_that_the_nodes_labels_name():
    values = operator_values(
        [
            made("AL2023", pool="train"),
            made("AL2023", pool="serve", sharing=cut()),
            made("AL2023", pool="notebooks", sharing=cut("3g.40gb")),
        ]
    )

    config = values["migManager"]["config"]
    assert values["migManager"]["enabled"] is True
    assert {"name": "WITH_REBOOT", "value": "true"} in values["migManager"]["env"]
    assert values["mig"] == {"strategy": "mixed"}
    content = yaml.safe_load(config["data"]["config.yaml"])
    assert set(content["mig-configs"]) == {config["default"], "all-1g.10gb", "all-3g.40gb"}
    assert content["mig-configs"]["all-1g.10gb"] == [cut().entry]
    assert content["mig-configs"][config["default"]] == [{"devices": "all", "mig-enabled": False}]


def test_gpus_that_aks_cuts_are_advertised_by_profile_and_left_alone_by_the_mig_manager():
    values = values_of("AKS CUDA", sharing=cut(owner="aks"))

    assert values["mig"] == {"strategy": "mixed"}
    assert values["migManager"] == {"enabled": False}


@pytest.mark.parametrize(("name", "owner"), [("GKE", "gke"), ("Bottlerocket", "bottlerocket")])
def test_what_another_plugin_shares_is_no_business_of_the_operators(name, owner):
    values = values_of(name, sharing=sliced(owner=owner))

    assert "config" not in values["devicePlugin"]
    assert values["migManager"] == {"enabled": False}


@pytest.mark.parametrize(
    ("one", "other"), [pair for family in FAMILIES for pair in product(sorted(family), repeat=2)]
)
def test_the_order_of_the_pools_changes_no_value_but_the_tolerations_order(one, other):
    pools = [made(one, pool="train"), made(other, pool="serve")]

    assert operator_values(pools) == operator_values(pools[::-1])
