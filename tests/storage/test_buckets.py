"""Names of buckets, and the classes that objects move to."""

from __future__ import annotations

import re

import pytest
from samples import config_of

from gpuplatform.config import Object
from gpuplatform.config.clouds import Aws, Azure, Gcp
from gpuplatform.errors import Refusal

RULES = {
    "aws": r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]",
    "azure": r"[a-z0-9]{3,24}",
    "gcp": r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]",
}
ELSEWHERE = {
    "aws": (
        Aws(provider="aws", region="us-east-1", account="999999999999"),
        Aws(provider="aws", region="us-west-2", account="123456789012"),
    ),
    "azure": (
        Azure(provider="azure", region="eastus", subscription="00000000-0000-4000-8000-00000000ffff"),
        Azure(provider="azure", region="westus", subscription="00000000-0000-4000-8000-000000000001"),
    ),
    "gcp": (
        Gcp(provider="gcp", region="us-east4", project="another-project"),
        Gcp(provider="gcp", region="us-west1", project="example-ml-prod"),
    ),
}


def bucket(plans, cloud, /, tier="data", own=None, **changed):
    return plans(cloud, {tier: Object(tier="object", bucket=own)}, **changed)[tier].bucket


@pytest.mark.parametrize("cloud", RULES)
@pytest.mark.parametrize(
    ("name", "environment", "tier"),
    [
        ("vision", "prod", "data"),
        ("a-platform-of-20-char", "environment1", "checkpoints1"),
        ("a1", "qa", "x"),
    ],
)
def test_a_name_that_is_made_up_is_legal(plans, cloud, name, environment, tier):
    made = bucket(plans, cloud, tier, name=name[:20].rstrip("-"), environment=environment)

    assert re.fullmatch(RULES[cloud], made), made


@pytest.mark.parametrize("cloud", RULES)
def test_no_other_account_region_platform_environment_or_tier_makes_the_same_name(plans, cloud):
    long = "a-platform-of-20-cha"
    made = [
        bucket(plans, cloud),
        *(bucket(plans, cloud, cloud=elsewhere) for elsewhere in ELSEWHERE[cloud]),
        bucket(plans, cloud, environment="dev"),
        bucket(plans, cloud, tier="lake"),
        bucket(plans, cloud, name="vi-sion"),
        bucket(plans, cloud, name=long, tier="checkpoints1"),
        bucket(plans, cloud, name=long, tier="checkpoints2"),
    ]

    assert len(set(made)) == len(made), made


@pytest.mark.parametrize("cloud", RULES)
def test_the_same_stack_always_makes_the_same_name(plans, cloud):
    assert bucket(plans, cloud) == bucket(plans, cloud)


@pytest.mark.parametrize("cloud", RULES)
def test_an_own_name_is_taken_as_it_is(plans, cloud):
    assert bucket(plans, cloud, own="trainingdata") == "trainingdata"


@pytest.mark.parametrize(
    ("cloud", "own", "rule"),
    [
        ("aws", "xn--data", "xn--"),
        ("aws", "sthree-data", "sthree-"),
        ("aws", "sthree-configurator", "sthree-"),
        ("aws", "amzn-s3-demo-data", "amzn-s3-demo-"),
        ("aws", "data-s3alias", "-s3alias"),
        ("aws", "data--ol-s3", "--ol-s3"),
        ("aws", "data--x-s3", "--x-s3"),
        ("aws", "data--table-s3", "--table-s3"),
        ("azure", "training-data", "no hyphen"),
        ("azure", "a" * 25, "3 to 24"),
        ("gcp", "googdata", "goog"),
        ("gcp", "my-google-data", "google"),
        ("gcp", "my-g00gle-data", "g00gle"),
    ],
)
def test_a_reserved_or_illegal_name_is_refused_with_its_rule(refused, cloud, own, rule):
    refusal = refused(cloud, Object(tier="object", bucket=own))

    assert refusal.where == "storage.data.bucket"
    assert own in refusal.what
    assert rule in refusal.rule
    assert "https://" in refusal.rule
    assert refusal.way_out


def test_what_one_cloud_reserves_is_free_on_the_others(plans):
    assert bucket(plans, "gcp", own="data-s3alias") == "data-s3alias"
    assert bucket(plans, "aws", own="my-google-data") == "my-google-data"


def test_a_platform_whose_name_cannot_be_in_a_bucket_is_told_to_name_it(plans):
    with pytest.raises(Refusal) as caught:
        bucket(plans, "gcp", name="google-vision")

    assert "name the bucket yourself" in caught.value.way_out
    assert bucket(plans, "gcp", name="google-vision", own="vision-data") == "vision-data"


@pytest.mark.parametrize("cloud", RULES)
def test_how_long_objects_stay_where_is_what_is_asked_for(plans, cloud):
    tier = Object(tier="object", cold_after_days=30, archive_after_days=120, keep_versions_days=7)
    plan = plans(cloud, {"data": tier})["data"]

    assert (plan.cold_after_days, plan.archive_after_days, plan.keep_versions_days) == (30, 120, 7)


def test_a_bucket_is_kept_unless_told_otherwise(plans):
    assert plans("aws", {"data": Object(tier="object")})["data"].keep is True
    assert plans("aws", {"data": Object(tier="object", teardown="delete")})["data"].keep is False


def test_plans_come_in_the_configurations_order(plans):
    assert config_of("aws-prod").storage is not None
    tiers = {name: Object(tier="object") for name in ("zoo", "alpha", "mid")}
    assert list(plans("aws", tiers)) == ["zoo", "alpha", "mid"]
