"""GPU pools: a profile, word for word, as a node pool."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuplatform.errors import Refusal
from gpuplatform.gcp import GkeClusterIds, GkeGpuPool, GkeGpuPoolArgs
from gpuplatform.plan.recorder import record
from gpuplatform.profile import AksDriver, GkeDriver, Taint

NAME = "pool-train-gpu-pool"


def test_gke1_the_nvidia_taint_is_declared_together_with_the_users(environment, train):
    """terraform-google-kubernetes-engine#703, hashicorp/terraform-provider-google#7928."""
    mine = Taint(key="dedicated", value="vision", effect="NoExecute")
    pool = environment(profile=replace(train, taints=(*train.taints, mine))).named(NAME)

    assert pool.inputs["nodeConfig"]["taints"] == [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"},
        {"key": "dedicated", "value": "vision", "effect": "NO_EXECUTE"},
    ]


def test_gke1_a_gpu_pool_comes_after_the_system_pool(environment):
    recording = environment()

    assert recording.named("cluster-system-pool").urn in recording.named(NAME).dependencies


@pytest.mark.parametrize("version", ["DEFAULT", "LATEST"])
def test_gke2_the_drivers_version_is_always_spelled_out(environment, train, version):
    """GoogleCloudPlatform/magic-modules#11152: the default changed with a minor and replaced the pool."""
    pool = environment(profile=replace(train, driver=GkeDriver(version=version))).named(NAME)

    assert pool.inputs["nodeConfig"]["guestAccelerators"] == [
        {
            "type": "nvidia-h100-mega-80gb",
            "count": 8,
            "gpuDriverInstallationConfig": {"gpuDriverVersion": version},
        }
    ]


def test_drv4_googles_driver_goes_with_googles_device_plugin(environment):
    """The label that turns the plugin off would leave the node without a driver (NVIDIA/aicr#1998)."""
    labels = environment().named(NAME).inputs["nodeConfig"]["labels"]

    assert "gke-no-default-nvidia-gpu-device-plugin" not in labels


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"driver": AksDriver()}, "another cloud's driver"), ({"accelerator": None}, "names no accelerator")],
)
def test_a_profile_of_another_cloud_is_refused_by_the_pools_name(environment, train, changed, message):
    with pytest.raises(Refusal, match=message) as refused:
        environment(profile=replace(train, **changed))

    assert refused.value.where == "node_pools.train.sku"


def test_bounds_count_the_nodes_of_all_zones_together(environment):
    pool = environment(pool={"nodes_min": 1, "nodes_max": 4, "zones": ("us-east4-a", "us-east4-b")}).named(
        NAME
    )

    assert pool.inputs["autoscaling"]["totalMinNodeCount"] == 1
    assert pool.inputs["autoscaling"]["totalMaxNodeCount"] == 4
    assert "maxNodeCount" not in pool.inputs["autoscaling"]
    assert pool.inputs["nodeLocations"] == ["us-east4-a", "us-east4-b"]


def test_pul5_the_autoscalers_sizes_are_left_alone_on_the_pool_itself(environment):
    pool = environment().named(NAME)

    assert set(pool.ignore_changes) == {"initialNodeCount", "nodeCount"}
    assert pool.inputs["initialNodeCount"] == 0
    assert "nodeCount" not in pool.inputs


def test_pul5_a_fixed_size_is_set_and_its_changes_apply(environment):
    pool = environment(pool={"nodes_min": 4, "nodes_max": 4}).named(NAME)

    assert pool.inputs["nodeCount"] == 4
    assert "autoscaling" not in pool.inputs
    assert "initialNodeCount" not in pool.inputs
    assert pool.ignore_changes == ()


@pytest.mark.parametrize("spot", [True, False])
def test_spot_is_what_the_profile_says_and_gpus_go_where_there_are_any(environment, train, spot):
    inputs = environment(profile=replace(train, spot=spot)).named(NAME).inputs

    assert inputs["nodeConfig"]["spot"] is spot
    assert "preemptible" not in inputs["nodeConfig"]
    assert inputs["autoscaling"]["locationPolicy"] == "ANY"


def test_an_upgrade_needs_no_spare_gpu_machine(environment):
    settings = environment().named(NAME).inputs["upgradeSettings"]

    assert settings == {"strategy": "SURGE", "maxSurge": 0, "maxUnavailable": 1}


def test_pods_on_gpu_nodes_have_identities_of_their_own(environment):
    config = environment().named(NAME).inputs["nodeConfig"]

    assert config["workloadMetadataConfig"] == {"mode": "GKE_METADATA"}


def test_the_machine_the_image_the_disk_and_the_labels_are_the_profiles(environment, train):
    config = environment().named(NAME).inputs["nodeConfig"]

    assert config["machineType"] == train.sku
    assert config["imageType"] == train.image
    assert config["diskSizeGb"] == train.disk_gib
    assert config["labels"] == train.labels
    assert config["gvnic"] == {"enabled": True}


def test_a_pools_name_is_taken_while_it_stands_so_the_old_one_goes_first(environment):
    """The kind of AKS-4 on GKE."""
    pool = environment().named(NAME)

    assert pool.inputs["name"] == "train"
    assert pool.delete_before_replace


def test_a_pool_joins_a_cluster_that_exists_already(train, tags):
    ids = GkeClusterIds(cluster_name="theirs", region="us-east4", service_account="nodes@example.com")
    args = GkeGpuPoolArgs(
        cluster=ids, profile=train, nodes_min=0, nodes_max=1, zones=("us-east4-a",), tags=tags
    )

    pool = record(lambda: GkeGpuPool("pool-train", args)).named(NAME)

    assert pool.inputs["cluster"] == "theirs"
    assert pool.inputs["location"] == "us-east4"
    assert pool.inputs["nodeConfig"]["serviceAccount"] == "nodes@example.com"
