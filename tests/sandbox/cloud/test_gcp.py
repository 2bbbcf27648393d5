import pytest

from gpuplatform.sandbox.sdk_types import UNKNOWN

NETWORK = "gcp:compute/network:Network"
SUBNET = "gcp:compute/subnetwork:Subnetwork"
CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"


@pytest.fixture
def gcp(client):
    return client("gcp", project="ml", region="us-central1")


@pytest.fixture
def network(gcp):
    return gcp.up(NETWORK, "net", {"autoCreateSubnetworks": False})


@pytest.fixture
def subnet(gcp, network):
    ranges = [{"rangeName": "pods", "ipCidrRange": "10.4.0.0/14"}]
    inputs = {
        "network": network.outputs["selfLink"],
        "ipCidrRange": "10.0.0.0/20",
        "secondaryIpRanges": ranges,
    }
    return gcp.up(SUBNET, "nodes", inputs)


@pytest.fixture
def cluster(gcp, network, subnet):
    inputs = {
        "name": "train",
        "location": "us-central1",
        "network": network.id,
        "subnetwork": subnet.id,
        "ipAllocationPolicy": {"clusterSecondaryRangeName": "pods"},
        "minMasterVersion": "1.35",
        "initialNodeCount": 1.0,
        "removeDefaultNodePool": True,
        "deletionProtection": False,
    }
    return gcp.up(CLUSTER, "train", inputs)


def pool(gcp, cluster, name="gpu", **changes):
    config = {
        "machineType": "g2-standard-8",
        "guestAccelerators": [{"type": "nvidia-l4", "count": 1.0}],
        **changes.pop("nodeConfig", {}),
    }
    return gcp.up(
        POOL, name, {"cluster": cluster.id, "nodeConfig": config, "initialNodeCount": 0.0, **changes}
    )


def test_a_cluster_has_the_outputs_that_programs_build_on(cluster):
    outputs = cluster.outputs

    assert cluster.id == "projects/ml/locations/us-central1/clusters/train"
    assert outputs["selfLink"] == f"https://container.googleapis.com/v1/{cluster.id}"
    assert outputs["endpoint"].startswith("192.0.2.")
    assert outputs["masterAuth"]["clusterCaCertificate"]
    assert outputs["masterVersion"].startswith("1.35.")


def test_a_preview_knows_nothing_computed(gcp):
    planned = gcp.preview(CLUSTER, "c", {"location": "us-central1", "network": UNKNOWN})

    assert planned["endpoint"] == planned["selfLink"] == planned["masterAuth"] == UNKNOWN
    assert planned["location"] == "us-central1"


def test_made_up_names_fit_the_rules(gcp, network):
    assert network.inputs["name"].startswith("net-")
    assert "1 to 40" in gcp.check(POOL, "p", {"cluster": "c", "name": "x" * 41}).failures["name"]
    assert "first a letter" in gcp.check(NETWORK, "n", {"name": "Upper"}).failures["name"]
    account = gcp.check("gcp:serviceaccount/account:Account", "a", {"accountId": "node"})
    assert "6 to 30" in account.failures["accountId"]


def test_a_network_is_found_by_link_path_and_name(gcp, network):
    for index, way in enumerate((network.outputs["selfLink"], network.id, network.outputs["name"])):
        made = gcp.up(SUBNET, f"s{index}", {"network": way, "ipCidrRange": f"10.{index}.0.0/16"})
        assert made.id.startswith("projects/ml/regions/us-central1/subnetworks/s")


def test_what_is_named_must_exist(gcp, refusal):
    with refusal("Error 404", "'nope'"):
        gcp.up(SUBNET, "s", {"network": "nope", "ipCidrRange": "10.0.0.0/24"})
    with refusal("Error 404", "clusters/nope"):
        gcp.up(POOL, "p", {"cluster": "nope", "location": "us-central1"})


@pytest.mark.usefixtures("subnet")
def test_ranges_do_not_overlap_also_secondary_ones(gcp, network, refusal):
    with refusal("Invalid IPCidrRange: 10.5.0.0/20 conflicts"):
        gcp.up(SUBNET, "b", {"network": network.id, "ipCidrRange": "10.5.0.0/20"})


def test_a_cluster_names_ranges_that_its_subnet_has(gcp, network, subnet, refusal):
    inputs = {"location": "us-central1", "network": network.id, "subnetwork": subnet.id}
    with refusal("secondary range 'podz' does not exist"):
        gcp.up(CLUSTER, "c", {**inputs, "ipAllocationPolicy": {"clusterSecondaryRangeName": "podz"}})


def test_a_protected_cluster_is_not_deleted(gcp, network, subnet, refusal):
    inputs = {"location": "us-central1", "network": network.id, "subnetwork": subnet.id}
    protected = gcp.up(CLUSTER, "c", inputs)

    with refusal("deletion_protection"):
        gcp.delete(protected)
    gcp.update(protected, deletionProtection=False)
    gcp.delete(protected)
    assert gcp.read(protected).id == ""


def test_a_cluster_takes_its_pools_along_and_a_used_network_stays(gcp, cluster, network, subnet, refusal):
    made = pool(gcp, cluster)

    with refusal("already being used"):
        gcp.delete(network)
    with refusal("already being used"):
        gcp.delete(subnet)
    gcp.delete(cluster)
    assert gcp.read(made).id == ""
    gcp.delete(subnet)
    gcp.delete(network)


@pytest.mark.parametrize(
    ("config", "replaced"),
    [
        ({"guestAccelerators": [{"type": "nvidia-l4", "count": 2.0}]}, ["nodeConfig"]),
        ({"spot": True}, ["nodeConfig"]),
        ({"machineType": "g2-standard-16"}, []),
        ({"labels": {"a": "b"}}, []),
        ({"gvnic": {"enabled": True}}, []),
        ({"kubeletConfig": {"cpuManagerPolicy": "static"}}, []),
        ({"serviceAccount": "default"}, ["nodeConfig"]),
        ({"reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}}, ["nodeConfig"]),
        ({"taints": [{"key": "a", "value": "b", "effect": "NO_SCHEDULE"}]}, []),
    ],
)
def test_a_change_of_node_config_updates_or_replaces_as_the_provider_says(gcp, cluster, config, replaced):
    made = pool(gcp, cluster)
    base = {"machineType": "g2-standard-8", "guestAccelerators": [{"type": "nvidia-l4", "count": 1.0}]}

    found = gcp.diff(made, nodeConfig={**base, **config})

    assert found.changes == found.DIFF_SOME
    assert list(found.replaces) == replaced


@pytest.mark.parametrize(
    ("changes", "replaced"),
    [
        ({"enableMultiNetworking": True}, []),
        (
            {"ipAllocationPolicy": {"clusterSecondaryRangeName": "pods", "stackType": "IPV4_IPV6"}},
            [],
        ),
        ({"ipAllocationPolicy": {"clusterSecondaryRangeName": "other"}}, ["ipAllocationPolicy"]),
        ({"masterAuth": {"clientCertificateConfig": {"issueClientCertificate": True}}}, ["masterAuth"]),
        ({"minMasterVersion": "1.36"}, []),
    ],
)
def test_a_change_of_a_cluster_updates_or_replaces_as_the_provider_says(gcp, cluster, changes, replaced):
    found = gcp.diff(cluster, **changes)

    assert found.changes == found.DIFF_SOME
    assert list(found.replaces) == replaced


def test_a_new_maximum_updates_a_pool(gcp, cluster):
    made = pool(gcp, cluster, autoscaling={"minNodeCount": 0.0, "maxNodeCount": 2.0})

    assert not gcp.diff(made, autoscaling={"minNodeCount": 0.0, "maxNodeCount": 4.0}).replaces
    assert list(gcp.diff(made, initialNodeCount=1.0).replaces) == ["initialNodeCount"]


def test_limits_that_contradict_are_refused_in_preview(gcp):
    def failures(**changes):
        return gcp.check(POOL, "p", {"cluster": "c", **changes}).failures

    assert "autoscaling.minNodeCount" in failures(autoscaling={"minNodeCount": 3.0, "maxNodeCount": 1.0})
    assert "autoscaling" in failures(autoscaling={"minNodeCount": 0.0, "totalMaxNodeCount": 1.0})
    assert (
        "reservation affinity"
        in failures(queuedProvisioning={"enabled": True})["nodeConfig.reservationAffinity"]
    )


def test_net_5_extra_networks_need_a_cluster_made_for_them(gcp, cluster, network, subnet, refusal):
    extra = {"additionalNodeNetworkConfigs": [{"network": network.outputs["name"], "subnetwork": subnet.id}]}
    with refusal("multi-networking"):
        pool(gcp, cluster, networkConfig=extra)


def test_nodes_run_as_a_service_account_that_exists(gcp, cluster, refusal):
    account = gcp.up("gcp:serviceaccount/account:Account", "n", {"accountId": "gpu-nodes"})

    assert account.outputs["member"] == "serviceAccount:gpu-nodes@ml.iam.gserviceaccount.com"
    assert pool(gcp, cluster, "a", nodeConfig={"serviceAccount": account.outputs["email"]}).id
    with refusal("Service account nobody@ml"):
        pool(gcp, cluster, "b", nodeConfig={"serviceAccount": "nobody@ml.iam.gserviceaccount.com"})


def test_a_machine_type_that_is_not_there_is_refused(gcp, cluster, refusal):
    with refusal("'g2-standard-88' does not exist"):
        pool(gcp, cluster, nodeConfig={"machineType": "g2-standard-88"})


def test_functions_answer(gcp):
    assert gcp.invoke("gcp:organizations/getClientConfig:getClientConfig")["project"] == "ml"
    assert gcp.invoke("gcp:organizations/getProject:getProject")["number"].isdigit()
    versions = gcp.invoke("gcp:container/getEngineVersions:getEngineVersions", versionPrefix="1.35.")
    assert versions["latestMasterVersion"].startswith("1.35.")
    assert gcp.invoke("gcp:compute/getZones:getZones")["names"][0] == "us-central1-a"


def test_a_machine_type_that_its_region_does_not_have_is_refused(gcp, network, refusal):
    place = {"location": "africa-south1", "network": network.id}
    far = gcp.up(CLUSTER, "far", place)
    with refusal("'a3-highgpu-8g' does not exist in region 'africa-south1'"):
        pool(gcp, far, nodeConfig={"machineType": "a3-highgpu-8g"})


def test_protection_can_be_lifted_past_the_providers(gcp, network, subnet, world):
    inputs = {"location": "us-central1", "network": network.id, "subnetwork": subnet.id}
    protected = gcp.up(CLUSTER, "c", inputs)

    (lifted,) = world.lift_protection("dev")

    assert lifted.id == protected.id
    gcp.delete(protected)
    assert gcp.read(protected).id == ""


QUEUED = {
    "nodeConfig": {"flexStart": True, "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}},
    "queuedProvisioning": {"enabled": True},
    "management": {"autoRepair": False, "autoUpgrade": True},
    "autoscaling": {"totalMinNodeCount": 0.0, "totalMaxNodeCount": 4.0},
}


def refused(gcp, **changes):
    config = {"machineType": "a3-megagpu-8g", **changes.pop("nodeConfig", {})}
    return gcp.check(POOL, "gpu", {"cluster": "train", "nodeConfig": config, **changes}).failures


def test_gke_3_a_queued_pool_as_google_takes_it(gcp):
    assert not refused(gcp, **QUEUED)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"nodeConfig": {"flexStart": True}}, "nodeConfig.reservationAffinity"),
        ({"management": {"autoRepair": True}}, "management.autoRepair"),
        (
            {"autoscaling": {"totalMinNodeCount": 1.0, "totalMaxNodeCount": 4.0}},
            "autoscaling.totalMinNodeCount",
        ),
        ({"placementPolicy": {"type": "COMPACT"}}, "placementPolicy"),
        ({"nodeConfig": {**QUEUED["nodeConfig"], "spot": True}}, "nodeConfig.spot"),
        ({"nodeCount": 2.0}, "nodeCount"),
    ],
)
def test_gke_3_what_queued_provisioning_excludes_is_refused(gcp, changes, path):
    assert path in refused(gcp, **{**QUEUED, **changes})


def test_a_release_channel_takes_no_pool_without_upgrades(gcp, cluster, refusal):
    with refusal("Auto_upgrade must be true when release_channel REGULAR is set"):
        pool(gcp, cluster, management={"autoRepair": True, "autoUpgrade": False})


def test_compact_placement_is_inside_one_zone(gcp):
    zones = ["us-central1-a", "us-central1-b"]

    assert "placementPolicy" in refused(gcp, placementPolicy={"type": "COMPACT"}, nodeLocations=zones)
    assert not refused(gcp, placementPolicy={"type": "COMPACT"}, nodeLocations=zones[:1])


@pytest.mark.parametrize(("version", "wrong"), [("DEFAULT", True), ("INSTALLATION_DISABLED", False)])
def test_drv_4_googles_driver_with_googles_plugin_off_is_refused(gcp, version, wrong):
    gpus = [{"type": "nvidia-l4", "count": 1.0, "gpuDriverInstallationConfig": {"gpuDriverVersion": version}}]
    labels = {"gke-no-default-nvidia-gpu-device-plugin": "true"}
    failures = refused(gcp, nodeConfig={"labels": labels, "guestAccelerators": gpus})

    assert ("nodeConfig.labels" in failures) is wrong


def test_an_rdma_network_is_of_one_zone_and_takes_no_firewall_rule(gcp, refusal):
    profile = "projects/ml/global/networkProfiles/us-central1-b-vpc-roce"
    rdma = gcp.up(NETWORK, "rdma", {"autoCreateSubnetworks": False, "networkProfile": profile})

    assert "networkProfile" in gcp.check(NETWORK, "n", {"networkProfile": "vpc-roce"}).failures
    assert "mtu" in gcp.check(NETWORK, "n", {"mtu": 9000.0}).failures
    with refusal("Firewall rules are not supported"):
        gcp.up("gcp:compute/firewall:Firewall", "f", {"network": rdma.id, "allows": [{"protocol": "tcp"}]})
