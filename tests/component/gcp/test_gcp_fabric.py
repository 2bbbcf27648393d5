"""The networks of GPU traffic, from a profile to VPCs, subnets and the cluster's objects."""

from __future__ import annotations

import json
from datetime import date

import pytest

from gpuplatform import catalog
from gpuplatform.config import Platform
from gpuplatform.errors import Refusal
from gpuplatform.plan.recorder import record
from gpuplatform.platform.decision import decide
from gpuplatform.platform.gcp import build

VPC = "gcp:compute/network:Network"
SUBNET = "gcp:compute/subnetwork:Subnetwork"
PARAMETERS = "kubernetes:networking.gke.io/v1:GKENetworkParamSet"
NETWORK = "kubernetes:networking.gke.io/v1:Network"
RESERVED = {"kind": "reservation", "id": "gpus"}
CONFIG = {
    "name": "vision",
    "environment": "dev",
    "owner": "ml@example.com",
    "cost_center": "4711",
    "cloud": {"provider": "gcp", "region": "us-central1", "project": "example-ml-dev"},
    "network": {"cidr": "10.10.0.0/16", "zones": ["us-central1-a", "us-central1-b"]},
    "cluster": {"kubernetes_version": "1.35", "admins": ["group:admins@example.com"]},
}


def pool(sku, name="train", **changes):
    asked = {"name": name, "sku": sku, "purpose": "training", "nodes": {"max": 4}, "capacity": RESERVED}
    return {**asked, "zones": ["us-central1-b"], **changes}


def decided(*pools):
    config = Platform.model_validate_json(json.dumps({**CONFIG, "node_pools": pools}))
    return decide(config, catalog.load(), date(2026, 12, 1))


def recorded(*pools):
    decision = decided(*pools)
    return record(lambda: build(decision))


def inputs(recording, kind):
    return {r.inputs.get("name") or r.inputs["metadata"]["name"]: r.inputs for r in recording.of_type(kind)}


def extra(recording, name="train"):
    config = recording.named(f"pool-{name}-gpu-pool").inputs["networkConfig"]
    return [(each["network"], each["subnetwork"]) for each in config["additionalNodeNetworkConfigs"]]


@pytest.mark.parametrize(("sku", "count"), [("a3-highgpu-8g", 4), ("a3-megagpu-8g", 8)])
def test_net5_each_gpu_nic_of_an_a3_has_a_vpc_of_large_packets_and_a_subnet_of_its_own(sku, count):
    recording = recorded(pool(sku))
    vpcs = {name: each for name, each in inputs(recording, VPC).items() if "gpu" in name}

    assert len(vpcs) == count
    assert {each["mtu"] for each in vpcs.values()} == {8244}
    assert len(extra(recording)) >= count
    assert len(set(extra(recording))) == len(extra(recording))
    assert {network for network, _ in extra(recording)} == set(vpcs)
    subnets = {each["ipCidrRange"] for name, each in inputs(recording, SUBNET).items() if "gpu" in name}
    assert len(subnets) == count


@pytest.mark.parametrize("sku", ["a3-highgpu-8g", "a3-megagpu-8g", "a3-ultragpu-8g"])
def test_net5_the_cluster_is_made_with_multi_networking_on_dataplane_v2(sku):
    cluster = recorded(pool(sku)).named("cluster-gke").inputs

    assert cluster["enableMultiNetworking"] is True
    assert cluster["datapathProvider"] == "ADVANCED_DATAPATH"
    nodes = recorded(pool(sku)).named("pool-train-gpu-pool").inputs["nodeConfig"]
    assert nodes["gvnic"] == {"enabled": True}


def test_a_cluster_without_a_fabric_asks_for_no_multi_networking():
    recording = recorded(pool("g2-standard-48", purpose="inference", capacity={"kind": "spot"}))

    assert recording.named("cluster-gke").inputs["enableMultiNetworking"] is False
    assert not recording.of_type(NETWORK)
    assert not recording.of_type("kubernetes:apps/v1:DaemonSet")


@pytest.mark.parametrize("sku", ["a3-ultragpu-8g", "a4-highgpu-8g"])
def test_roce_has_one_vpc_of_the_zones_profile_with_a_subnet_for_each_nic(sku):
    recording = recorded(pool(sku))
    vpcs = inputs(recording, VPC)
    rdma = vpcs["vision-dev-train-rdma"]

    assert rdma["networkProfile"] == "projects/example-ml-dev/global/networkProfiles/us-central1-b-vpc-roce"
    assert "mtu" not in rdma
    assert "networkProfile" not in vpcs["vision-dev-train-gvnic"]
    first, *others = extra(recording)
    assert first == ("vision-dev-train-gvnic", "vision-dev-train-gvnic")
    assert others == [("vision-dev-train-rdma", f"vision-dev-train-rdma-{number}") for number in range(8)]


def test_an_rdma_network_gets_no_firewall_rule_and_every_other_lets_its_own_nodes_in():
    recording = recorded(pool("a3-ultragpu-8g"), pool("a3-megagpu-8g", name="mega"))
    rules = inputs(recording, "gcp:compute/firewall:Firewall")
    subnets = {name: each["ipCidrRange"] for name, each in inputs(recording, SUBNET).items()}
    vpcs = set(inputs(recording, VPC)) - {"vision-dev"}

    assert {name.removesuffix("-inside") for name in rules} - {"vision-dev-webhooks"} == vpcs - {
        "vision-dev-train-rdma"
    }
    for name in vpcs - {"vision-dev-train-rdma"}:
        assert rules[f"{name}-inside"]["sourceRanges"] == [subnets[name]]


@pytest.mark.parametrize(("sku", "device"), [("a3-megagpu-8g", "NetDevice"), ("a3-ultragpu-8g", "RDMA")])
def test_each_subnet_is_a_network_of_the_cluster(sku, device):
    recording = recorded(pool(sku))
    parameters, networks = inputs(recording, PARAMETERS), inputs(recording, NETWORK)

    assert set(parameters) == set(networks)
    assert len(networks) == len(extra(recording))
    assert {(each["spec"]["vpc"], each["spec"]["vpcSubnet"]) for each in parameters.values()} == set(
        extra(recording)
    )
    assert device in {each["spec"]["deviceMode"] for each in parameters.values()}
    for name, each in networks.items():
        assert each["spec"] == {
            "type": "Device",
            "parametersRef": {"group": "networking.gke.io", "kind": "GKENetworkParamSet", "name": name},
        }


def test_a_pods_annotation_names_networks_of_the_cluster():
    (profile,) = decided(pool("a3-ultragpu-8g")).profiles
    asked = json.loads(profile.pod.annotations["networking.gke.io/interfaces"])
    made = inputs(recorded(pool("a3-ultragpu-8g")), NETWORK)

    assert {each["network"] for each in asked} - {"default"} <= set(made)


def test_objects_come_before_the_pool_and_go_with_the_cluster():
    recording = recorded(pool("a3-megagpu-8g"))
    cluster = recording.named("cluster-gke").urn
    networks = recording.of_type(NETWORK)

    assert {r.urn for r in networks} <= set(recording.named("pool-train-gpu-pool").dependencies)
    for each in (*networks, *recording.of_type(PARAMETERS)):
        assert each.deleted_with == cluster
        assert each.provider == recording.named("cluster-kubernetes").urn


def test_two_tcpxo_pools_share_the_networks_and_two_roce_pools_do_not():
    one = recorded(pool("a3-megagpu-8g"))
    two = recorded(pool("a3-megagpu-8g"), pool("a3-megagpu-8g", name="more"))
    assert len(two.of_type(VPC)) == len(one.of_type(VPC))
    assert extra(two, "more") == extra(two, "train")

    roce = recorded(pool("a3-ultragpu-8g"), pool("a4-highgpu-8g", name="more", zones=["us-central1-a"]))
    assert not set(extra(roce, "more")) & set(extra(roce, "train"))
    profiles = {each["networkProfile"] for each in inputs(roce, VPC).values() if "networkProfile" in each}
    assert {profile.rpartition("/")[2] for profile in profiles} == {
        "us-central1-a-vpc-roce",
        "us-central1-b-vpc-roce",
    }


@pytest.mark.parametrize("sku", ["a3-megagpu-8g", "a3-ultragpu-8g"])
def test_one_more_pool_changes_nothing_that_is_there(sku):
    before = {r.urn: r.inputs for r in recorded(pool(sku)).resources}
    after = {r.urn: r.inputs for r in recorded(pool(sku), pool(sku, name="more")).resources}

    assert {urn: after[urn] for urn in before} == before
    assert set(after) > set(before)


def test_gke_makes_the_networks_of_an_nvlink_rack_and_a_policy_makes_it_one_domain():
    recording = recorded(pool("a4x-highgpu-4g"))
    inputs_ = recording.named("pool-train-gpu-pool").inputs
    (policy,) = recording.of_type("gcp:compute/resourcePolicy:ResourcePolicy")

    assert inputs_["networkConfig"] == {"acceleratorNetworkProfile": "auto"}
    assert policy.inputs["workloadPolicy"] == {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "1x72"}
    assert inputs_["placementPolicy"] == {"type": "COMPACT", "policyName": policy.inputs["name"]}
    assert inputs_["nodeConfig"]["diskType"] == "hyperdisk-balanced"
    assert recording.named("cluster-gke").inputs["enableMultiNetworking"] is False
    assert len(recording.of_type(VPC)) == 1


def test_bare_metal_joins_a_cluster_without_shielded_nodes():
    recording = recorded(pool("a4x-maxgpu-4g-metal"))
    config = recording.named("pool-train-gpu-pool").inputs["nodeConfig"]

    assert recording.named("cluster-gke").inputs["enableShieldedNodes"] is False
    assert recorded(pool("a4x-highgpu-4g")).named("cluster-gke").inputs["enableShieldedNodes"] is True
    assert "shieldedInstanceConfig" not in config
    assert config["linuxNodeConfig"] == {"hugepagesConfig": {"hugepageSize2m": 4096}}
    rdma = [each for each in extra(recording) if each[0].endswith("rdma")]
    assert rdma == [("vision-dev-train-rdma", "default-subnet-1-vision-dev-train-rdma")] * 8
    profile = inputs(recording, VPC)["vision-dev-train-rdma"]["networkProfile"]
    assert profile.endswith("us-central1-b-vpc-roce-metal")


@pytest.mark.parametrize("sku", ["a3-megagpu-8g", "a3-ultragpu-8g", "a4x-highgpu-4g"])
def test_a_fabric_in_all_of_the_networks_zones_is_refused_before_anything_is_made(sku):
    made = []
    decision = decided(pool(sku, zones=None))

    def program():
        with pytest.raises(Refusal) as refused:
            build(decision)
        made.append(refused.value)

    recording = record(program)

    assert recording.resources == ()
    assert made[0].where == "node_pools.train.zones"
    assert "zones: [us-central1-a]" in made[0].way_out


def test_the_nodes_daemons_are_on_the_cluster_once_and_before_the_operator_needs_them():
    recording = recorded(pool("a3-megagpu-8g"), pool("a3-megagpu-8g", name="more"))
    daemons = {r.inputs["metadata"]["name"]: r for r in recording.of_type("kubernetes:apps/v1:DaemonSet")}

    assert set(daemons) == {"device-injector", "nccl-tcpxo-installer"}
    for each in daemons.values():
        assert each.inputs["metadata"]["namespace"] == "kube-system"
        assert each.deleted_with == recording.named("cluster-gke").urn
        assert each.provider == recording.named("cluster-kubernetes").urn


def test_the_operators_driver_on_container_optimized_os_comes_from_googles_installer():
    recording = recorded(
        pool("g2-standard-48", purpose="inference", capacity={"kind": "spot"}, driver="operator")
    )
    (daemon,) = recording.of_type("kubernetes:apps/v1:DaemonSet")

    assert daemon.inputs["metadata"]["name"] == "nvidia-driver-installer"
