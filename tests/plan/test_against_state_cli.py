"""`gpuplatform plan STACK --against-state FILE` on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from gpuplatform.cli.main import app
from gpuplatform.errors import ConfigError

LEFT_OVER = {
    "urn": "urn:pulumi:aws-dev::gpuplatform::aws:ec2/eip:Eip::forgotten",
    "type": "aws:ec2/eip:Eip",
    "custom": True,
    "id": "eipalloc-1",
}


@pytest.fixture
def plan(root: Path, tmp_path: Path) -> Callable[..., Any]:
    def run(*resources: dict[str, Any], arguments: tuple[str, ...] = ()) -> Any:
        state = tmp_path / "state.json"
        state.write_text(json.dumps({"version": 3, "deployment": {"resources": list(resources)}}))
        command = ["plan", "aws-dev", "--project", str(root), "--against-state", str(state), *arguments]
        return CliRunner().invoke(app, command)

    return run


def test_the_steps_are_printed_with_a_summary(plan: Callable[..., Any]) -> None:
    result = plan(LEFT_OVER)
    assert result.exit_code == 0, result.output
    assert "1 to delete, 0 stay as they are" in result.output
    assert "Eip forgotten" in result.output
    assert "NodeGroup pool-serve-gpu-pool" in result.output


def test_the_steps_are_part_of_the_document(plan: Callable[..., Any], root: Path) -> None:
    made = json.loads(plan(LEFT_OVER, arguments=("--json",)).output)
    jsonschema.validate(made, json.loads((root / "docs/plan.schema.json").read_text()))
    assert made["version"] == 1
    changes = made["changes"]
    assert changes["same"] == 0
    actions = {step["name"]: step["action"] for step in changes["steps"]}
    assert actions["forgotten"] == "delete"
    assert actions["pool-serve-gpu-pool"] == "create"
    counted = sum(part["count"] for part in made["resources"] if not part["component"])
    providers = [step for step in changes["steps"] if step["type"].startswith("pulumi:providers:")]
    assert len(changes["steps"]) == counted + len(providers) + 1


def test_without_a_state_there_are_no_changes(root: Path) -> None:
    result = CliRunner().invoke(app, ["plan", "aws-dev", "--project", str(root), "--json"])
    assert json.loads(result.output)["changes"] is None


def test_a_check_of_pull_requests_fails_where_something_would_go(plan: Callable[..., Any]) -> None:
    strict = ("--fail-on-replace",)
    assert plan(arguments=strict).exit_code == 0
    assert plan(LEFT_OVER, arguments=strict).exit_code == 1


def test_fail_on_replace_needs_a_state(root: Path) -> None:
    result = CliRunner().invoke(app, ["plan", "aws-dev", "--project", str(root), "--fail-on-replace"])
    assert isinstance(result.exception, ConfigError)
    assert "--against-state FILE" in str(result.exception)
