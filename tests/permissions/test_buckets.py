"""Which buckets a configuration names, and which a teardown empties."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import pytest
from samples import config_of, decision_of

from gpuplatform.config.storage import Block, Object
from gpuplatform.permissions import aws, gcp
from gpuplatform.permissions.aws_scope import grants
from gpuplatform.permissions.buckets import own_buckets
from gpuplatform.storage import ObjectPlan, storage_plans

TIERS = {
    "datasets": Object(tier="object"),
    "scratch": Object(tier="object", teardown="delete"),
    "ours": Object(tier="object", bucket="name-of-our-own"),
    "gone": Object(tier="object", bucket="vision-prod-gone", teardown="delete"),
    "disks": Block(tier="block", teardown="delete"),
}


def test_names_of_somebody_s_choice_are_told_from_the_stack_s_prefix() -> None:
    buckets = own_buckets(config_of("aws-prod").model_copy(update={"storage": TIERS}))
    assert buckets.named == ("name-of-our-own",)


def emptied_of(stack: str) -> list[str]:
    """The real names, as the storage's own plans have them."""
    config = config_of(stack).model_copy(update={"storage": TIERS})
    plans = storage_plans(config, decision_of(stack).profiles)
    return sorted(plan.bucket for plan in plans if isinstance(plan, ObjectPlan) and not plan.keep)


def test_what_a_teardown_takes_is_emptied_and_nothing_else() -> None:
    buckets = own_buckets(config_of("aws-prod").model_copy(update={"storage": TIERS}))
    gone, scratch = buckets.emptied
    assert gone == "vision-prod-gone"
    assert scratch.startswith("vision-prod-scratch-")
    assert [gone, scratch] == emptied_of("aws-prod")


@pytest.mark.parametrize(("cloud", "stack"), [(aws, "aws-prod"), (gcp, "gcp-prod")])
def test_a_made_up_name_stands_there_whole(cloud: Any, stack: str) -> None:
    """Its beginning is that of a kept tier's bucket too, where somebody names one so, and of a platform's."""
    scope = cloud.scope_of(config_of(stack).model_copy(update={"storage": TIERS}))
    assert scope.buckets == ("name-of-our-own",)
    assert list(scope.emptied) == emptied_of(stack)
    assert not [name for name in scope.emptied if name.endswith(("-", "*"))]
    assert all(name.startswith("vision-prod-") for name in scope.emptied)


def test_a_kept_bucket_that_begins_like_one_that_goes_keeps_its_objects() -> None:
    scope = aws.scope_of(config_of("aws-prod").model_copy(update={"storage": TIERS}))
    granted = [resource for one in grants("s3:DeleteObject", scope) for resource in one.resources]
    assert granted == [f"arn:aws:s3:::{name}/*" for name in emptied_of("aws-prod")]
    assert not fnmatchcase("arn:aws:s3:::vision-prod-scratch-archive/x", granted[1])
