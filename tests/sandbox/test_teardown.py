"""A teardown never takes what the stack's file keeps, whatever became of the state's protection."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from samples import recording_of

from gpuplatform.cli.teardown import refuse_unprotected
from gpuplatform.errors import SandboxError
from gpuplatform.sandbox.workspace import Home, Project, find_project


@pytest.fixture
def project(root: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(root)
    return find_project(root)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(root=tmp_path)


def written(home: Home, project: Project, stack: str, *, protected: bool) -> None:
    """A state with all of the sample's resources."""
    resources: list[dict[str, Any]] = [
        {"urn": resource.urn, **({"protect": True} if resource.protect and protected else {})}
        for resource in recording_of(stack).resources
    ]
    state = home.state_file(project, stack)
    state.parent.mkdir(parents=True)
    state.write_text(json.dumps({"checkpoint": {"latest": {"resources": resources}}}))


@pytest.mark.parametrize("stack", ["aws-dev", "azure-dev", "gcp-dev"])
def test_what_the_file_keeps_and_the_state_does_not_is_refused(
    home: Home, project: Project, stack: str
) -> None:
    written(home, project, stack, protected=False)
    with pytest.raises(SandboxError, match="the state does not protect it") as refused:
        refuse_unprotected(home, project, stack, us="gpuplatform", report=pytest.fail)

    assert "storage-datasets" in str(refused.value)
    assert f"`gpuplatform sandbox up {stack}` protects it" in refused.value.way_out


def test_a_state_that_protects_it_goes_on(home: Home, project: Project) -> None:
    refuse_unprotected(home, project, "gcp-dev", us="gpuplatform", report=pytest.fail)  # there is none
    written(home, project, "gcp-dev", protected=True)
    refuse_unprotected(home, project, "gcp-dev", us="gpuplatform", report=pytest.fail)

    assert home.protected(project, "gcp-dev")


def test_a_wrong_file_is_said_and_keeps_nobody_from_a_teardown(
    home: Home, project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    written(home, project, "gcp-dev", protected=False)
    (tmp_path / "Pulumi.yaml").write_text("name: gpuplatform\nruntime: python\n")
    (tmp_path / "Pulumi.gcp-dev.yaml").write_text("config:\n  gpuplatform:platform: {name: x}\n")
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    refuse_unprotected(home, project, "gcp-dev", us="gpuplatform", report=said.append)

    assert len(said) == 1
    assert "is not compared with the state" in said[0]
