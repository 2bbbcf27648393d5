"""Whatever is asked for: plans, or a refusal that says why and what to do instead. Nothing else."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from samples import STACKS, config_of, decision_of

from gpuplatform.config import Block, Object, SharedFilesystem
from gpuplatform.errors import Refusal
from gpuplatform.storage import BlockPlan, ObjectPlan, SharedFilesystemPlan, storage_plans

NAMES = st.from_regex(r"\A[a-z][a-z0-9]{0,11}\Z")
TEARDOWN = st.sampled_from(["keep", "delete"])
BUCKETS = st.none() | st.from_regex(r"\A[a-z0-9][a-z0-9-]{1,61}[a-z0-9]\Z")
OBJECTS = st.builds(
    Object,
    tier=st.just("object"),
    bucket=BUCKETS,
    cache=st.sampled_from([None, "local-nvme"]),
    cold_after_days=st.none() | st.integers(30, 3650),
    keep_versions_days=st.integers(1, 3650),
    teardown=TEARDOWN,
)
SIZES = st.integers(1, 1_048_576) | st.sampled_from(
    [step * times for step in (100, 256, 1024, 1200, 2400, 4096, 9000, 16_384) for times in range(1, 60)]
)
FILESYSTEMS = st.builds(
    SharedFilesystem,
    tier=st.just("shared-filesystem"),
    service=st.sampled_from(["lustre", "nfs"]),
    capacity_gib=SIZES,
    throughput=st.none() | st.sampled_from([40, 125, 250, 500, 1000]) | st.integers(1, 5000),
    source=st.none() | NAMES,
    teardown=TEARDOWN,
)
BLOCKS = st.builds(
    Block,
    tier=st.just("block"),
    iops=st.none() | st.integers(1, 350_000),
    throughput_mibps=st.none() | st.integers(1, 5000),
    teardown=TEARDOWN,
)
TIERS = st.dictionaries(NAMES, st.one_of(OBJECTS, FILESYSTEMS, BLOCKS), max_size=6)
KINDS = {"object": ObjectPlan, "shared-filesystem": SharedFilesystemPlan, "block": BlockPlan}


def planned(stack, tiers):
    """The plans, or the refusal."""
    decision = decision_of(stack)
    try:
        return storage_plans(decision.config.model_copy(update={"storage": tiers}), decision.profiles)
    except Refusal as refusal:
        return refusal


@settings(max_examples=300, deadline=None)
@given(stack=st.sampled_from(STACKS), tiers=TIERS)
def test_there_is_a_plan_for_each_tier_or_a_refusal_in_due_form(stack, tiers):
    found = planned(stack, tiers)
    if isinstance(found, Refusal):
        name = re.match(r"storage\.([a-z0-9]+)\.([a-z_]+)$", found.where)
        assert name, found.where
        assert hasattr(tiers[name[1]], name[2])
        assert found.what
        assert found.rule
        assert found.way_out
        return
    assert [plan.tier for plan in found] == list(tiers)
    for plan, tier in zip(found, tiers.values(), strict=True):
        assert type(plan) is KINDS[tier.tier]


@settings(max_examples=300, deadline=None)
@given(
    stack=st.sampled_from(STACKS),
    tier=st.builds(
        SharedFilesystem,
        tier=st.just("shared-filesystem"),
        service=st.sampled_from(["lustre", "nfs"]),
        capacity_gib=SIZES,
        throughput=st.none() | st.sampled_from([40, 125, 250, 500, 1000]),
    ),
)
def test_each_way_out_of_a_size_is_one(stack, tier):
    if (stack.partition("-")[0], tier.service) != ("azure", "nfs"):
        tier = tier.model_copy(update={"zone": config_of(stack).network.zones[0]})
    found = planned(stack, {"data": tier})
    if not isinstance(found, Refusal) or found.where != "storage.data.capacity_gib":
        return
    sizes, _, levels = found.way_out.partition(", or throughput: ")
    ways = [{"capacity_gib": int(size)} for size in re.findall(r"(?:capacity_gib: |or )(\d+)", sizes)]
    ways += [{"throughput": int(level)} for level in re.findall(r"\d+", levels)]
    assert ways
    for way in ways:
        assert not isinstance(planned(stack, {"data": tier.model_copy(update=way)}), Refusal), way


@settings(max_examples=500, deadline=None)
@given(stack=st.sampled_from(STACKS), block=BLOCKS)
def test_the_way_out_of_a_disks_performance_leads_out_in_as_many_steps_as_there_are_fields(stack, block):
    for _step in range(3):
        found = planned(stack, {"disks": block})
        if not isinstance(found, Refusal):
            return
        field = found.where.rpartition(".")[2]
        first = found.way_out.partition(", or ")[0]
        changed = {field: None} if "leave" in first else {}
        changed |= {key: int(value) for key, value in re.findall(r"(\w+): (\d+)", first)}
        block = block.model_copy(update=changed)
    assert not isinstance(found, Refusal), found
