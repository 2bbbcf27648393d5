"""Each cloud's prod stack with its fabric, in the real engine: up, one more pool, another machine, down."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from samples import ROOT

from gpuplatform.sandbox import session
from gpuplatform.sandbox.cloud.world import World
from gpuplatform.sandbox.session import Sandbox

pytestmark = pytest.mark.engine

# One more pool, as a line of the stack's `node_pools`.
MORE = {
    "aws-prod": "{name: block, sku: p5.48xlarge, purpose: training, nodes: {min: 0, max: 1},"
    " zones: [use1-az6], fabric: required, capacity: {kind: capacity-block, id: cr-0123456789abcdef0},"
    " sharing: {kind: mig, profile: 3g.40gb}}",
    "gcp-prod": "{name: burst, sku: a3-megagpu-8g, purpose: training, nodes: {min: 0, max: 1},"
    " zones: [us-east4-b], fabric: required, capacity: {kind: queued},"
    " sharing: {kind: mig, profile: 3g.40gb}}",
}
# Then another machine type, another MIG profile, another image: (old, new, the pool that is replaced).
CHANGED = {
    "aws-prod": (
        ("sku: g6.12xlarge", "sku: g6.24xlarge", "pool-serve-gpu-pool"),
        ("profile: 3g.40gb", "profile: 1g.10gb", "pool-block-gpu-pool"),
        (
            "        fabric: required\n",
            "        fabric: required\n        image: bottlerocket\n",
            "pool-train-gpu-pool",
        ),
    ),
    # No other image: on Ubuntu the driver has another owner, and a cluster has one.
    "gcp-prod": (
        ("sku: g2-standard-48", "sku: g2-standard-24", "pool-serve-gpu-pool"),
        ("profile: 3g.40gb", "profile: 1g.10gb", "pool-burst-gpu-pool"),
    ),
}
POOLS = {"aws-prod": "aws:eks/nodeGroup:NodeGroup", "gcp-prod": "gcp:container/nodePool:NodePool"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the samples, whose stacks may be edited."""
    shutil.copytree(ROOT / "stacks", tmp_path / "stacks", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Pulumi.yaml", tmp_path)
    return tmp_path


def edit(project: Path, stack: str, old: str, new: str) -> None:
    file = project / f"stacks/config/Pulumi.{stack}.yaml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def pools(sandbox: Sandbox, stack: str) -> dict[str, int]:
    """The pools that exist in the cloud: which thing each is; another one of the same name differs."""
    with closing(World(sandbox.home.world)) as world:
        things = world.all(f"{sandbox.project.name}/{stack}")
    return {thing.urn.rpartition("::")[2]: thing.key for thing in things if thing.token == POOLS[stack]}


@pytest.mark.parametrize("stack", sorted(MORE))
def test_a_prod_stack_comes_up_grows_and_goes_down_in_order(stack, project, tmp_path, engine):  # noqa: ARG001
    environ = {**os.environ, "GPUPLATFORM_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}
    with Sandbox.open(project, report=print, environ=environ) as sandbox:
        made = session.up(sandbox, stack, quiet=True)
        assert made.exit_code == 0, made.diagnostics
        first = pools(sandbox, stack)

        again = session.up(sandbox, stack, quiet=True)
        assert (again.exit_code, again.changes) == (0, 0), again.counts

        edit(project, stack, "    node_pools:\n", f"    node_pools:\n      - {MORE[stack]}\n")
        grown = session.up(sandbox, stack, quiet=True)
        assert grown.exit_code == 0, grown.diagnostics
        assert not {"delete", "replace"} & grown.counts.keys(), grown.counts
        second = pools(sandbox, stack)
        assert first.items() < second.items()

        for old, new, replaced in CHANGED[stack]:
            before = pools(sandbox, stack)
            edit(project, stack, old, new)
            changed = session.up(sandbox, stack, quiet=True)
            assert changed.exit_code == 0, changed.diagnostics
            after = pools(sandbox, stack)
            assert after.keys() == before.keys()
            assert {name for name in after if after[name] != before[name]} == {replaced}, new

        gone = session.destroy(sandbox, stack, include_protected=True, quiet=True)
        assert gone.exit_code == 0, gone.diagnostics
        with closing(World(sandbox.home.world)) as world:
            assert world.all() == []
