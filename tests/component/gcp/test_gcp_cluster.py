"""The GKE cluster: private, its own identity, nobody let in who is not named."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from gpuplatform.errors import Refusal
from gpuplatform.gcp import GcpNetworkIds

CLUSTER = "gcp:container/cluster:Cluster"
IAM = "gcp:projects/iAMMember:IAMMember"
POOL = "gcp:container/nodePool:NodePool"
PATH = "projects/example-ml/locations/us-east4/clusters/vision-prod"


def gke(recording):
    (cluster,) = recording.of_type(CLUSTER)
    return cluster


def test_it_is_regional_private_and_vpc_native_with_dataplane_v2(environment):
    inputs = gke(environment()).inputs

    assert inputs["location"] == "us-east4"
    assert inputs["nodeLocations"] == ["us-east4-a", "us-east4-b"]
    assert inputs["privateClusterConfig"]["enablePrivateNodes"] is True
    assert inputs["networkingMode"] == "VPC_NATIVE"
    assert inputs["datapathProvider"] == "ADVANCED_DATAPATH"
    assert inputs["ipAllocationPolicy"] == {
        "clusterSecondaryRangeName": "pods",
        "servicesSecondaryRangeName": "services",
    }


def test_the_api_answers_listed_addresses_only(environment):
    inputs = gke(environment()).inputs

    assert inputs["privateClusterConfig"]["enablePrivateEndpoint"] is False
    networks = inputs["masterAuthorizedNetworksConfig"]
    assert [block["cidrBlock"] for block in networks["cidrBlocks"]] == ["198.51.100.0/24"]
    assert networks["gcpPublicCidrsAccessEnabled"] is False


def test_without_listed_addresses_the_api_has_no_public_one(environment, cloud):
    recording = environment(cluster={"api_public_cidrs": ()}, computed=cloud)
    inputs = gke(recording).inputs

    assert inputs["privateClusterConfig"]["enablePrivateEndpoint"] is True
    assert inputs["masterAuthorizedNetworksConfig"]["cidrBlocks"] == []
    assert recording.stack_outputs["kubeconfig_command"].endswith(" --internal-ip")


def test_an_api_outside_the_network_only_is_refused_with_the_path(environment):
    with pytest.raises(Refusal) as refused:
        environment(cluster={"api_private": False})

    assert str(refused.value).startswith("cluster.api_access.private: ")
    assert "way out" in str(refused.value)


def test_nobody_enters_by_certificate_or_unnamed(environment):
    inputs = gke(environment()).inputs

    assert inputs["masterAuth"]["clientCertificateConfig"]["issueClientCertificate"] is False
    assert inputs["anonymousAuthenticationConfig"] == {"mode": "LIMITED"}


def test_pods_have_identities_of_the_projects_pool(environment):
    assert gke(environment()).inputs["workloadIdentityConfig"] == {"workloadPool": "example-ml.svc.id.goog"}


def test_nodes_run_as_an_account_of_their_own_with_the_least_role(environment, cloud):
    recording = environment(computed=cloud)
    email = "vision-prod-nodes@example-ml.iam.gserviceaccount.com"

    roles = {m.inputs["role"] for m in recording.of_type(IAM) if email in m.inputs["member"]}
    assert roles == {"roles/container.defaultNodeServiceAccount"}
    for pool in recording.of_type(POOL):
        assert pool.inputs["nodeConfig"]["serviceAccount"] == email
    assert gke(recording).inputs["nodeConfig"]["serviceAccount"] == email


def test_nodes_come_after_their_accounts_role(environment):
    recording = environment()
    role = recording.named("cluster-node-role")

    for resource in (*recording.of_type(POOL), gke(recording)):
        assert role.urn in resource.dependencies, resource.name


def test_each_admin_is_granted_by_name_and_not_by_place(environment):
    admins = ("user:b@example.com", "group:a@example.com")
    there = environment(cluster={"admins": admins})
    back = environment(cluster={"admins": admins[::-1]})

    def granted(recording):
        return {m.urn: m.inputs["member"] for m in recording.of_type(IAM) if "-admin-" in m.name}

    assert granted(there) == granted(back)
    assert set(granted(there).values()) == set(admins)
    assert {m.inputs["role"] for m in there.of_type(IAM) if "-admin-" in m.name} == {"roles/container.admin"}


def test_who_looks_at_the_cluster_is_a_member_of_its_own(environment):
    viewers = ("serviceAccount:b@example-ml.iam.gserviceaccount.com", "group:lookers@example.com")

    def granted(*members):
        recording = environment(cluster={"viewers": members})
        return {m.urn: m.inputs for m in recording.of_type(IAM) if "-viewer-" in m.name}

    there = granted(*viewers)
    assert {one["member"] for one in there.values()} == set(viewers)
    assert {one["role"] for one in there.values()} == {"roles/container.viewer"}
    assert granted(*reversed(viewers)) == there
    assert granted() == {}


def test_admins_whose_names_would_be_one_have_grants_of_their_own_in_any_order(environment):
    admins = ("user:a:b@example.com", "user:a-b@example.com", "group:a@example.com")

    def granted(*members):
        recording = environment(cluster={"admins": members})
        return {m.urn: m.inputs["member"] for m in recording.of_type(IAM) if "-admin-" in m.name}

    there = granted(*admins)

    assert sorted(there.values()) == sorted(admins)
    assert granted(*reversed(admins)) == there
    assert granted(*admins[1:]).items() <= there.items()


def test_the_version_is_the_asked_minor_and_the_channel_is_regular(environment):
    inputs = gke(environment()).inputs

    assert inputs["minMasterVersion"] == "1.35"
    assert inputs["releaseChannel"] == {"channel": "REGULAR"}


def test_extended_support_is_the_extended_channel(environment):
    assert gke(environment(cluster={"support": "extended"})).inputs["releaseChannel"] == {
        "channel": "EXTENDED"
    }


def test_neither_minors_nor_nodes_change_by_themselves(environment):
    (exclusion,) = gke(environment()).inputs["maintenancePolicy"]["maintenanceExclusions"]

    assert exclusion["exclusionOptions"] == {
        "scope": "NO_MINOR_OR_NODE_UPGRADES",
        "endTimeBehavior": "UNTIL_END_OF_SUPPORT",
    }
    assert "endTime" not in exclusion  # exactly one of the two is allowed


def test_maintenance_has_the_48_hours_in_32_days_that_gke_asks_for(environment):
    window = gke(environment()).inputs["maintenancePolicy"]["recurringWindow"]
    start, end = (datetime.fromisoformat(window[key]) for key in ("startTime", "endTime"))
    days = window["recurrence"].rpartition("BYDAY=")[2].split(",")

    weeks_for_sure = 4
    assert (end - start).total_seconds() / 3600 * len(days) * weeks_for_sure >= 48
    assert start.strftime("%a").upper()[:2] in days


def test_the_maintenance_policy_is_the_same_at_every_update(environment):
    assert gke(environment()).inputs["maintenancePolicy"] == gke(environment()).inputs["maintenancePolicy"]


@pytest.mark.parametrize("protect", [True, False])
def test_protection_is_pulumis_and_gkes_alike(environment, protect):
    cluster = gke(environment(cluster={"protect": protect}))

    assert cluster.protect is protect
    # Never left out: the provider's default is true, and a dev environment could then not be destroyed.
    assert cluster.inputs["deletionProtection"] is protect


def test_the_default_pool_goes_and_what_told_of_it_replaces_nothing(environment):
    cluster = gke(environment())

    assert cluster.inputs["removeDefaultNodePool"] is True
    assert cluster.inputs["initialNodeCount"] == 1
    assert set(cluster.ignore_changes) == {"initialNodeCount", "nodeConfig"}
    assert "nodePools" not in cluster.inputs


def test_adding_a_gpu_pool_leaves_the_cluster_as_it_is(environment, train):
    """The kind of AKS-1 on GKE."""
    other = environment(profile=train, pool={"nodes_max": 9, "zones": ("us-east4-a",)})

    assert gke(other).inputs == gke(environment()).inputs


def test_the_system_pool_takes_pods_and_holds_no_gpu(environment):
    pool = environment().named("cluster-system-pool")
    config = pool.inputs["nodeConfig"]

    assert config["machineType"] == "e2-standard-4"
    assert config["taints"] == []
    assert config["guestAccelerators"] == []
    assert config["shieldedInstanceConfig"]["enableSecureBoot"] is True
    assert pool.inputs["autoscaling"] == {
        "totalMinNodeCount": 2,
        "totalMaxNodeCount": 4,
        "locationPolicy": "BALANCED",
    }
    assert pool.inputs["upgradeSettings"] == {"strategy": "SURGE", "maxSurge": 1, "maxUnavailable": 0}


def test_the_kubeconfig_holds_a_plugin_and_no_credential(environment, cloud):
    recording = environment(computed=cloud)
    config = json.loads(recording.stack_outputs["kubeconfig"])

    (user,) = config["users"]
    assert set(user["user"]) == {"exec"}
    assert user["user"]["exec"]["command"] == "gke-gcloud-auth-plugin"
    assert config["clusters"][0]["cluster"] == {
        "server": "https://203.0.113.7",
        "certificate-authority-data": "Q0E=",
    }
    assert config["current-context"] == config["contexts"][0]["name"] == "vision-prod"


def test_the_kubeconfig_is_a_secret_wherever_it_goes(environment, cloud):
    recording = environment(computed=cloud)
    (provider,) = recording.of_type("pulumi:providers:kubernetes")

    assert "kubeconfig" in provider.secrets


def test_the_kubernetes_provider_is_the_clusters_and_replaced_only_with_it(environment, cloud):
    """PUL-1."""
    (provider,) = environment(computed=cloud).of_type("pulumi:providers:kubernetes")
    renewed = environment(
        computed=lambda r: {**cloud(r), **({"endpoint": "203.0.113.9"} if r.type == CLUSTER else {})}
    )
    (other,) = renewed.of_type("pulumi:providers:kubernetes")

    assert provider.inputs["clusterIdentifier"] == PATH
    assert other.inputs["clusterIdentifier"] == PATH
    assert other.inputs["kubeconfig"] != provider.inputs["kubeconfig"]


def test_the_handle_names_the_cluster_for_good(environment, cloud):
    outputs = environment(computed=cloud).stack_outputs

    assert outputs["id"] == PATH
    assert outputs["oidc_issuer"] == f"https://container.googleapis.com/v1/{PATH}"
    assert outputs["kubeconfig_command"] == (
        "gcloud container clusters get-credentials vision-prod --region us-east4 --project example-ml"
    )


def test_a_network_that_exists_already_is_taken_by_its_ids(environment):
    ids = GcpNetworkIds(
        id="vpc-1", node_subnet_id="subnet-1", pods_range="p", services_range="s", zones=("us-east4-c",)
    )
    inputs = gke(environment(cluster={"network": ids})).inputs

    assert (inputs["network"], inputs["subnetwork"]) == ("vpc-1", "subnet-1")
    assert inputs["nodeLocations"] == ["us-east4-c"]
    assert inputs["ipAllocationPolicy"]["clusterSecondaryRangeName"] == "p"
    assert "masterIpv4CidrBlock" not in inputs["privateClusterConfig"]


DRIVERS = {
    "object": "gcsFuseCsiDriverConfig",
    "lustre": "lustreCsiDriverConfig",
    "nfs": "gcpFilestoreCsiDriverConfig",
}


@pytest.mark.parametrize("mounts", [("object",), ("lustre",), ("nfs",), ("object", "lustre", "nfs")])
def test_sto_7_a_csi_driver_is_on_where_its_mount_is_asked_for_and_only_there(environment, mounts):
    addons = gke(environment(cluster={"mounts": mounts})).inputs["addonsConfig"]

    assert {mount for mount, driver in DRIVERS.items() if addons[driver]["enabled"]} == set(mounts)
    assert addons.keys() == set(DRIVERS.values())


def test_sto_7_a_cluster_whose_pods_mount_nothing_says_nothing_of_drivers(environment):
    assert "addonsConfig" not in gke(environment()).inputs


def test_sto_7_pods_get_their_identity_from_the_metadata_server_on_every_pool(environment):
    for pool in environment(cluster={"mounts": ("object",)}).of_type(POOL):
        assert pool.inputs["nodeConfig"]["workloadMetadataConfig"] == {"mode": "GKE_METADATA"}
