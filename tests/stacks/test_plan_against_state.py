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

_OPERATIONS = {"create-replacement": "replace", "delete-replaced": "replace"}


def _pulumi(it: Any, *arguments: str) -> str:
    command = [str(it.sandbox.home.bin / "pulumi"), *arguments, "--stack", it.stack]
    folder, environ = it.sandbox.project.root, dict(it.sandbox.environ)
    return subprocess.run(
        command, cwd=folder, env=environ, check=True, capture_output=True, text=True, timeout=300
    ).stdout


def _previewed(it: Any) -> dict[str, str]:
    """What the engine would do, by URN; components and the stack itself apart."""
    steps = json.loads(_pulumi(it, "preview", "--json"))["steps"]
    custom = [
        step
        for step in steps
        if (step.get("newState") or step["oldState"]).get("custom") and step["op"] != "same"
    ]
    return _in_a_cloud({step["urn"]: _OPERATIONS.get(step["op"], step["op"]) for step in custom})


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


@pytest.mark.parametrize("stack", SKUS)
def test_another_machine_touches_that_pool_and_nothing_else(stack: str, stage: Any, tmp_path: Path) -> None:
    with stage(stack) as it:
        it.configure(lambda platform: platform["budget"].update(monthly_usd=500_000))
        it.configure(_another_pool)
        assert it.apply().exit_code == 0
        export = tmp_path / "state.json"
        export.write_text(_pulumi(it, "stack", "export"))
        it.configure(_larger(SKUS[stack]))
        steps = _planned(it, export).steps
        assert {step.component for step in steps} == {"pool-serve"}
        assert any("Pool" in step.type or "nodeGroup" in step.type for step in steps)
