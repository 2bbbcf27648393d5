"""GPU pools: a profile, word for word, as a node pool."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuplatform.errors import Refusal
from gpuplatform.gcp import GkeClusterIds, GkeGpuPool, GkeGpuPoolArgs
from gpuplatform.plan.recorder import record
from gpuplatform.profile import AksDriver, GkeDriver, Taint

NAME = "pool-train-gpu-pool"


def bought(profile, sku="a3-megagpu-8g", **capacity):
    """A profile without a fabric whose machines are bought so."""
    return profile(sku, capacity=capacity, fabric="none")


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


@pytest.mark.parametrize(("kind", "spot"), [("spot", True), ("on-demand", False)])
def test_spot_is_what_the_profile_says_and_gpus_go_where_there_are_any(environment, profile, kind, spot):
    inputs = environment(profile=bought(profile, kind=kind)).named(NAME).inputs

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


def test_gke3_a_queued_pool_holds_what_queued_provisioning_asks_for(environment, profile):
    """hashicorp/terraform-provider-google#18341, GoogleCloudPlatform/cluster-toolkit#3582."""
    inputs = environment(profile=bought(profile, kind="queued", max_run_hours=12)).named(NAME).inputs

    assert inputs["queuedProvisioning"] == {"enabled": True}
    assert inputs["nodeConfig"]["flexStart"] is True
    assert inputs["nodeConfig"]["maxRunDuration"] == "43200s"
    assert inputs["nodeConfig"]["reservationAffinity"] == {"consumeReservationType": "NO_RESERVATION"}
    assert inputs["autoscaling"]["totalMinNodeCount"] == 0
    assert inputs["management"]["autoRepair"] is False
    assert "placementPolicy" not in inputs
    assert "nodeCount" not in inputs


def test_gke3_upgrades_of_a_queued_pool_are_held_by_the_clusters_exclusion(environment, profile):
    """A release channel refuses autoUpgrade: false, so the pool cannot say it itself."""
    recording = environment(profile=bought(profile, kind="queued"))
    policy = recording.named("cluster-gke").inputs["maintenancePolicy"]

    assert recording.named(NAME).inputs["management"]["autoUpgrade"] is True
    (exclusion,) = policy["maintenanceExclusions"]
    assert exclusion["exclusionOptions"]["scope"] == "NO_MINOR_OR_NODE_UPGRADES"
    assert exclusion["exclusionOptions"]["endTimeBehavior"] == "UNTIL_END_OF_SUPPORT"


def test_flex_start_is_not_repaired_and_takes_no_reservation(environment, profile):
    inputs = environment(profile=bought(profile, kind="flex-start")).named(NAME).inputs

    assert inputs["nodeConfig"]["flexStart"] is True
    assert inputs["nodeConfig"]["maxRunDuration"] == "604800s"
    assert inputs["nodeConfig"]["reservationAffinity"] == {"consumeReservationType": "NO_RESERVATION"}
    assert inputs["management"]["autoRepair"] is False
    assert inputs["nodeConfig"]["spot"] is False
    assert "queuedProvisioning" not in inputs


def test_a_reservation_is_named_and_none_other_is_taken(environment, profile):
    inputs = environment(profile=bought(profile, kind="reservation", id="h100s")).named(NAME).inputs

    assert inputs["nodeConfig"]["reservationAffinity"] == {
        "consumeReservationType": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": ["h100s"],
    }
    assert inputs["management"]["autoRepair"] is True
    assert "placementPolicy" not in inputs


@pytest.mark.parametrize(
    ("sku", "mode", "expected"),
    [
        ("a3-megagpu-8g", None, {"ephemeralStorageLocalSsdConfig": 16}),
        ("a3-megagpu-8g", "raw", {"localNvmeSsdBlockConfig": 16}),
        ("g2-standard-48", "ephemeral", {"ephemeralStorageLocalSsdConfig": 4}),
    ],
)
def test_local_disks_are_the_profiles(environment, profile, sku, mode, expected):
    made = profile(sku, local_disks=mode, fabric="none")
    config = environment(profile=made).named(NAME).inputs["nodeConfig"]

    assert {key: config[key]["localSsdCount"] for key in expected} == expected
    assert len({"ephemeralStorageLocalSsdConfig", "localNvmeSsdBlockConfig"} & set(config)) == 1


def test_a_machine_without_local_disks_says_nothing_of_them(environment, profile):
    config = environment(profile=profile("g2-standard-48", fabric="none")).named(NAME).inputs["nodeConfig"]

    assert not {"ephemeralStorageLocalSsdConfig", "localNvmeSsdBlockConfig", "diskType"} & set(config)


def test_a_policy_that_exists_places_the_nodes(environment, profile):
    made = profile("a3-megagpu-8g", fabric="none", placement_group="close")

    assert environment(profile=made).named(NAME).inputs["placementPolicy"] == {
        "type": "COMPACT",
        "policyName": "close",
    }


@pytest.mark.parametrize(
    ("sharing", "expected"),
    [
        ({"kind": "mig", "profile": "1g.10gb"}, {"gpuPartitionSize": "1g.10gb"}),
        (
            {"kind": "time-slicing", "replicas": 4},
            {"gpuSharingConfig": {"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": 4}},
        ),
        (
            {"kind": "mps", "replicas": 8},
            {"gpuSharingConfig": {"gpuSharingStrategy": "MPS", "maxSharedClientsPerGpu": 8}},
        ),
    ],
)
def test_gkes_own_plugin_is_told_how_pods_share_a_gpu(environment, profile, sharing, expected):
    made = profile("a3-megagpu-8g", fabric="none", sharing=sharing)
    (gpus,) = environment(profile=made).named(NAME).inputs["nodeConfig"]["guestAccelerators"]

    assert {key: gpus[key] for key in gpus if key.startswith("gpu") and "Driver" not in key} == expected


def test_the_operators_plugin_is_told_by_the_operator(environment, profile):
    made = profile(
        "a3-megagpu-8g", fabric="none", driver="operator", sharing={"kind": "time-slicing", "replicas": 4}
    )
    (gpus,) = environment(profile=made).named(NAME).inputs["nodeConfig"]["guestAccelerators"]

    assert set(gpus) == {"type", "count", "gpuDriverInstallationConfig"}


@pytest.mark.parametrize("image", ["cos", "ubuntu"])
def test_drv4_the_operators_driver_goes_with_the_label_and_no_driver_of_googles(environment, profile, image):
    config = (
        environment(profile=profile("a3-megagpu-8g", fabric="none", driver="operator", image=image))
        .named(NAME)
        .inputs["nodeConfig"]
    )
    (gpus,) = config["guestAccelerators"]

    assert gpus["gpuDriverInstallationConfig"] == {"gpuDriverVersion": "INSTALLATION_DISABLED"}
    assert config["labels"]["gke-no-default-nvidia-gpu-device-plugin"] == "true"
    assert config["imageType"] == f"{image.upper()}_CONTAINERD"
    assert config["shieldedInstanceConfig"]["enableSecureBoot"] is False


def test_a_gpu_on_an_n1_host_is_attached_to_the_host(environment, profile):
    made = profile("n1-standard-8+nvidia-tesla-t4:2", fabric="none")
    config = environment(profile=made).named(NAME).inputs["nodeConfig"]

    assert config["machineType"] == "n1-standard-8"
    assert (config["guestAccelerators"][0]["type"], config["guestAccelerators"][0]["count"]) == (
        "nvidia-tesla-t4",
        2,
    )


def test_taints_that_gke_adds_by_itself_are_not_declared(environment, profile):
    made = bought(profile, kind="queued")
    declared = environment(profile=made).named(NAME).inputs["nodeConfig"]["taints"]

    assert "cloud.google.com/gke-queued" in [taint.key for taint in made.taints]
    assert [taint["key"] for taint in declared] == ["nvidia.com/gpu"]


def test_another_machine_image_or_mig_profile_is_another_pool(environment):
    """GKE would roll the nodes over in place, under the jobs that run on them."""
    recording = environment()

    assert set(recording.named(NAME).replace_on_changes) == {
        "nodeConfig.machineType",
        "nodeConfig.imageType",
        'nodeConfig.labels["nvidia.com/mig.config"]',
    }
    assert recording.named("cluster-system-pool").replace_on_changes == ()


def test_net5_a_fabric_without_its_networks_is_refused(environment, profile):
    with pytest.raises(Refusal) as refused:
        environment(profile=profile("a3-megagpu-8g"))

    assert "8 extra networks, and 0 are given" in refused.value.what
    assert refused.value.where == "node_pools.train.fabric"


def test_a_fabric_in_two_zones_is_refused(environment, profile):
    with pytest.raises(Refusal) as refused:
        environment(profile=profile("a3-megagpu-8g"), pool={"zones": ("us-east4-a", "us-east4-b")})

    assert refused.value.where == "node_pools.train.zones"
    assert "zones: [us-east4-a]" in refused.value.way_out
