"""Buckets and shared file systems: closed, versioned, kept where asked, and apart from the cluster."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Network

import pulumi
import pytest

from gpuplatform.errors import Refusal
from gpuplatform.gcp import (
    GcpNetwork,
    GcpNetworkIds,
    GcpObjectStore,
    GcpObjectStoreArgs,
    GcpSharedFilesystem,
    GcpSharedFilesystemArgs,
)
from gpuplatform.sandbox.sdk_types import check
from gpuplatform.storage import CachePlan, ObjectPlan, SharedFilesystemPlan

BUCKET = "gcp:storage/bucket:Bucket"
LUSTRE = SharedFilesystemPlan(
    tier="scratch", service="google-managed-lustre", capacity_gib=18000, throughput=500, zone="us-east4-b"
)
NFS = SharedFilesystemPlan(
    tier="home", service="filestore", capacity_gib=1024, sku="ZONAL", zone="us-east4-b"
)
DATA = ObjectPlan(tier="data", bucket="vision-prod-data-0a1b2c3d", cold_after_days=30, archive_after_days=120)


@pytest.fixture
def store(tags):
    """Makes the program of one bucket."""

    def program(found=None, **changes):
        args = GcpObjectStoreArgs(
            plan=replace(DATA, **changes),
            name="vision-prod",
            region="us-east4",
            tags=tags,
            project="example-ml",
        )

        def build(opts):
            made = GcpObjectStore("storage-data", args, opts)
            if found is not None:
                found.append(made.handle.volume)
            pulumi.export("id", made.handle.id)
            pulumi.export("uri", made.handle.uri)
            pulumi.export("handle", made.handle.volume.handle)

        return build

    return program


@pytest.fixture
def filesystem(tags, network_args):
    """Makes the program of one file system in a network."""

    def program(plan, found=None, *, network=None, **changes):
        def build(opts):
            there = network or GcpNetwork("network", replace(network_args, private_services=True), opts)
            args = GcpSharedFilesystemArgs(
                plan=replace(plan, **changes),
                name="vision-prod",
                region="us-east4",
                tags=tags,
                project="example-ml",
                network=there,
            )
            made = GcpSharedFilesystem("storage-fs", args, opts)
            if found is not None:
                found.append(made.handle.volume)
            pulumi.export("uri", made.handle.uri)
            pulumi.export("attributes", made.handle.volume.attributes)

        return build

    return program


def bucket_of(recording):
    (bucket,) = recording.of_type(BUCKET)
    return bucket


def test_a_bucket_is_closed_versioned_and_encrypted_with_a_key_of_its_own(update, store, tags):
    recording = update(store())
    inputs = bucket_of(recording).inputs

    assert inputs["uniformBucketLevelAccess"] is True
    assert inputs["publicAccessPrevention"] == "enforced"
    assert inputs["versioning"] == {"enabled": True}
    assert inputs["softDeletePolicy"] == {"retentionDurationSeconds": 604800}
    key = recording.named("storage-data-key")
    assert bucket_of(recording).property_dependencies["encryption"] == (key.urn,)
    assert key.inputs["rotationPeriod"] == "7776000s"
    assert inputs["labels"] == key.inputs["labels"] == tags.gcp()
    assert {inputs["location"], recording.named("storage-data-key-ring").inputs["location"]} == {"us-east4"}


def test_the_storage_service_agent_may_use_the_key_before_the_bucket_is_made(update, store):
    recording = update(store())
    grant = recording.named("storage-data-key-grant")

    assert grant.inputs["member"] == (
        "serviceAccount:service-123456789012@gs-project-accounts.iam.gserviceaccount.com"
    )
    assert grant.inputs["role"] == "roles/cloudkms.cryptoKeyEncrypterDecrypter"
    assert grant.urn in bucket_of(recording).dependencies


def test_rings_and_keys_have_no_name_of_ours_since_google_never_gives_it_back(update, store):
    recording = update(store(keep=False))

    assert "name" not in recording.named("storage-data-key-ring").inputs
    assert "name" not in recording.named("storage-data-key").inputs


@pytest.mark.parametrize("keep", [True, False])
def test_what_is_kept_is_protected_with_all_that_makes_it_readable(update, store, keep):
    recording = update(store(keep=keep))

    protected = {r.name.removeprefix("storage-data-") for r in recording.resources if r.protect}
    assert protected == ({"bucket", "key", "key-grant", "key-ring"} if keep else set())
    assert bucket_of(recording).inputs["forceDestroy"] is not keep


def test_objects_grow_cold_in_order_and_old_versions_go(update, store):
    rules = bucket_of(update(store(keep_versions_days=45))).inputs["lifecycleRules"]

    assert [(rule["action"], rule["condition"]) for rule in rules] == [
        ({"type": "SetStorageClass", "storageClass": "NEARLINE"}, {"age": 30}),
        ({"type": "SetStorageClass", "storageClass": "ARCHIVE"}, {"age": 120}),
        ({"type": "Delete"}, {"daysSinceNoncurrentTime": 45, "withState": "ARCHIVED"}),
        ({"type": "AbortIncompleteMultipartUpload"}, {"age": 7}),
    ]


def test_a_bucket_without_colder_classes_has_none(update, store):
    rules = bucket_of(update(store(cold_after_days=None, archive_after_days=None))).inputs["lifecycleRules"]

    assert [rule["action"]["type"] for rule in rules] == ["Delete", "AbortIncompleteMultipartUpload"]


def test_pods_mount_a_bucket_by_its_name_each_volume_with_a_handle_of_its_own(update, store):
    found = []
    recording = update(store(found))

    assert recording.stack_outputs["handle"] == DATA.bucket
    assert recording.stack_outputs["uri"] == f"gs://{DATA.bucket}"
    assert found[0].driver == "gcsfuse.csi.storage.gke.io"
    assert found[0].separator == ":"
    assert found[0].mount_options == ("implicit-dirs",)
    assert found[0].pod_annotations == {"gke-gcsfuse/volumes": "true"}
    assert found[0].pod_volumes == ()


def test_a_cache_has_a_size_a_volume_of_that_size_and_no_limit_below_it(update, store):
    found = []
    update(store(found, cache=CachePlan(gib=300, pools=("train",))))

    assert "file-cache:max-size-mb:307200" in found[0].mount_options
    assert found[0].pod_volumes == ({"name": "gke-gcsfuse-cache", "emptyDir": {"sizeLimit": "300Gi"}},)
    assert found[0].pod_annotations["gke-gcsfuse/ephemeral-storage-limit"] == "0"


def test_managed_lustre_stands_in_its_zone_behind_the_peering(update, filesystem, tags):
    found = []
    recording = update(filesystem(LUSTRE, found))
    instance = recording.named("storage-fs-lustre")

    assert instance.inputs | {"network": ""} == {
        "project": "example-ml",
        "labels": tags.gcp(),
        "instanceId": "vision-prod-scratch",
        "location": "us-east4-b",
        "filesystem": "scratch",
        "capacityGib": "18000",
        "perUnitStorageThroughput": "500",
        "network": "",
    }
    assert recording.named("network-services").urn in instance.dependencies
    assert recording.stack_outputs["attributes"] == {"ip": "10.0.240.2", "filesystem": "scratch"}
    assert found[0].driver == "lustre.csi.storage.gke.io"
    assert found[0].handle == "example-ml/us-east4-b/vision-prod-scratch"
    assert (found[0].capacity_gib, found[0].separator) == (18000, "")


def test_lustre_s_own_name_fits_eight_characters_and_two_tiers_stay_apart(update, filesystem):
    names = {
        update(filesystem(LUSTRE, tier=tier)).named("storage-fs-lustre").inputs["filesystem"]
        for tier in ("checkpoints1", "checkpoints2", "eightlet")
    }

    assert len(names) == 3
    assert "eightlet" in names
    assert all(name.isalnum() and len(name) <= 8 for name in names)


def test_filestore_is_reached_by_the_same_peering(update, filesystem):
    found = []
    recording = update(filesystem(NFS, found))
    instance = recording.named("storage-fs-filestore")

    assert instance.inputs["networks"][0]["connectMode"] == "PRIVATE_SERVICE_ACCESS"
    assert instance.inputs["fileShares"] == {"name": "home", "capacityGb": 1024}
    assert (instance.inputs["tier"], instance.inputs["location"]) == ("ZONAL", "us-east4-b")
    assert recording.named("network-services").urn in instance.dependencies
    assert recording.stack_outputs == {
        "uri": "10.0.240.10:/home",
        "attributes": {"ip": "10.0.240.10", "volume": "home"},
    }
    assert found[0].handle == "modeInstance/us-east4-b/vision-prod-home/home"


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("plan", [LUSTRE, NFS])
def test_a_file_system_is_protected_where_kept_and_its_network_is_not(update, filesystem, plan, keep):
    recording = update(filesystem(plan, keep=keep))

    protected = {r.type for r in recording.resources if r.protect}
    assert protected == ({f"gcp:{plan.service.rpartition('-')[2]}/instance:Instance"} if keep else set())


def test_an_address_that_is_not_there_yet_is_unknown_in_a_preview(preview, filesystem):
    for plan in (LUSTRE, NFS):
        attributes = preview(filesystem(plan)).stack_outputs["attributes"]
        assert attributes["ip"] not in {"", "10.0.240.10"}


@pytest.mark.parametrize(
    ("plan", "changes", "where"),
    [
        (LUSTRE, {"service": "fsx-lustre"}, "storage.scratch.service"),
        (LUSTRE, {"source": "data"}, "storage.scratch.source"),
        (NFS, {"source": "data"}, "storage.home.source"),
    ],
)
def test_what_google_cloud_does_not_have_is_refused(update, filesystem, plan, changes, where):
    with pytest.raises(Refusal) as refused:
        update(filesystem(plan, **changes))
    assert refused.value.where == where
    assert refused.value.way_out


def test_a_network_without_private_services_access_is_refused(update, filesystem, network_args):
    def build(opts):
        filesystem(NFS, network=GcpNetwork("network", network_args, opts))(opts)

    with pytest.raises(Refusal) as refused:
        update(build)
    assert "private_services=True" in refused.value.way_out


def test_a_network_that_exists_is_taken_as_it_is(update, filesystem):
    ids = GcpNetworkIds(
        id="projects/example-ml/global/networks/shared",
        node_subnet_id="nodes",
        pods_range="pods",
        services_range="services",
        zones=("us-east4-b",),
    )
    recording = update(filesystem(LUSTRE, network=ids))

    assert recording.named("storage-fs-lustre").inputs["network"] == ids.id


def test_google_s_services_get_a_range_of_the_network_that_nothing_else_has(update, network_args):
    recording = update(
        lambda opts: GcpNetwork("network", replace(network_args, private_services=True), opts) and None
    )
    inputs = recording.named("network-services-range").inputs

    assert (inputs["address"], inputs["prefixLength"]) == ("10.0.240.0", 20)
    assert (inputs["purpose"], inputs["addressType"]) == ("VPC_PEERING", "INTERNAL")
    connection = recording.named("network-services").inputs
    assert connection["reservedPeeringRanges"] == ["vision-prod-services"]
    assert connection["deletionPolicy"] == "REMOVE_PEERING"


@pytest.mark.parametrize(("prefix", "fits"), [(8, True), (16, True), (18, True), (19, False), (21, False)])
def test_a_network_too_small_for_google_s_services_is_refused_before_anything_is_made(
    update, network_args, prefix, fits
):
    made = []

    def build(opts):
        cidr = IPv4Network(f"10.0.0.0/{prefix}")
        args = replace(network_args, cidr=cidr, nodes_max=2, private_services=True)
        if fits:
            made.append(GcpNetwork("network", args, opts))
            return
        with pytest.raises(Refusal) as refused:
            GcpNetwork("network", args, opts)
        assert refused.value.where == "network.cidr"

    recording = update(build)
    assert bool(recording.of_type("gcp:compute/network:Network")) is bool(made) is fits


def test_a_network_without_them_is_the_same_but_for_them(update, network_args):
    def recorded(asked):
        recording = update(
            lambda opts: GcpNetwork("network", replace(network_args, private_services=asked), opts) and None
        )
        return {r.urn: r.inputs for r in recording.resources}

    without, with_them = recorded(asked=False), recorded(asked=True)
    assert without.items() <= with_them.items()
    added = {urn.rpartition("::")[2] for urn in with_them.keys() - without.keys()}
    assert added == {"network-services", "network-services-range"}


def test_every_input_is_one_that_the_sdk_knows_with_its_type(update, store, filesystem):
    for build in (store(), filesystem(LUSTRE), filesystem(NFS)):
        for resource in update(build).resources:
            if resource.custom and resource.type.startswith("gcp:"):
                assert check(resource.type, resource.inputs) == (), resource.name


def test_nothing_of_storage_stands_on_a_cluster(update, store, filesystem):
    for build in (store(), filesystem(LUSTRE), filesystem(NFS)):
        kinds = {r.type for r in update(build).resources}
        assert not [kind for kind in kinds if kind.startswith("gcp:container/")]
