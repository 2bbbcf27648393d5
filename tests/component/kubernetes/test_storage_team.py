"""A team's namespace, identity and volumes, as the engine would see them."""

from __future__ import annotations

import re

import pulumi
import pytest
from profiles import made_profile
from samples import decision_of
from stand_in_cluster import Thing, handle, in_cluster, reached

from gpuplatform.contracts import IdentityHandle, StorageHandle, Volume
from gpuplatform.kubernetes import TeamSpace, TeamSpaceArgs, pod_security
from gpuplatform.kubernetes.team import labels
from gpuplatform.plan.recorder import record
from gpuplatform.profile import GkeDriver, PodWiring
from gpuplatform.sandbox.sdk_types import check
from gpuplatform.tags import Tags

CORE = "kubernetes:core/v1:"
TAGS = Tags(environment="prod", project="vision", team="platform", cost_center="4711", owner="ml@example.com")
ANNOTATION = {"azure.workload.identity/client-id": "known"}


def bucket(cloud="gcp", **volume):
    fields = {
        "driver": "gcsfuse.csi.storage.gke.io",
        "handle": pulumi.Output.from_input("vision-data"),
        "attributes": {"bucketName": pulumi.Output.from_input("vision-data")},
        "mount_options": ("implicit-dirs",),
        "capacity_gib": 1024,
        "pod_annotations": {"gke-gcsfuse/volumes": "true"},
        "pod_volumes": ({"name": "gke-gcsfuse-cache", "emptyDir": {"sizeLimit": "100Gi"}},),
    }
    return storage("data", "object", cloud, **{**fields, **volume})


def filesystem(cloud="gcp"):
    return storage(
        "scratch", "shared-filesystem", cloud, driver="lustre.csi", handle="fs-1", capacity_gib=9000
    )


def storage(name, tier, cloud, **volume):
    known = pulumi.Output.from_input("known")
    return StorageHandle(
        cloud=cloud,
        name=name,
        tier=tier,
        id=known,
        uri=known,
        volume=Volume(**volume),
        resource=Thing(f"{name}-store"),
        ready=(Thing(f"{name}-ready"),),
    )


def identity(team):
    return IdentityHandle(
        cloud="azure",
        namespace=team,
        service_account="team",
        principal=pulumi.Output.from_input("known"),
        annotations=ANNOTATION,
        pod_labels={"azure.workload.identity/use": "true"},
        ready=(Thing(f"{team}-grant"),),
    )


def install(*teams, stores=(bucket, filesystem), known=True, **more):
    def program():
        cluster, system = map(Thing, ("cluster", "system-pool"))
        shared = handle("gcp", cluster, (system,))
        mounted = tuple(store() for store in stores)
        for team in teams:
            who = identity(team) if known else None
            args = TeamSpaceArgs(cluster=shared, team=team, identity=who, volumes=mounted, tags=TAGS, **more)
            TeamSpace(f"team-{team}", args)

    return record(program)


@pytest.fixture
def installed():
    return install("research", "re")


def volumes(recording):
    return {one.inputs["metadata"]["name"]: one for one in recording.of_type(f"{CORE}PersistentVolume")}


def test_volumes_and_claims_are_bound_from_both_sides(installed):
    claims = installed.of_type(f"{CORE}PersistentVolumeClaim")
    made = volumes(installed)

    assert len(claims) == len(made) == 4
    for claim in claims:
        volume = made[claim.inputs["spec"]["volumeName"]]
        assert volume.inputs["spec"]["claimRef"] == {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": claim.inputs["metadata"]["namespace"],
            "name": claim.inputs["metadata"]["name"],
        }
        assert volume.urn in claim.dependencies
        # The default class must not be put in its place.
        assert claim.inputs["spec"]["storageClassName"] == volume.inputs["spec"]["storageClassName"] == ""
        assert claim.inputs["spec"]["accessModes"] == volume.inputs["spec"]["accessModes"]


def test_a_volume_that_is_deleted_leaves_its_data(installed):
    for volume in volumes(installed).values():
        assert volume.inputs["spec"]["persistentVolumeReclaimPolicy"] == "Retain"


def test_a_claims_request_is_below_every_volume_and_never_changes(installed):
    """A claim whose request follows a file system that grows would be replaced with it."""
    requests = {
        claim.inputs["spec"]["resources"]["requests"]["storage"]
        for claim in installed.of_type(f"{CORE}PersistentVolumeClaim")
    }

    assert requests == {"1Gi"}
    assert volumes(installed)["re-scratch"].inputs["spec"]["capacity"] == {"storage": "9000Gi"}


def test_no_two_teams_share_a_volumes_name(installed):
    assert set(volumes(installed)) == {"research-data", "research-scratch", "re-data", "re-scratch"}


def test_a_handle_that_each_volume_must_have_for_itself_ends_in_the_volumes_name():
    made = volumes(install("a", "b", stores=(lambda: bucket(separator="-"), filesystem)))

    def handle_of(name):
        return made[name].inputs["spec"]["csi"]["volumeHandle"]

    assert {handle_of("a-data"), handle_of("b-data")} == {"vision-data-a-data", "vision-data-b-data"}
    assert handle_of("a-scratch") == handle_of("b-scratch") == "fs-1"


def test_the_driver_is_told_all_that_the_tier_says(installed):
    spec = volumes(installed)["research-data"].inputs["spec"]

    assert spec["csi"] == {
        "driver": "gcsfuse.csi.storage.gke.io",
        "volumeHandle": "vision-data",
        "volumeAttributes": {"bucketName": "vision-data"},
    }
    assert spec["mountOptions"] == ["implicit-dirs"]
    assert "mountOptions" not in volumes(installed)["research-scratch"].inputs["spec"]


def test_azures_driver_is_told_whose_token_it_mounts_with():
    told = {"mountWithWorkloadIdentityToken": "true", "containerName": "data"}
    stores = (lambda: bucket(attributes=told), filesystem)

    def attributes(known):
        made = volumes(install("research", stores=stores, known=known))
        return made["research-data"].inputs["spec"]["csi"]["volumeAttributes"]

    assert attributes(known=True) == {**told, "clientID": "known"}
    assert attributes(known=False) == told
    others = volumes(install("research"))["research-data"].inputs["spec"]["csi"]["volumeAttributes"]
    assert "clientID" not in others


def test_volumes_come_after_the_grants_without_which_no_mount_succeeds(installed):
    for name in ("research-data", "research-scratch"):
        assert "research-grant" in reached(installed, volumes(installed)[name])


def test_storage_is_never_below_the_cluster(installed):
    """The teardown of an environment takes the cluster and leaves the storage."""
    for one in installed.resources:
        if one.name.endswith(("-store", "-ready")):
            assert not reached(installed, one) & {"cluster", "system-pool"}
    for volume in volumes(installed).values():
        assert {"cluster", "system-pool"} & reached(installed, volume)
    assert {"data-store", "data-ready"} <= reached(installed, volumes(installed)["re-data"])


def test_pods_act_as_the_team_only_once_it_is_somebody():
    """STO-7: the service account is the identity, no node's."""
    recording = install("research")
    (account,) = recording.of_type(f"{CORE}ServiceAccount")

    assert (account.inputs["metadata"]["name"], account.inputs["metadata"]["namespace"]) == (
        "team",
        "research",
    )
    assert account.inputs["metadata"]["annotations"] == ANNOTATION
    assert "research-grant" in reached(recording, account)


def test_a_team_without_an_identity_has_a_service_account_all_the_same():
    (account,) = install("research", known=False).of_type(f"{CORE}ServiceAccount")

    assert "annotations" not in account.inputs["metadata"]


def test_a_teams_namespace_admits_no_privileged_pods_unless_told(installed):
    """DRV-10."""
    namespace = installed.named("team-research-namespace")
    told = install("research", pod_security="privileged").named("team-research-namespace")

    def admits(one):
        return one.inputs["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]

    assert admits(namespace) == "baseline"
    assert admits(told) == "privileged"
    assert told.inputs["metadata"]["labels"]["pod-security.kubernetes.io/warn"] == "baseline"


@pytest.mark.parametrize(
    ("pod", "level"),
    [
        (PodWiring(resources={}), "baseline"),
        (PodWiring(resources={}, capabilities=("CHOWN",)), "baseline"),
        (PodWiring(resources={}, capabilities=("IPC_LOCK",)), "privileged"),
        (PodWiring(resources={}, host_network=True), "privileged"),
        (PodWiring(resources={}, volumes=({"name": "shm", "emptyDir": {}},)), "baseline"),
        (PodWiring(resources={}, volumes=({"name": "gib", "hostPath": {"path": "/x"}},)), "privileged"),
    ],
)
def test_pods_are_held_to_the_strictest_standard_that_the_pools_allow(pod, level):
    assert pod_security((made_profile(GkeDriver()), made_profile(GkeDriver(), pod=pod))) == level


@pytest.mark.parametrize("cloud", ["aws", "azure", "gcp"])
def test_pools_with_a_fabric_need_pods_that_lock_memory(cloud):
    assert pod_security(decision_of(f"{cloud}-prod").profiles) == "privileged"
    assert pod_security(decision_of(f"{cloud}-dev").profiles) == "baseline"


@pytest.mark.parametrize("owner", ["@ml", "ml@example.com", "-x-", "/team/ml/", "a" * 63])
def test_tags_are_legal_labels_whatever_they_hold(owner):
    tags = Tags(environment="prod", project="vision", team="p", cost_center="4711", owner=owner)

    made = labels(tags, "research")

    assert made["gpuplatform.io/team"] == "research"
    assert made["gpuplatform.io/managed-by"] == "gpuplatform"
    for value in made.values():
        assert re.fullmatch(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?", value), value


def test_everything_uses_the_clusters_provider_and_goes_with_the_cluster(installed):
    """PUL-2 and PUL-7."""
    (provider,) = installed.of_type("pulumi:providers:kubernetes")
    components = {installed.named("team-research").urn, installed.named("team-re").urn}

    assert len(in_cluster(installed)) == 12
    for one in in_cluster(installed):
        assert one.provider == provider.urn
        assert one.parent in components
        assert one.deleted_with == installed.named("cluster").urn
        assert "system-pool" in reached(installed, one)


def test_the_component_tells_a_pod_all_that_it_needs(installed):
    component = installed.named("team-research")

    assert component.type == "gpuplatform:index:TeamSpace"
    assert installed.outputs[component.urn] == {
        "namespace": "research",
        "service_account": "team",
        "claims": {"data": "data", "scratch": "scratch"},
        "pod_labels": {"azure.workload.identity/use": "true"},
        "pod_annotations": {"gke-gcsfuse/volumes": "true"},
        "pod_volumes": [{"name": "gke-gcsfuse-cache", "emptyDir": {"sizeLimit": "100Gi"}}],
    }


def test_every_input_is_one_that_the_sdk_knows_with_its_type(installed):
    for one in in_cluster(installed):
        assert check(one.type, one.inputs) == (), one.name
