from __future__ import annotations

import json

import pytest

from gpuplatform.aws import AwsObjectStore, AwsObjectStoreArgs
from gpuplatform.sandbox.sdk_types import check
from gpuplatform.storage import CachePlan, ObjectPlan

ACCOUNT = "123456789012"
BUCKET = "vision-prod-data-0a1b2c3d"


@pytest.fixture
def store(run, tags):
    def make(**plan):
        made = {}

        def program():
            args = AwsObjectStoreArgs(
                plan=ObjectPlan(**({"tier": "data", "bucket": BUCKET} | plan)),
                name="vision-prod",
                region="us-east-1",
                tags=tags,
                account=ACCOUNT,
            )
            made["store"] = AwsObjectStore("data", args)

        recorded = run(program)
        return recorded, made["store"]

    return make


def setting(recorded, kind):
    [found] = recorded.of_type(f"aws:s3/{kind[0].lower()}{kind[1:]}:{kind}")
    return found


def test_nothing_of_it_is_public(store):
    recorded, _ = store()
    public = setting(recorded, "BucketPublicAccessBlock").inputs
    assert {key: value for key, value in public.items() if key != "bucket"} == {
        "blockPublicAcls": True,
        "blockPublicPolicy": True,
        "ignorePublicAcls": True,
        "restrictPublicBuckets": True,
    }
    ownership = setting(recorded, "BucketOwnershipControls").inputs
    assert ownership["rule"] == {"objectOwnership": "BucketOwnerEnforced"}


def test_only_tls_gets_in(store):
    recorded, _ = store()
    policy = setting(recorded, "BucketPolicy")
    statements = json.loads(policy.inputs["policy"])["Statement"]
    assert {s["Effect"] for s in statements} == {"Deny"}
    assert [s["Condition"] for s in statements] == [
        {"Bool": {"aws:SecureTransport": "false"}},
        {"NumericLessThan": {"s3:TlsVersion": "1.2"}},
    ]
    for statement in statements:
        assert statement["Action"] == "s3:*"
        assert statement["Resource"] == [f"arn:aws:s3:::{BUCKET}", f"arn:aws:s3:::{BUCKET}/*"]
    assert setting(recorded, "BucketPublicAccessBlock").urn in policy.dependencies


def test_it_is_versioned_and_encrypted_with_its_own_key(store):
    recorded, _ = store()
    versioning = setting(recorded, "BucketVersioning").inputs
    assert versioning["versioningConfiguration"] == {"status": "Enabled"}
    [rule] = setting(recorded, "BucketServerSideEncryptionConfiguration").inputs["rules"]
    key = recorded.named("data-key")
    assert rule["applyServerSideEncryptionByDefault"] == {
        "sseAlgorithm": "aws:kms",
        "kmsMasterKeyId": f"arn:aws:test:us-east-1:{ACCOUNT}:Key/data-key",
    }
    assert rule["bucketKeyEnabled"] is True
    assert key.inputs["enableKeyRotation"] is True
    assert recorded.outputs[next(r.urn for r in recorded.resources if not r.custom)]["key_arn"]


def test_a_linked_file_system_may_use_the_key_through_s3_and_for_this_bucket_alone(store):
    recorded, _ = store()
    iam, linked = json.loads(recorded.named("data-key").inputs["policy"])["Statement"]
    root = {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}
    assert (iam["Principal"], iam["Action"]) == (root, "kms:*")
    assert linked["Principal"] == root
    assert linked["Condition"]["StringEquals"] == {
        "kms:CallerAccount": ACCOUNT,
        "kms:ViaService": "s3.us-east-1.amazonaws.com",
        "kms:EncryptionContext:aws:s3:arn": f"arn:aws:s3:::{BUCKET}",
    }
    [role] = linked["Condition"]["ArnLike"].values()
    assert role == (
        f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/"
        "AWSServiceRoleForFSxS3Access_*"
    )
    assert not [action for action in linked["Action"] if "*" in action]


def test_what_is_kept_is_kept_with_all_that_closes_it_and_makes_it_readable(store):
    recorded, _ = store()
    custom = [r for r in recorded.resources if r.custom]
    assert len(custom) == 8
    assert [r.name for r in custom if not r.protect] == []
    assert setting(recorded, "Bucket").inputs["forceDestroy"] is False
    assert recorded.named("data-key").inputs["deletionWindowInDays"] == 30


def test_what_is_not_kept_goes_with_its_objects(store):
    recorded, _ = store(keep=False)
    assert not [r.name for r in recorded.resources if r.protect]
    assert setting(recorded, "Bucket").inputs["forceDestroy"] is True
    assert setting(recorded, "BucketVersioning").inputs["versioningConfiguration"] == {"status": "Enabled"}
    assert recorded.named("data-key").inputs["deletionWindowInDays"] == 7


def rules(recorded):
    found = setting(recorded, "BucketLifecycleConfiguration")
    assert setting(recorded, "BucketVersioning").urn in found.dependencies
    return {rule["id"]: rule for rule in found.inputs["rules"]}


def test_old_versions_markers_and_abandoned_uploads_go(store):
    recorded, _ = store(keep_versions_days=14)
    found = rules(recorded)
    assert set(found) == {"old-versions", "empty-markers"}
    assert found["old-versions"]["noncurrentVersionExpiration"] == {"noncurrentDays": 14}
    assert found["old-versions"]["abortIncompleteMultipartUpload"] == {"daysAfterInitiation": 7}
    assert found["empty-markers"]["expiration"] == {"expiredObjectDeleteMarker": True}


def test_objects_move_to_classes_that_a_mount_can_still_read(store):
    recorded, _ = store(cold_after_days=30, archive_after_days=180)
    assert rules(recorded)["colder"]["transitions"] == [
        {"days": 30, "storageClass": "STANDARD_IA"},
        {"days": 180, "storageClass": "GLACIER_IR"},
    ]


@pytest.mark.parametrize(
    ("plan", "classes"),
    [
        ({"cold_after_days": 60}, ["STANDARD_IA"]),
        ({"archive_after_days": 90}, ["GLACIER_IR"]),
    ],
)
def test_one_step_is_enough(store, plan, classes):
    recorded, _ = store(**plan)
    assert [move["storageClass"] for move in rules(recorded)["colder"]["transitions"]] == classes


def test_pods_mount_it_as_themselves_and_need_no_metadata_service(store):
    _, made = store()
    volume = made.handle.volume
    assert volume.driver == "s3.csi.aws.com"
    assert volume.attributes["authenticationSource"] == "pod"
    assert "region us-east-1" in volume.mount_options
    assert volume.separator == "-"
    assert not {key for key in volume.attributes if key.startswith("cache")}


def test_a_cache_stands_on_the_nodes_disks_and_is_bounded(store):
    _, made = store(cache=CachePlan(gib=3500, pools=("train",)))
    attributes = made.handle.volume.attributes
    assert attributes["cache"] == "emptyDir"
    assert attributes["cacheEmptyDirSizeLimit"] == "3500Gi"
    assert "cacheEmptyDirMedium" not in attributes


def test_the_handle_names_the_bucket_for_programs_and_grants(store):
    recorded, made = store()
    assert (made.handle.cloud, made.handle.name, made.handle.tier) == ("aws", "data", "object")
    [component] = [r.urn for r in recorded.resources if not r.custom]
    assert recorded.outputs[component]["uri"] == f"s3://{BUCKET}"
    assert recorded.outputs[component]["bucket_name"] == BUCKET
    assert recorded.outputs[component]["bucket_id"] == f"arn:aws:s3:::{BUCKET}"
    assert len(made.handle.ready) == 6


def test_every_input_is_one_of_the_sdk_s(store):
    recorded, _ = store(cold_after_days=30, archive_after_days=180)
    problems = {r.name: found for r in recorded.resources if r.custom and (found := check(r.type, r.inputs))}
    assert problems == {}
