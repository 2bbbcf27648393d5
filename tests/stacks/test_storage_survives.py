"""A teardown takes everything but the protected tiers, and the next `up` finds them again."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplatform.sandbox.cloud.world import Thing

pytestmark = pytest.mark.engine

HOLDS_DATA = {
    "aws": {"aws:s3/bucket:Bucket", "aws:fsx/lustreFileSystem:LustreFileSystem"},
    "azure": {
        "azure-native:storage:BlobContainer",
        "azure-native:storage:FileShare",
        "azure-native:storagecache:AmlFilesystem",
    },
    "gcp": {"gcp:storage/bucket:Bucket", "gcp:lustre/instance:Instance", "gcp:filestore/instance:Instance"},
}

TAKEN = {
    "aws": {
        "aws:eks/cluster:Cluster",
        "aws:eks/nodeGroup:NodeGroup",
        "aws:ec2/natGateway:NatGateway",
        "aws:ec2/eip:Eip",
    },
    "azure": {
        "azure-native:containerservice:ManagedCluster",
        "azure-native:containerservice:AgentPool",
        "azure-native:network:NatGateway",
        "azure-native:network:PublicIPAddress",
    },
    "gcp": {
        "gcp:container/cluster:Cluster",
        "gcp:container/nodePool:NodePool",
        "gcp:compute/routerNat:RouterNat",
        "gcp:compute/address:Address",
    },
}
"""What costs by the hour, whether anybody uses it or not."""


@pytest.mark.parametrize("cloud", TAKEN)
def test_a_teardown_keeps_the_tiers_and_the_next_up_finds_them(cloud: str, stage: Any) -> None:
    """The production stacks have every tier; without `protect`, their clusters are as any other."""
    with stage(f"{cloud}-prod") as it:
        it.configure(lambda platform: platform.update(protect=False))
        made = it.apply()
        assert made.exit_code == 0, made.diagnostics
        before = it.things
        assert _types(before) >= HOLDS_DATA[cloud]
        expected = it.kept

        down = it.destroy()

        assert down.exit_code == 0, down.diagnostics
        left = it.things
        assert it.held == it.managed == expected
        assert _types(left) >= HOLDS_DATA[cloud]
        assert _types(left) & TAKEN[cloud] == set()
        assert [thing.token for thing in left if thing.cloud == "kubernetes"] == []
        assert {_number(thing) for thing in left} <= {_number(thing) for thing in before}
        again = it.destroy()
        assert (again.exit_code, again.changes) == (0, 0), "a second night changes nothing"
        assert it.things == left

        up = it.apply()

        assert up.exit_code == 0, up.diagnostics
        after = it.things
        assert {_number(thing) for thing in left} <= {_number(thing) for thing in after}, (
            "the very same things"
        )
        assert len({thing.urn for thing in after}) == len(after)
        assert sorted(thing.urn for thing in after) == sorted(thing.urn for thing in before)
        assert it.held == it.managed
        assert it.pulumi("preview").changes == 0


@pytest.mark.parametrize("cloud", TAKEN)
def test_a_tier_that_is_said_to_go_goes(cloud: str, stage: Any) -> None:
    with stage(f"{cloud}-dev") as it:
        it.configure(lambda platform: platform["storage"]["datasets"].update(teardown="delete"))
        made = it.apply()
        assert made.exit_code == 0, made.diagnostics
        assert it.kept == []

        down = it.destroy()

        assert down.exit_code == 0, down.diagnostics
        assert it.things == []
        assert it.state.get("resources", []) == []


@pytest.mark.parametrize("cloud", TAKEN)
def test_a_bucket_alone_stands_on_no_network(cloud: str, stage: Any) -> None:
    """An environment that sleeps and keeps a bucket costs that bucket, its key, and nothing else."""
    with stage(f"{cloud}-dev") as it:
        assert it.apply().exit_code == 0
        assert it.destroy().exit_code == 0

        assert it.things
        assert {thing.urn.split("::")[2].split("$")[0] for thing in it.things} == {
            f"gpuplatform:index:{cloud.title()}ObjectStore"
        }


def _types(things: list[Thing]) -> set[str]:
    return {thing.token for thing in things}


def _number(thing: Thing) -> tuple[int, str, str]:
    """The clouds' own number of a thing is never given twice."""
    return thing.key, thing.urn, thing.id
