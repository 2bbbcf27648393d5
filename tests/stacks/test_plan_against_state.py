"""The plan against an exported state says what the real engine's preview says, resource by resource."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from samples import TODAY

from gpuplatform.config import find_project
from gpuplatform.plan import Changes, make

pytestmark = pytest.mark.engine

Change = Callable[[dict[str, Any]], Any]


def _pulumi(it: Any, *arguments: str) -> str:
    command = [str(it.sandbox.home.bin / "pulumi"), *arguments, "--stack", it.stack]
    folder, environ = it.sandbox.project.root, dict(it.sandbox.environ)
    return subprocess.run(
        command, cwd=folder, env=environ, check=True, capture_output=True, text=True, timeout=300
    ).stdout


def _previewed(it: Any) -> dict[str, str]:
    """What the engine would do, by URN; components and the stack itself apart."""
    steps = json.loads(_pulumi(it, "preview", "--json", "--show-replacement-steps"))["steps"]
    found: dict[str, set[str]] = {}
    for step in steps:
        if step["op"] != "same" and (step.get("newState") or step["oldState"]).get("custom"):
            found.setdefault(step["urn"], set()).add(step["op"])
    return _in_a_cloud({urn: _action(operations) for urn, operations in found.items()})


def _action(operations: set[str]) -> str:
    """One word for the steps of one resource."""
    if operations & {"replace", "create-replacement"}:
        return "replace"
    # What goes before the resource that it depends on is replaced, and never comes again, is deleted.
    (operation,) = operations
    return "delete" if operation == "delete-replaced" else operation


def _in_a_cloud(steps: dict[str, str]) -> dict[str, str]:
    """Neither the stack itself nor updates of a provider, whose new kubeconfig changes nothing anywhere.

    The simulated GKE takes a certificate inside `masterAuth` for unknown whenever the cluster is updated.
    """
    return {
        urn: action
        for urn, action in steps.items()
        if "::pulumi:pulumi:Stack::" not in urn and not ("pulumi:providers:" in urn and action == "update")
    }


def _planned(it: Any, export: Path) -> Changes:
    changes = make(find_project(it.sandbox.project.root), it.stack, TODAY, export).changes
    assert changes is not None, "the plan is blocked"
    return changes


def _another_pool(platform: dict[str, Any]) -> None:
    platform["node_pools"].append({**platform["node_pools"][0], "name": "more"})


def _larger(sku: str) -> Change:
    return lambda platform: platform["node_pools"][0].update(sku=sku)


def _another_owner(platform: dict[str, Any]) -> None:
    platform["owner"] = "somebody-else@example.com"


def _no_spot(platform: dict[str, Any]) -> None:
    platform["node_pools"][0]["capacity"] = {"kind": "on-demand"}


SKUS = {"aws-dev": "g6.2xlarge", "azure-dev": "Standard_NC8as_T4_v3", "gcp-dev": "g2-standard-12"}


@pytest.mark.parametrize("stack", SKUS)
def test_the_plan_announces_what_the_engine_previews(stack: str, stage: Any, tmp_path: Path) -> None:
    with stage(stack) as it:
        it.configure(lambda platform: platform["budget"].update(monthly_usd=500_000))
        assert it.apply().exit_code == 0
        export = tmp_path / "state.json"
        export.write_text(_pulumi(it, "stack", "export"))

        unchanged = _planned(it, export)
        assert unchanged.steps == ()
        assert unchanged.same > 10

        file = it.sandbox.project.stack_file(stack)
        original = file.read_text()
        for change in (_another_pool, _larger(SKUS[stack]), _another_owner, _no_spot):
            file.write_text(original)
            it.configure(change)
            planned = _in_a_cloud({step.urn: step.action for step in _planned(it, export).steps})
            assert planned
            assert planned == _previewed(it)


MIG = {
    # By sample: a machine whose GPUs can be cut, and another image. On GKE another image is another owner of
    # the driver, which all pools of a cluster share: there the sample's one pool is changed.
    "aws-dev": ("p5.4xlarge", "bottlerocket"),
    "azure-dev": ("Standard_NC24ads_A100_v4", "azurelinux"),
    "gcp-dev": ("a2-ultragpu-1g", None),
}


@pytest.mark.parametrize("stack", MIG)
def test_another_machine_image_or_mig_profile_replaces_that_pool_and_nothing_else(
    stack: str, stage: Any, tmp_path: Path
) -> None:
    sku, image = MIG[stack]

    def unlimited(platform: dict[str, Any]) -> None:
        platform["budget"]["monthly_usd"] = 5_000_000
        platform.pop("guardrails", None)
        first, *_ = platform["node_pools"]
        cut = {**first, "name": "cut", "sku": sku, "sharing": {"kind": "mig", "profile": "1g.10gb"}}
        platform["node_pools"] += [{**first, "name": "other"}, cut]

    changes: dict[str, Change] = {
        "other": _pool("other", sku=SKUS[stack]),
        "cut": _pool("cut", sharing={"kind": "mig", "profile": "2g.20gb"}),
        **({"serve": _pool("serve", image=image)} if image else {}),
    }
    with stage(stack) as it:
        it.configure(unlimited)
        made = it.apply()
        assert made.exit_code == 0, made.diagnostics
        export = tmp_path / "state.json"
        export.write_text(_pulumi(it, "stack", "export"))
        file = it.sandbox.project.stack_file(stack)
        original = file.read_text()
        for pool, change in changes.items():
            file.write_text(original)
            it.configure(change)
            _replaces_only(pool, it, export)


def test_another_image_on_gke_replaces_that_pool_and_nothing_else(stage: Any, tmp_path: Path) -> None:
    with stage("gcp-dev") as it:
        assert it.apply().exit_code == 0
        export = tmp_path / "state.json"
        export.write_text(_pulumi(it, "stack", "export"))
        it.configure(_pool("serve", image="ubuntu"))
        _replaces_only("serve", it, export)


def _replaces_only(pool: str, it: Any, export: Path) -> None:
    """In the cloud that pool alone; in the cluster, what serves its nodes may change in place."""
    steps = _planned(it, export).steps
    replaced = [step for step in steps if step.action == "replace"]
    assert {step.component for step in replaced} == {f"pool-{pool}"}
    assert any(step.type.rpartition(":")[2] in {"NodeGroup", "AgentPool", "NodePool"} for step in replaced)
    elsewhere = [step for step in steps if step.component != f"pool-{pool}"]
    assert {step.type.partition(":")[0] for step in elsewhere} <= {"kubernetes"}
    assert _in_a_cloud({step.urn: step.action for step in steps}) == _previewed(it)


def _pool(name: str, **fields: Any) -> Change:
    def change(platform: dict[str, Any]) -> None:
        next(pool for pool in platform["node_pools"] if pool["name"] == name).update(fields)

    return change
