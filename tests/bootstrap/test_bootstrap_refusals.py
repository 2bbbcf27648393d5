"""What is refused before an engine is looked for, and where a record belongs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gpuplatform.bootstrap import Outcome, Variable, bootstrap
from gpuplatform.bootstrap.place import Place
from gpuplatform.bootstrap.terminal import show
from gpuplatform.cli.main import app
from gpuplatform.config import find_project
from gpuplatform.errors import ConfigError, GuardrailError
from gpuplatform.sandbox import environment

NO_ENGINE = {"PATH": "", "HOME": "/nowhere"}


def run(project: Path, today: Any, stack: str = "aws-dev", **options: Any) -> Outcome:
    return bootstrap(find_project(project), stack, today, report=print, environ=NO_ENGINE, **options)


def configure(project: Path, change: Any) -> None:
    import yaml

    file = find_project(project).stack_file("aws-dev")
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    change(document["config"]["gpuplatform:platform"])
    file.write_text(yaml.safe_dump(document), encoding="utf-8")


def test_without_an_identity_nothing_is_built_and_the_way_out_is_said(project: Path, today: Any) -> None:
    configure(project, lambda platform: platform.pop("identity"))
    with pytest.raises(ConfigError, match="no repository is trusted") as refused:
        run(project, today)
    assert "add `identity:" in refused.value.way_out
    assert not (project / ".gpuplatform").exists()


def test_a_stack_that_a_guardrail_forbids_gets_no_identities(project: Path, today: Any) -> None:
    configure(project, lambda platform: platform["budget"].update(monthly_usd=1))
    with pytest.raises(GuardrailError, match="a mandatory verdict forbids this stack"):
        run(project, today)


def test_a_damaged_record_is_refused_before_anything_is_done(project: Path, today: Any) -> None:
    file = project / "stacks" / "bootstrap" / "aws-dev.json"
    file.parent.mkdir()
    file.write_text("<<<<<<< HEAD\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="this is no record of a bootstrap"):
        run(project, today)
    assert file.read_text(encoding="utf-8") == "<<<<<<< HEAD\n"


def test_the_record_of_a_real_bootstrap_is_in_the_project_and_a_simulated_one_never(project: Path) -> None:
    real = Place.of(project, "aws-dev", {})
    assert real.record == project / "stacks" / "bootstrap" / "aws-dev.json"
    assert real.folder == project / ".gpuplatform" / "bootstrap" / "aws-dev"
    inside = Place.of(project, "aws-dev", {environment.ENGINE: "/usr/bin/pulumi"})
    assert inside.record == project / ".gpuplatform" / "sandbox" / "bootstrap" / "aws-dev.json"
    assert (real.simulated, inside.simulated) == (False, True)


def test_the_command_says_what_is_wrong_in_words(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    found = CliRunner().invoke(app, ["bootstrap", "aws-devv"])
    assert isinstance(found.exception, ConfigError)
    assert "there is no stack 'aws-devv'" in str(found.exception)
    written = CliRunner().invoke(app, ["workflow", "aws-dev"])
    assert written.exit_code == 0
    assert written.stdout.startswith("# Written by `gpuplatform workflow aws-dev`")


def outcome(**changes: Any) -> Outcome:
    made: dict[str, Any] = {
        "stack": "aws-dev",
        "record": "stacks/bootstrap/aws-dev.json",
        "changes": {"create": 27},
        "backend_url": "s3://bucket?region=us-east-1",
        "secrets_provider": "awskms://alias/key?region=us-east-1",
        "admin": "arn:aws:iam::123456789012:role/deploy",
        "admin_missing": True,
        "viewer": "arn:aws:iam::123456789012:role/preview",
        "viewer_missing": True,
        "repository": "octo-org/octo-repo",
        "variables": (Variable(name="AWS_DEV_BACKEND_URL", value="s3://bucket?region=us-east-1"),),
        "environments": ("dev",),
    }
    return Outcome(**{**made, **changes})


def test_what_is_to_be_set_is_shown_whole(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    show(outcome())
    said = capsys.readouterr().out
    for word in (
        "arn:aws:iam::123456789012:role/deploy",
        "cluster.viewers",
        "arn:aws:iam::123456789012:role/preview",
        "AWS_DEV_BACKEND_URL",
        "pulumi stack init aws-dev --secrets-provider 'awskms://alias/key?region=us-east-1'",
        "deployments from the main branch only",
        "commit stacks/bootstrap/aws-dev.json",
    ):
        assert word in said
    assert "it is there" not in said
    show(outcome(admin_missing=False, viewer_missing=False))
    assert capsys.readouterr().out.count("it is there") == 2
    show(outcome(record="", admin_missing=None, viewer_missing=None))
    said = capsys.readouterr().out
    assert "commit stacks/bootstrap" not in said
    assert said.count("add the object ID") == 2


def test_a_preview_of_nothing_promises_no_values(capsys: pytest.CaptureFixture[str]) -> None:
    show(outcome(backend_url="", secrets_provider="", admin="", variables=()))
    said = capsys.readouterr().out
    assert "27 create" in said
    assert "is known once it is built" in said


def test_the_document_holds_the_same_as_data() -> None:
    found = outcome().document()
    assert found["backend"] == {"url": "s3://bucket?region=us-east-1"}
    assert found["github"]["variables"] == {"AWS_DEV_BACKEND_URL": "s3://bucket?region=us-east-1"}
    assert (found["viewer"], found["viewer_missing"]) == ("arn:aws:iam::123456789012:role/preview", True)
    assert os.fspath(found["record"]) == "stacks/bootstrap/aws-dev.json"
