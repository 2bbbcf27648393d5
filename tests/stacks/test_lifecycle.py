"""Every sample stack on the real engine: up, again, refresh, down; and what a change of it changes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from samples import STACKS

from gpuplatform.sandbox.cloud.world import Thing

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("stack", STACKS)
def test_a_sample_stack_goes_up_stays_and_goes_down_without_a_trace(stack: str, stage: Any) -> None:
    with stage(stack) as it:
        made = it.up()
        assert made.exit_code == 0, made.diagnostics
        assert set(made.counts) == {"create"}
        assert it.managed
        assert it.held == it.managed
        before = it.things

        again = it.apply()
        assert (again.exit_code, again.changes) == (0, 0)
        seen = it.refresh()
        assert (seen.exit_code, seen.changes) == (0, 0)
        assert it.things == before

        expected = it.kept
        assert expected, "every sample has a bucket that is kept"
        assert any(re.search(r"::cluster-(aks|eks|gke)$", urn) for urn, _ in expected) == stack.endswith(
            "-prod"
        )
        gone = it.destroy()
        assert gone.exit_code == 0, gone.diagnostics
        assert it.held == it.managed == expected

        gone = it.destroy(include_protected=True)
        assert gone.exit_code == 0, gone.diagnostics
        assert it.things == []
        assert it.state.get("resources", []) == []


LARGER = {
    # By sample: a size up that is sold in the same zones. GKE would move a pool's nodes to it in place, under
    # the jobs on them (https://github.com/GoogleCloudPlatform/magic-modules/pull/9575); ours are replaced.
    "aws-dev": "g6.2xlarge",
    "azure-dev": "Standard_NC8as_T4_v3",
    "gcp-dev": "g2-standard-12",
}


@pytest.mark.parametrize("stack", LARGER)
def test_a_change_of_a_stack_changes_what_it_names_and_nothing_else(stack: str, stage: Any) -> None:
    larger = LARGER[stack]
    with stage(stack) as it:
        it.configure(lambda platform: platform["budget"].update(monthly_usd=30_000))
        assert it.apply().exit_code == 0
        start = it.things

        it.configure(_add_a_pool)
        added = it.apply()
        assert added.exit_code == 0, added.diagnostics
        assert set(added.counts) <= {"create", "same", "update"}
        with_pool = it.things
        assert _inputs(with_pool).items() >= _inputs(start).items()
        assert _in_cluster(with_pool) == _in_cluster(start), "what lists the pools is updated, not replaced"
        new = [thing for thing in with_pool if thing.key not in {old.key for old in start}]
        assert {_pool_of(thing.urn) for thing in new} == {"more"}

        it.configure(lambda platform: platform["node_pools"][0].update(sku=larger))
        replaced = it.apply()
        assert replaced.exit_code == 0, replaced.diagnostics
        after = it.things
        old, now = _inputs(with_pool), _inputs(after)
        touched = {key for key in old | now if old.get(key) != now.get(key)}
        urns = {thing.key: thing.urn for thing in (*with_pool, *after)}
        assert {_pool_of(urns[key]) for key in touched} == {"serve"}
        assert now.keys() - old.keys()
        assert len(after) == len(with_pool)
        assert larger in str(after)

        it.configure(lambda platform: platform.update(cost_center="4712"))
        tagged = it.apply()
        assert tagged.exit_code == 0, tagged.diagnostics
        assert set(tagged.counts) == {"update", "same"}
        assert [thing.key for thing in it.things] == [thing.key for thing in after]
        assert "4711" in str(after)
        assert "4711" not in str([(thing.inputs, thing.outputs) for thing in it.things])
        assert it.held == it.managed


def _add_a_pool(platform: dict[str, Any]) -> None:
    platform["node_pools"].append({**platform["node_pools"][0], "name": "more"})


def _inputs(things: list[Thing]) -> dict[int, Any]:
    """What the cloud itself was asked for; objects in the cluster may name its pools."""
    return {thing.key: thing.inputs for thing in things if thing.cloud != "kubernetes"}


def _in_cluster(things: list[Thing]) -> set[int]:
    return {thing.key for thing in things if thing.cloud == "kubernetes"}


def _pool_of(urn: str) -> str:
    """The pool that a resource belongs to, by the name that its component gave it; empty: to none."""
    type_, name = urn.split("::")[2:]
    return name.removeprefix("pool-").split("-")[0] if "GpuPool$" in type_ else ""
