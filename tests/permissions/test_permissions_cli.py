"""`gpuplatform permissions STACK`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from samples import ROOT, STACKS
from typer.testing import CliRunner

from gpuplatform import clock
from gpuplatform.cli.main import app
from gpuplatform.errors import ConfigError, Refusal
from gpuplatform.permissions import gcp_rows


@pytest.fixture(autouse=True)
def _today(monkeypatch: pytest.MonkeyPatch) -> None:
    from samples import TODAY

    monkeypatch.setattr(clock, "today", lambda: TODAY)


def _printed(stack: str) -> dict[str, object]:
    ran = CliRunner().invoke(app, ["permissions", stack, "--project", str(ROOT)], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    printed: dict[str, object] = json.loads(ran.stdout)
    return printed


@pytest.mark.parametrize("stack", STACKS)
def test_both_roles_of_a_stack_are_printed(stack: str) -> None:
    printed = _printed(stack)
    cloud = stack.partition("-")[0]
    assert (printed["version"], printed["stack"], printed["cloud"]) == (1, stack, cloud)
    roles = printed["roles"]
    assert isinstance(roles, dict)
    assert list(roles) == ["preview", "deploy"]
    keys = {
        "aws": {"policies"},
        "azure": {"actions", "condition", "dataActions"},
        "gcp": {"condition", "includedPermissions"},
    }
    assert set(roles["preview"]) == set(roles["deploy"]) == keys[cloud]
    assert all(next(iter(role.values())) for role in roles.values())
    assert ("boundary" in printed) == (cloud == "aws")


def test_what_is_printed_on_aws_is_of_the_stack_s_account_and_names() -> None:
    text = json.dumps(_printed("aws-prod"))
    assert "arn:aws:iam::123456789012:role/vision-prod-*" in text
    assert "vision-dev" not in text


def test_an_unknown_stack_is_a_sentence() -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        CliRunner().invoke(app, ["permissions", "nowhere", "--project", str(ROOT)], catch_exceptions=False)


def test_a_type_without_a_row_prints_no_role(monkeypatch: pytest.MonkeyPatch) -> None:
    short = dict(gcp_rows.TABLE)
    del short["gcp:container/cluster:Cluster"]
    monkeypatch.setattr("gpuplatform.permissions.gcp.TABLE", short)
    with pytest.raises(Refusal, match="gcp:container/cluster:Cluster"):
        CliRunner().invoke(app, ["permissions", "gcp-dev", "--project", str(ROOT)], catch_exceptions=False)


def test_the_command_is_a_program_with_an_exit_code(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "gpuplatform", "permissions", "nowhere", "--project", str(ROOT)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr.startswith("error: ")
    assert "Traceback" not in ran.stderr
