"""Which buckets a configuration names, and which a teardown empties."""

from __future__ import annotations

from samples import config_of

from gpuplatform.config.storage import Block, Object
from gpuplatform.permissions import aws, gcp
from gpuplatform.permissions.buckets import own_buckets

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


def test_what_a_teardown_takes_is_emptied_and_nothing_else() -> None:
    buckets = own_buckets(config_of("aws-prod").model_copy(update={"storage": TIERS}))
    assert buckets.emptied == ("vision-prod-gone", "vision-prod-scratch-")


def test_aws_writes_a_made_up_name_as_a_pattern() -> None:
    scope = aws.scope_of(config_of("aws-prod").model_copy(update={"storage": TIERS}))
    assert scope.buckets == ("name-of-our-own",)
    assert scope.emptied == ("vision-prod-gone", "vision-prod-scratch-*")


def test_google_cloud_takes_the_beginning_of_a_name() -> None:
    scope = gcp.scope_of(config_of("gcp-prod").model_copy(update={"storage": TIERS}))
    assert scope.emptied == ("vision-prod-gone", "vision-prod-scratch-")


def test_the_real_names_are_within_the_scope() -> None:
    from samples import decision_of

    from gpuplatform.storage import ObjectPlan, storage_plans

    for stack in ("aws-prod", "gcp-prod"):
        config = config_of(stack).model_copy(update={"storage": {"scratch": TIERS["scratch"]}})
        (plan,) = storage_plans(config, decision_of(stack).profiles)
        assert isinstance(plan, ObjectPlan)
        (emptied,) = own_buckets(config).emptied
        assert plan.bucket.startswith(emptied)
        assert plan.bucket.startswith(f"{config.physical_name}-")
