from __future__ import annotations

import pytest

from gpuplatform.aws import AwsStateStore, AwsStateStoreArgs
from gpuplatform.aws.state_store import state_bucket
from gpuplatform.naming import problem
from gpuplatform.sandbox.sdk_types import check

ACCOUNT = "123456789012"


@pytest.fixture
def recorded(run, tags):
    args = AwsStateStoreArgs(name="vision-prod", region="us-east-1", tags=tags, account=ACCOUNT)
    return run(lambda: AwsStateStore("state", args))


def outputs(recorded):
    [component] = [r.urn for r in recorded.resources if not r.custom]
    return recorded.outputs[component]


def test_pulumi_is_told_where_state_and_key_are(recorded):
    found = outputs(recorded)
    bucket = state_bucket("vision-prod", ACCOUNT, "us-east-1")
    assert found["backend_url"] == f"s3://{bucket}?region=us-east-1"
    assert found["secrets_provider"] == "awskms://alias/vision-prod-state?region=us-east-1"
    assert recorded.of_type("aws:s3/bucket:Bucket")[0].inputs["bucket"] == bucket


def test_all_of_it_is_protected_and_nothing_empties_the_bucket(recorded):
    custom = [r for r in recorded.resources if r.custom]
    assert len(custom) == 9
    assert not [r.name for r in custom if not r.protect]
    assert recorded.of_type("aws:s3/bucket:Bucket")[0].inputs["forceDestroy"] is False


def test_it_is_versioned_encrypted_and_closed(recorded):
    [versioning] = recorded.of_type("aws:s3/bucketVersioning:BucketVersioning")
    assert versioning.inputs["versioningConfiguration"] == {"status": "Enabled"}
    [encryption] = recorded.of_type(
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
    )
    [rule] = encryption.inputs["rules"]
    assert rule["applyServerSideEncryptionByDefault"]["kmsMasterKeyId"].endswith("Key/state-key")
    [public] = recorded.of_type("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock")
    assert all(value for key, value in public.inputs.items() if key != "bucket")
    assert recorded.of_type("aws:s3/bucketPolicy:BucketPolicy")


def test_old_versions_of_the_state_are_kept_a_year(recorded):
    [lifecycle] = recorded.of_type("aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration")
    rules = {rule["id"]: rule for rule in lifecycle.inputs["rules"]}
    assert rules["old-versions"]["noncurrentVersionExpiration"] == {"noncurrentDays": 365}


@pytest.mark.parametrize(
    "name", ["a", "vision-prod", "x" * 60, "a-very-long-platform-name-in-a-long-environment"]
)
def test_its_name_is_one_that_s3_takes_and_differs_by_account_and_region(name):
    names = {
        state_bucket(name, account, region)
        for account in (ACCOUNT, "210987654321")
        for region in ("us-east-1", "eu-central-1")
    }
    assert len(names) == 4
    assert not [found for found in names if problem("S3 bucket", found)]


def test_every_input_is_one_of_the_sdk_s(recorded):
    problems = {r.name: found for r in recorded.resources if r.custom and (found := check(r.type, r.inputs))}
    assert problems == {}
