"""What STACK names reaches a shell only where it is the name of a stack."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from samples import ROOT, STACKS

TARGETS = ("up", "down", "plan")


def _make(*arguments: str) -> subprocess.CompletedProcess[str]:
    # `make test` runs these tests too, and hands its own flags and level down.
    environ = {
        key: value for key, value in os.environ.items() if key not in {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
    }
    return subprocess.run(
        ["make", *arguments], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["nope", "", "%", "aws", "aws-dev aws-prod", "aws-dev'"])
def test_an_unknown_stack_is_a_sentence_that_names_the_stacks(target: str, name: str) -> None:
    done = _make(target, f"STACK={name}")

    assert done.returncode == 2
    assert f"there is no stack '{name}': the stacks are {' '.join(sorted(STACKS))}" in done.stderr
    assert "No rule to make target" not in done.stderr


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "name", ["aws-dev;touch {}", "aws-dev'; touch {}; '", 'x"; touch {}; "', "`touch {}`", "$$(touch {})"]
)
def test_a_command_in_the_stack_s_name_is_not_run(target: str, name: str, tmp_path: Path) -> None:
    done = _make(target, f"STACK={name.format(tmp_path / 'ran')}")

    assert done.returncode == 2
    assert "there is no stack" in done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("stack", STACKS)
def test_each_stack_is_planned_in_its_own_cloud_s_environment(stack: str) -> None:
    done = _make("--dry-run", "plan", f"STACK={stack}")

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f".venvs/{stack.partition('-')[0]}/bin/gpuplatform plan {stack}"
