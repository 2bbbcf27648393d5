"""Sharing a GPU: names, counts and refusals, on every GPU and for every owner of the device plugin."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from gpuplatform import catalog
from gpuplatform.config import NodePool
from gpuplatform.config.sharing import Sharing
from gpuplatform.errors import Refusal
from gpuplatform.profile import AksDriver, AmiDriver, CapacityPlan, LocalDisks, NoFabric, Placement, Taint
from gpuplatform.profile.facts import CloudFacts
from gpuplatform.profile.mig import mig_profiles
from gpuplatform.profile.sharing import shared_gpu

SKUS = {sku.name: sku for sku in catalog.load().skus() if sku.gpu_vendor == "nvidia"}
AMI = AmiDriver(ami_type="AL2023_x86_64_NVIDIA")
ARGS = {"gpu-operator": AMI, "gke": AMI, "bottlerocket": AMI, "aks": AksDriver()}


def share(sku, sharing, owner="gpu-operator"):
    pool = NodePool.model_validate(
        {"name": "serve", "sku": sku, "purpose": "inference", "nodes": {"max": 2}, "sharing": sharing}
    )
    facts = CloudFacts(
        driver=ARGS[owner],
        image="some-image",
        arch="amd64",
        gpu_taint=Taint(key="nvidia.com/gpu", value="true", effect="NoSchedule"),
        capacity=CapacityPlan(kind="on-demand"),
        fabric=NoFabric(reason="none"),
        placement=Placement(kind="none"),
        local_disks=LocalDisks(mode="none"),
        gpu_plugin="gpu-operator" if owner == "aks" else owner,
    )
    gpus = max(int(SKUS[sku].gpu_count), 1)
    return shared_gpu(pool, SKUS[sku], facts, gpus, "node_pools.serve")


def mig(profile):
    return {"kind": "mig", "profile": profile}


def test_whole_gpus_where_nothing_is_said():
    assert share("p5.48xlarge", None) is None


@pytest.mark.parametrize(
    ("sku", "profile", "per_gpu", "per_node"),
    [
        ("p4d.24xlarge", "1g.5gb", 7, 56),
        ("p4d.24xlarge", "1g.10gb", 4, 32),  # a wide slice of an A100 of 40 GB ...
        ("p4de.24xlarge", "1g.10gb", 7, 56),  # ... and the smallest one of an A100 of 80 GB
        ("p5.48xlarge", "3g.40gb", 2, 16),
        ("p5.4xlarge", "7g.80gb", 1, 1),
        ("Standard_NC40ads_H100_v5", "1g.12gb", 7, 7),
        ("p5en.48xlarge", "1g.18gb", 7, 56),
        ("p6-b200.48xlarge", "2g.45gb", 3, 24),
        ("p6-b300.48xlarge", "1g.34gb", 7, 56),
        ("p6e-gb200.36xlarge", "1g.23gb", 7, 28),
        ("Standard_ND128isr_GB300_v6", "3g.139gb", 2, 8),
        ("g7e.2xlarge", "1g.24gb", 4, 4),
        ("g7.2xlarge", "1g.16gb", 2, 2),
    ],
)
def test_instances_of_a_mig_profile_are_counted_for_the_gpu_that_the_machine_has(
    sku, profile, per_gpu, per_node
):
    shared = share(sku, mig(profile))

    assert (shared.per_gpu, shared.per_node) == (per_gpu, per_node)
    assert shared.resource == f"nvidia.com/mig-{profile}"
    assert shared.label == "nvidia.com/mig.config"
    assert shared.config == f"all-{profile}"
    assert shared.entry["mig-devices"] == {profile: per_gpu}


def test_media_engines_are_a_dot_in_labels_and_resources_where_a_plus_is_no_valid_character():
    shared = share("p5.48xlarge", mig("1g.10gb+me"))

    assert (shared.resource, shared.config) == ("nvidia.com/mig-1g.10gb.me", "all-1g.10gb.me")
    assert shared.entry["mig-devices"] == {"1g.10gb+me": 1}
    assert shared.per_node == 8


def test_a_profile_of_another_gpu_is_refused_with_those_that_fit():
    with pytest.raises(Refusal) as refused:
        share("p5en.48xlarge", mig("1g.10gb"))

    assert "1g.18gb (7 a GPU)" in refused.value.way_out
    assert refused.value.where == "node_pools.serve.sharing.profile"


@pytest.mark.parametrize(
    ("sku", "word"),
    [
        ("g6.xlarge", "L4"),
        ("g4dn.xlarge", "T4"),
        ("p3.2xlarge", "V100"),
        ("g6e.xlarge", "L40S"),
        ("g6f.large", "a share of a GPU"),
        ("Standard_NV6ads_A10_v5", "a share of a GPU"),
        ("g4-standard-6", "a share of a GPU"),
    ],
)
def test_mig_on_a_gpu_without_it_is_refused_with_what_shares_it_instead(sku, word):
    with pytest.raises(Refusal) as refused:
        share(sku, mig("1g.10gb"))

    assert word in refused.value.what
    assert "time-slicing" in refused.value.way_out


def test_every_gpu_of_the_catalogue_from_a100_on_has_profiles_that_fill_it():
    models = {"A100", "H100", "H100NVL", "H200", "B200", "B300", "GB200", "GB300", "RTXPRO6000", "RTXPRO4500"}
    for sku in SKUS.values():
        profiles = mig_profiles(sku)

        assert bool(profiles) == (sku.gpu_model in models and sku.gpu_count >= 1), sku.name
        for profile, count in profiles.items():
            memory = int(profile.split("g.")[1].partition("gb")[0])
            assert memory * count <= round(sku.gpu_mem_gb_each) * 1.05, (sku.name, profile)


@pytest.mark.parametrize("owner", ["gke", "bottlerocket"])
def test_a_plugin_of_strategy_single_calls_every_instance_a_gpu(owner):
    shared = share("p5.48xlarge", mig("1g.10gb"), owner)

    assert (shared.resource, shared.per_node) == ("nvidia.com/gpu", 56)
    assert (shared.label, shared.entry, shared.owner) == ("", {}, owner)


def test_aks_cuts_the_gpus_of_the_pools_whose_driver_it_owns():
    shared = share("Standard_NC24ads_A100_v4", mig("3g.40gb"), "aks")

    assert (shared.owner, shared.label, shared.profile) == ("aks", "", "3g.40gb")
    assert shared.resource == "nvidia.com/mig-3g.40gb"


@pytest.mark.parametrize(
    ("owner", "sku", "profile"),
    [
        ("aks", "Standard_NC24ads_A100_v4", "1g.20gb"),  # gpuInstanceProfile MIG1g is the plain slice
        ("aks", "Standard_NC24ads_A100_v4", "1g.10gb+me"),
        ("aks", "Standard_ND128isr_GB300_v6", "1g.35gb"),
        ("gke", "a2-highgpu-1g", "1g.10gb"),
        ("gke", "a3-highgpu-8g", "1g.10gb+me"),
        ("gke", "a4x-maxgpu-4g-metal", "1g.35gb"),
        ("bottlerocket", "p6-b200.48xlarge", "1g.23gb"),
    ],
)
def test_what_the_owner_of_the_plugin_does_not_cut_is_refused_and_named(owner, sku, profile):
    with pytest.raises(Refusal) as refused:
        share(sku, mig(profile), owner)

    assert {"aks": "AKS", "gke": "GKE", "bottlerocket": "Bottlerocket"}[owner] in refused.value.what
    assert refused.value.way_out


@pytest.mark.parametrize("kind", ["time-slicing", "mps"])
def test_shares_are_renamed_so_that_nobody_gets_one_unawares(kind):
    shared = share("g6.12xlarge", {"kind": kind, "replicas": 4})

    assert (shared.resource, shared.per_node, shared.per_gpu) == ("nvidia.com/gpu.shared", 16, 4)
    assert (shared.label, shared.config) == ("nvidia.com/device-plugin.config", f"{kind}-4")


def test_drv_7_rename_stands_under_the_kind_of_sharing_and_not_under_flags():
    sliced = share("g6.12xlarge", {"kind": "time-slicing", "replicas": 4})
    processes = share("g6.12xlarge", {"kind": "mps", "replicas": 4})

    resources = [{"name": "nvidia.com/gpu", "replicas": 4}]
    assert sliced.entry == {
        "version": "v1",
        "sharing": {
            "timeSlicing": {
                "failRequestsGreaterThanOne": True,
                "renameByDefault": True,
                "resources": resources,
            }
        },
    }
    assert processes.entry == {
        "version": "v1",
        "sharing": {"mps": {"renameByDefault": True, "resources": resources}},
    }


def test_drv_7_the_name_that_quotas_use_switches_with_rename():
    shared = share("g6.12xlarge", {"kind": "time-slicing", "replicas": 4, "rename": False})

    assert shared.resource == "nvidia.com/gpu"
    assert shared.entry["sharing"]["timeSlicing"]["renameByDefault"] is False
    assert shared.config != share("g6.12xlarge", {"kind": "time-slicing", "replicas": 4}).config


@pytest.mark.parametrize("replicas", [1, 0, -2, 49])
@pytest.mark.parametrize("kind", ["time-slicing", "mps"])
def test_drv_7_one_replica_is_no_sharing_and_more_than_48_is_refused(kind, replicas):
    with pytest.raises(ValidationError, match="replicas"):
        TypeAdapter(Sharing).validate_python({"kind": kind, "replicas": replicas})


def test_gke_calls_a_share_a_gpu_and_refuses_another_name_only_where_it_was_asked_for():
    shared = share("g6.12xlarge", {"kind": "mps", "replicas": 3}, "gke")

    assert (shared.resource, shared.per_node, shared.label) == ("nvidia.com/gpu", 12, "")
    with pytest.raises(Refusal, match=r"nvidia\.com/gpu"):
        share("g6.12xlarge", {"kind": "mps", "replicas": 3, "rename": True}, "gke")


def test_old_gpus_serve_sixteen_clients_by_mps_and_any_number_in_turns():
    with pytest.raises(Refusal, match="MPS") as refused:
        share("p3.2xlarge", {"kind": "mps", "replicas": 17})

    assert "16" in refused.value.way_out
    assert share("p3.2xlarge", {"kind": "mps", "replicas": 16}).per_node == 16
    assert share("p3.2xlarge", {"kind": "time-slicing", "replicas": 17}).per_node == 17
    assert share("g6.xlarge", {"kind": "mps", "replicas": 48}).per_node == 48
