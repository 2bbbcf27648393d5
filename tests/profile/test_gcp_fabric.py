"""GPUDirect on GKE: what each machine has, its networks, what a pod needs, what runs on the nodes."""

from __future__ import annotations

import json

import pytest

from gpuplatform import catalog
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile import node_profile
from gpuplatform.profile.fabric import NoFabric, NvlinkDomain, Roce, Tcpx, Tcpxo
from gpuplatform.profile.gcp import node_daemons, node_networks
from gpuplatform.profile.gcp.daemons import TCPX_PLUGIN, TCPXO_PLUGIN
from gpuplatform.profile.gcp.pod import TCPX_DAEMON, TCPXO_DAEMON

CATALOG = catalog.load()
FABRICS = {
    "a3-highgpu-8g": Tcpx,
    "a3-edgegpu-8g": Tcpx,
    "a3-megagpu-8g": Tcpxo,
    "a3-ultragpu-8g": Roce,
    "a4-highgpu-8g": Roce,
    "a4x-highgpu-4g": NvlinkDomain,
    "a4x-maxgpu-4g-metal": NvlinkDomain,
}


def profile(sku, **changes):
    reserved = {"kind": "reservation", "id": "gpus"}
    asked = {"name": "train", "sku": sku, "purpose": "training", "nodes": {"max": 4}, "capacity": reserved}
    return node_profile(NodePool.model_validate({**asked, **changes}), CATALOG.sku("gcp", sku))


def test_an_nvlink_domain_needs_a_release_of_gke_that_makes_its_networks():
    for sku, kind in FABRICS.items():
        said = [each for each in profile(sku).preconditions if "1.34.1-gke.1829001" in each]
        assert len(said) == (kind is NvlinkDomain)


def interfaces(made):
    return json.loads(made.pod.annotations["networking.gke.io/interfaces"])


@pytest.mark.parametrize(("sku", "kind"), FABRICS.items())
def test_every_machine_with_a_fabric_in_the_catalogue_has_it_here(sku, kind):
    assert isinstance(profile(sku).fabric, kind)
    assert profile(sku, fabric="required").fabric == profile(sku).fabric


def test_no_other_machine_has_one():
    with_fabric = {sku.name for sku in CATALOG.skus("gcp") if sku.fabric != "none"}
    assert with_fabric == set(FABRICS)


@pytest.mark.parametrize("sku", ["g2-standard-48", "a2-highgpu-8g", "g4-standard-384"])
def test_net_5_a_fabric_that_the_machine_has_not_is_refused(sku):
    with pytest.raises(Refusal) as caught:
        profile(sku, fabric="required")
    assert caught.value.where == "node_pools.train.fabric"
    assert sku in caught.value.what


@pytest.mark.parametrize(("sku", "count"), [("a3-highgpu-8g", 4), ("a3-megagpu-8g", 8)])
def test_net_5_a3_machines_have_a_vpc_of_large_packets_for_each_gpu_nic(sku, count):
    networks = node_networks("train", profile(sku).fabric)
    assert len(networks) == count
    assert {network.mtu for network in networks} == {8244}
    assert len({network.vpc for network in networks}) == count
    assert {network.device for network in networks} == {"NetDevice"}
    assert all(network.shared for network in networks)


@pytest.mark.parametrize("sku", ["a3-ultragpu-8g", "a4-highgpu-8g"])
def test_net_5_roce_machines_have_one_more_gvnic_and_eight_nics_in_one_vpc_of_their_zone(sku):
    fabric = profile(sku).fabric
    gvnic, *rdma = node_networks("train", fabric)
    assert fabric.network_profile == "vpc-roce"
    assert (gvnic.device, gvnic.interface) == ("NetDevice", "")
    assert [network.interface for network in rdma] == [f"eth{number}" for number in range(2, 10)]
    assert {(network.device, network.vpc) for network in rdma} == {("RDMA", "train-rdma")}
    assert not any(network.shared for network in (gvnic, *rdma))


def test_gke_makes_the_networks_of_a4x_itself():
    made = profile("a4x-highgpu-4g")
    assert made.fabric.roce.dranet
    assert node_networks("train", made.fabric) == ()
    assert made.labels["cloud.google.com/gke-networking-dra-driver"] == "true"


def test_bare_metal_has_its_nics_without_objects_in_the_cluster():
    networks = node_networks("train", profile("a4x-maxgpu-4g-metal").fabric)
    assert len(networks) == 9
    assert {(network.name, network.interface) for network in networks} == {("", "")}


@pytest.mark.parametrize("sku", ["a3-megagpu-8g", "a3-ultragpu-8g", "a4x-highgpu-4g"])
def test_a_fabric_is_inside_one_zone(sku):
    with pytest.raises(Refusal) as caught:
        profile(sku, zones=("us-east4-a", "us-east4-b"))
    assert caught.value.where == "node_pools.train.zones"
    assert isinstance(profile(sku, zones=("us-east4-b",)).fabric, FABRICS[sku])
    assert isinstance(profile(sku, zones=("us-east4-a", "us-east4-b"), fabric="none").fabric, NoFabric)


def test_ubuntu_has_no_gpudirect_and_training_says_so():
    with pytest.raises(Refusal, match="needs Container-Optimized OS"):
        profile("a3-megagpu-8g", image="ubuntu")
    assert isinstance(profile("a3-megagpu-8g", image="ubuntu", fabric="none").fabric, NoFabric)


@pytest.mark.parametrize(
    ("sku", "count"), [("a3-highgpu-8g", 4), ("a3-megagpu-8g", 8), ("a3-ultragpu-8g", 8)]
)
def test_a_pod_s_interfaces_are_the_cluster_s_networks(sku, count):
    made = profile(sku)
    first, *others = interfaces(made)
    assert first == {"interfaceName": "eth0", "network": "default"}
    assert len(others) == count
    names = {network.name for network in node_networks("train", made.fabric)}
    assert {other["network"] for other in others} <= names
    assert made.pod.annotations["networking.gke.io/default-interface"] == "eth0"


@pytest.mark.parametrize(
    ("sku", "container", "daemon"),
    [("a3-highgpu-8g", "tcpx-daemon", TCPX_DAEMON), ("a3-megagpu-8g", "tcpxo-daemon", TCPXO_DAEMON)],
)
def test_the_receive_daemon_is_a_sidecar_that_is_given_its_devices(sku, container, daemon):
    made = profile(sku)
    (sidecar,) = made.pod.init_containers
    assert (sidecar["name"], sidecar["image"], sidecar["restartPolicy"]) == (container, daemon, "Always")
    assert "privileged" not in sidecar["securityContext"]
    devices = made.pod.annotations[f"devices.gke.io/container.{container}"]
    assert devices.count("- path: /dev/nvidia") == 10
    volumes = {volume["name"] for volume in made.pod.volumes}
    mounted = [*sidecar["volumeMounts"], *made.pod.mounts]
    assert {mount["name"] for mount in mounted} == volumes


@pytest.mark.parametrize(
    ("sku", "variable", "value"),
    [
        ("a3-highgpu-8g", "NCCL_GPUDIRECTTCPX_SOCKET_IFNAME", "eth1,eth2,eth3,eth4"),
        (
            "a3-highgpu-8g",
            "NCCL_GPUDIRECTTCPX_TX_BINDINGS",
            "eth1:8-21,112-125;eth2:8-21,112-125;eth3:60-73,164-177;eth4:60-73,164-177",
        ),
        ("a3-megagpu-8g", "NCCL_FASTRAK_IFNAME", "eth1,eth2,eth3,eth4,eth5,eth6,eth7,eth8"),
        ("a3-ultragpu-8g", "NCCL_NET", "gIB"),
        ("a4-highgpu-8g", "NCCL_NET", "gIB"),
        ("a4x-highgpu-4g", "NCCL_NET", "gIB"),
    ],
)
def test_nccl_is_told_which_network_to_use(sku, variable, value):
    assert profile(sku).pod.env[variable] == value


def test_a_pool_without_fabric_wires_nothing_but_its_gpus():
    made = profile("a3-megagpu-8g", fabric="none")
    assert made.pod.resources == {"nvidia.com/gpu": "8"}
    assert (made.pod.env, made.pod.annotations, made.pod.init_containers) == ({}, {}, ())
    assert made.flavor.topology_levels == ()
    assert made.bandwidth is None


def test_a_pod_in_an_nvlink_domain_claims_its_nics_and_a_channel():
    made = profile("a4x-highgpu-4g")
    kinds = {each["kind"]: each for each in made.pod.objects}
    request = kinds["ResourceClaimTemplate"]["spec"]["spec"]["devices"]["requests"][0]["exactly"]
    assert request == {"deviceClassName": "mrdma.google.com", "allocationMode": "ExactCount", "count": 4}
    templates = {
        kinds["ResourceClaimTemplate"]["metadata"]["name"],
        kinds["ComputeDomain"]["spec"]["channel"]["resourceClaimTemplate"]["name"],
    }
    assert {claim["resourceClaimTemplateName"] for claim in made.pod.claims} == templates
    assert made.device_plugins == ("gke", "dra")


@pytest.mark.parametrize(
    ("sku", "floor"),
    [
        ("a3-highgpu-8g", 25),
        ("a3-megagpu-8g", 30),
        ("a3-ultragpu-8g", 100),
        ("a4-highgpu-8g", 100),
        ("a4x-highgpu-4g", 200),
    ],
)
def test_the_floor_is_the_average_that_google_s_own_tests_ask_for(sku, floor):
    bandwidth = profile(sku).bandwidth
    assert (bandwidth.floor, bandwidth.metric) == (floor, "average")
    assert bandwidth.source.startswith("https://github.com/GoogleCloudPlatform/cluster-toolkit/")


def test_nodes_with_a_fabric_are_scheduled_by_their_place():
    assert profile("a3-ultragpu-8g").flavor.topology_levels == (
        "cloud.google.com/gce-topology-block",
        "cloud.google.com/gce-topology-subblock",
        "cloud.google.com/gce-topology-host",
        "kubernetes.io/hostname",
    )


@pytest.mark.parametrize(
    ("sku", "daemons"),
    [
        ("a3-highgpu-8g", ["device-injector", "nccl-tcpx-installer"]),
        ("a3-megagpu-8g", ["device-injector", "nccl-tcpxo-installer"]),
        ("a3-ultragpu-8g", ["nccl-rdma-installer"]),
        ("a4x-highgpu-4g", ["nccl-rdma-installer-arm64"]),
        ("a4x-maxgpu-4g-metal", ["asapd-lite"]),
    ],
)
def test_the_nodes_get_the_plugin_of_their_fabric(sku, daemons):
    made = node_daemons([profile(sku)])
    assert [each["metadata"]["name"] for each in made] == daemons
    for each in made:
        spec = each["spec"]["template"]["spec"]
        (term,) = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
            "nodeSelectorTerms"
        ]
        assert term["matchExpressions"][0]["values"] == [profile(sku).accelerator]
        # DRV-5: whatever a pool is tainted with, these come too.
        assert spec["tolerations"] == [{"operator": "Exists"}]
        volumes = {volume["name"] for volume in spec["volumes"]}
        containers = [*spec.get("initContainers", ()), *spec["containers"]]
        mounted = {mount["name"] for container in containers for mount in container.get("volumeMounts", ())}
        assert mounted == volumes
        assert all(":" in container["image"] for container in containers)
        assert not any(container["image"].endswith(":latest") for container in containers)


def test_two_pools_of_a_machine_share_their_daemons():
    one, two = profile("a3-megagpu-8g"), profile("a3-megagpu-8g", name="more")
    assert node_daemons([one, two]) == node_daemons([one])
    both = node_daemons([one, profile("a3-highgpu-8g", name="high")])
    names = [each["metadata"]["name"] for each in both]
    assert names == ["device-injector", "nccl-tcpx-installer", "nccl-tcpxo-installer"]


def test_pools_without_fabric_need_no_daemon():
    assert node_daemons([profile("a3-megagpu-8g", fabric="none")]) == ()


def test_plugin_and_receive_daemon_are_of_one_release():
    assert (TCPX_PLUGIN.rpartition(":")[2], TCPX_DAEMON.rpartition(":")[2]) == ("v3.1.9", "v2.0.12")
    assert (TCPXO_PLUGIN.rpartition(":")[2], TCPXO_DAEMON.rpartition(":")[2]) == ("v1.0.15", "v1.0.21")
