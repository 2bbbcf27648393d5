"""The workflow that is written: valid, pinned, and in agreement with what the identities trust."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from samples import ROOT

from gpuplatform.config import KEY, Platform, find_project
from gpuplatform.errors import ConfigError
from gpuplatform.trust import VARIABLES, trust, variable, workflow

CLOUDS = ("aws", "azure", "gcp")
UPTIME = "weekdays 08:00-19:00 Europe/Berlin"


def platform(stack: str, github: dict[str, Any] | None = None, **changes: Any) -> Platform:
    """A sample stack with a repository of the test's, and no schedule but the test's."""
    file = find_project(ROOT).stack_file(stack)
    content = yaml.safe_load(file.read_text(encoding="utf-8"))["config"][KEY]
    content.pop("uptime", None)
    named = {"repository": "octo-org/octo-repo", "environments": ["dev"], **(github or {})}
    content |= {"identity": {"github": named}, **changes}
    kept = {key: value for key, value in content.items() if value is not None}
    return Platform.model_validate_json(json.dumps(kept, default=str))


def text_of(stack: str, github: dict[str, Any] | None = None, **changes: Any) -> str:
    return workflow(stack, platform(stack, github, **changes), engine_version="3.274.1")


def parsed(text: str) -> dict[str, Any]:
    """As GitHub reads it: `on` is a key, not a truth."""
    found: dict[str, Any] = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - texts only
    return found


def of(cloud: str, **changes: Any) -> dict[str, Any]:
    return parsed(text_of(f"{cloud}-dev", **changes))


def scripts(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("cloud", CLOUDS)
def test_oidc_3_a_preview_names_no_environment_and_a_deployment_names_the_trusted_one(cloud: str) -> None:
    jobs = of(cloud)["jobs"]
    assert "environment" not in jobs["preview"]
    assert jobs["deploy"]["environment"] == "dev"
    subjects = trust(platform(f"{cloud}-dev").identity.github).deploy_subjects  # type: ignore[union-attr]
    assert subjects == (f"repo:octo-org/octo-repo:environment:{jobs['deploy']['environment']}",)


@pytest.mark.parametrize("cloud", CLOUDS)
def test_each_job_gets_an_identity_s_token_and_reads_the_repository_and_nothing_else(cloud: str) -> None:
    found = of(cloud)
    assert found["permissions"] == {}
    for job in found["jobs"].values():
        assert job["permissions"] == {"contents": "read", "id-token": "write"}


@pytest.mark.parametrize("cloud", CLOUDS)
def test_every_action_is_pinned_by_a_commit_and_its_release_stands_beside_it(cloud: str) -> None:
    lines = [line for line in text_of(f"{cloud}-dev").splitlines() if "uses:" in line]
    assert len(lines) >= 8
    for line in lines:
        assert re.fullmatch(r"\s+- uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+(\.\d+)+", line), line


@pytest.mark.parametrize("minutes", [60, 90, 240, 720])
def test_oidc_8_the_session_is_the_role_s_and_the_job_ends_within_it(minutes: int) -> None:
    jobs = parsed(text_of("aws-dev", {"session_minutes": minutes}))["jobs"]
    [session] = [step["with"] for step in jobs["deploy"]["steps"] if "role-to-assume" in step.get("with", {})]
    assert int(session["role-duration-seconds"]) == minutes * 60
    assert int(jobs["deploy"]["timeout-minutes"]) == min(minutes, 360)
    [session] = [
        step["with"] for step in jobs["preview"]["steps"] if "role-to-assume" in step.get("with", {})
    ]
    assert int(session["role-duration-seconds"]) == 3600 == int(jobs["preview"]["timeout-minutes"]) * 60


def test_oidc_8_on_google_cloud_a_service_account_stands_between_so_that_tokens_are_renewed() -> None:
    for role, job in of("gcp")["jobs"].items():
        [auth] = [step["with"] for step in job["steps"] if "service_account" in step.get("with", {})]
        assert auth["service_account"] == f"${{{{ vars.GCP_DEV_{role.upper()}_SERVICE_ACCOUNT }}}}"
        assert auth["workload_identity_provider"] == "${{ vars.GCP_DEV_IDENTITY_PROVIDER }}"


def test_oidc_8_on_azure_the_token_s_file_is_written_anew_as_long_as_the_job_runs() -> None:
    for role, job in of("azure")["jobs"].items():
        assert job["env"]["AZURE_CLIENT_ID"] == f"${{{{ vars.AZURE_DEV_{role.upper()}_CLIENT_ID }}}}"
        assert job["env"]["ARM_CLIENT_ID"] == job["env"]["AZURE_CLIENT_ID"]
        [script] = [run for run in scripts(job) if "AZURE_FEDERATED_TOKEN_FILE" in run]
        [pause] = re.findall(r"while sleep (\d+);", script)
        assert int(pause) < 300, "GitHub's token lives for five minutes"


@pytest.mark.parametrize("cloud", CLOUDS)
def test_nothing_that_somebody_else_chooses_stands_in_a_script(cloud: str) -> None:
    for job in of(cloud, uptime=UPTIME)["jobs"].values():
        for script in scripts(job):
            assert "${{" not in script
            assert f"{cloud}-dev" not in script, "the stack's name comes as $STACK"


@pytest.mark.parametrize("cloud", CLOUDS)
def test_every_script_is_one_that_bash_reads(cloud: str) -> None:
    for job in of(cloud, uptime=UPTIME)["jobs"].values():
        for script in scripts(job):
            read = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
            assert (read.returncode, read.stderr) == (0, ""), script


def test_a_variable_that_is_missing_is_named_and_ends_the_job() -> None:
    [check] = [run for run in scripts(of("aws")["jobs"]["deploy"]) if "set this variable" in run]
    environ = {"AWS_DEV_BACKEND_URL": "s3://bucket", "AWS_DEV_PREVIEW_ROLE": "", "AWS_DEV_DEPLOY_ROLE": "arn"}
    run = subprocess.run(
        ["bash", "-e", "-c", check], env=environ, capture_output=True, text=True, check=False
    )
    assert run.returncode != 0
    assert "AWS_DEV_PREVIEW_ROLE: set this variable of the repository" in run.stderr
    environ["AWS_DEV_PREVIEW_ROLE"] = "arn"
    assert subprocess.run(["bash", "-e", "-c", check], env=environ, check=False).returncode == 0


@pytest.mark.parametrize("cloud", CLOUDS)
def test_both_packs_judge_before_anything_is_made(cloud: str) -> None:
    jobs = of(cloud)["jobs"]
    for job, command in (("preview", "pulumi preview"), ("deploy", "pulumi up --yes")):
        [script] = [run for run in scripts(jobs[job]) if run.startswith(command)]
        assert script.endswith("--policy-pack policies/gpu --policy-pack policies/security")


@pytest.mark.parametrize("cloud", CLOUDS)
def test_two_updates_of_a_stack_wait_for_one_another_and_none_is_cancelled(cloud: str) -> None:
    found = of(cloud)["jobs"]["deploy"]["concurrency"]
    assert found == {"group": f"gpuplatform-{cloud}-dev", "cancel-in-progress": "false", "queue": "max"}


@pytest.mark.parametrize("cloud", CLOUDS)
def test_the_variables_that_it_reads_are_those_that_bootstrap_names(cloud: str) -> None:
    text = text_of(f"{cloud}-dev")
    named = {variable(f"{cloud}-dev", key) for key in VARIABLES[cloud]}
    assert set(re.findall(r"vars\.(\w+)", text)) == named
    assert "secrets." not in text


def test_without_a_schedule_nothing_asks_for_one() -> None:
    text = workflow(
        "aws-prod", platform("aws-prod", {"environments": ["prod"]}, expires=None), engine_version="3.274.1"
    )
    assert "schedule" not in text


@pytest.mark.parametrize("cloud", CLOUDS)
def test_a_schedule_is_asked_before_anything_goes_up_or_down_and_data_stays(cloud: str) -> None:
    found = of(cloud, uptime=UPTIME)
    steps = {step.get("name"): step for step in found["jobs"]["deploy"]["steps"]}
    assert steps["What the schedule wants"]["run"].startswith('wanted=$(gpuplatform schedule "$STACK"')
    assert steps["Up"]["if"] == "steps.schedule.outputs.wanted == 'up'"
    assert "--exclude-protected" in steps["Down, but for what is protected"]["run"]
    names = list(steps)
    assert names.index("What the schedule wants") < names.index("Up")


def test_what_the_schedule_s_command_says_is_where_the_workflow_looks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from gpuplatform.cli.main import app

    shutil.copytree(ROOT / "stacks", tmp_path / "stacks")
    shutil.copy(ROOT / "Pulumi.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    said = CliRunner().invoke(app, ["schedule", "aws-dev", "--json"])
    assert said.exit_code == 0, said.output
    [script] = [run for run in scripts(of("aws")["jobs"]["deploy"]) if "gpuplatform schedule" in run]
    assert "\"$STACK\" --json | jq -er '.stacks[0].wanted'" in script
    assert json.loads(said.stdout)["stacks"][0]["wanted"] in {"up", "down", "gone"}


def test_ticks_come_after_each_change_of_the_week_and_once_more() -> None:
    assert of("aws", uptime=UPTIME)["on"]["schedule"] == [
        {"cron": cron, "timezone": "Europe/Berlin"}
        for cron in (
            "3 8 * * 1,2,3,4,5",
            "33 8 * * 1,2,3,4,5",
            "3 19 * * 1,2,3,4,5",
            "33 19 * * 1,2,3,4,5",
        )
    ]


def test_ticks_of_a_night_and_of_a_late_hour_fall_on_the_next_day() -> None:
    night = of("aws", uptime="sat-sun 23:45-06:00 UTC")["on"]["schedule"]
    assert [tick["cron"] for tick in night] == [
        "48 23 * * 0,6",
        "18 0 * * 0,1",
        "3 6 * * 0,1",
        "33 6 * * 0,1",
    ]


def test_an_environment_that_only_expires_is_looked_at_once_a_day() -> None:
    assert of("aws")["on"]["schedule"] == [{"cron": "23 3 * * *"}]


def test_the_environment_is_the_namesake_the_only_one_or_asked_for() -> None:
    many = {"environments": ["production", "Dev"]}
    assert parsed(text_of("aws-dev", many))["jobs"]["deploy"]["environment"] == "Dev"
    only = {"environments": ["anything"]}
    assert parsed(text_of("aws-dev", only))["jobs"]["deploy"]["environment"] == "anything"
    config = platform("aws-dev", {"environments": ["a", "b"]})
    with pytest.raises(ConfigError, match="it is open which"):
        workflow("aws-dev", config, engine_version="3.274.1")
    chosen = workflow("aws-dev", config, engine_version="3.274.1", environment="b")
    assert parsed(chosen)["jobs"]["deploy"]["environment"] == "b"
    with pytest.raises(ConfigError, match="does not trust the environment 'c'"):
        workflow("aws-dev", config, engine_version="3.274.1", environment="c")


def test_without_an_identity_there_is_no_workflow_and_the_way_out_is_said() -> None:
    with pytest.raises(ConfigError, match="add `identity:"):
        workflow("aws-dev", platform("aws-dev", identity=None), engine_version="3.274.1")


@pytest.mark.parametrize("branch", ["", "a' || true || 'b", "${{ x }}", "-main", "a b", "main\n"])
def test_a_branch_s_name_cannot_leave_its_quotes(branch: str) -> None:
    with pytest.raises(ConfigError, match="no name of a branch"):
        workflow("aws-dev", platform("aws-dev"), engine_version="3.274.1", branch=branch)


@pytest.mark.parametrize("stack", ["a;b", "$(id)", "", "9a", "github-dev", "a b", "é"])
def test_a_stack_s_name_is_one_of_a_variable_too(stack: str) -> None:
    with pytest.raises(ConfigError, match="gives no name of a variable"):
        workflow(stack, platform("aws-dev"), engine_version="3.274.1")
