"""The engine is killed in the middle of its work: nothing is left behind, nothing is there twice."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
from killing import KILLED, killed_when, recovered, slow, wait_for

pytestmark = pytest.mark.engine

CLUSTER = "aws:eks/cluster:Cluster"


def test_an_update_killed_while_the_cluster_comes_up_goes_on_once_the_stack_isrecovered(stage: Any) -> None:
    """Pulumi cannot know whether an interrupted create took effect; the cloud does, so its record decides."""
    with stage("aws-dev") as it:
        with slow(it, CLUSTER) as begun:
            killed = killed_when(begun, it, "up", "--skip-preview")
            assert killed == KILLED
            wait_for(lambda: any(thing.token == CLUSTER for thing in it.things))  # the cloud goes on
        assert set(it.held) > set(it.managed)

        said = recovered(it)
        assert any(line.startswith("lifted the lock of ") for line in said)
        assert any(line.startswith("adopted: ") and CLUSTER in line for line in said)
        assert it.held == it.managed
        assert "pending_operations" not in it.state
        assert recovered(it) == [], "there is nothing left to do"
        resumed = it.pulumi("up", "--yes")

        assert resumed.exit_code == 0, resumed.diagnostics
        assert resumed.counts["create"] < len(it.things), "it went on, and did not start over"
        assert set(resumed.counts) <= {"create", "update", "same"}
        assert it.held == it.managed
        assert len({thing.urn for thing in it.things}) == len(it.things)
        assert it.pulumi("preview").changes == 0

        before, teardown = len(it.things), ("destroy", "--exclude-protected")
        assert killed_when(lambda: len(it.things) < before / 2, it, *teardown) == KILLED
        assert it.things
        recovered(it)
        assert it.held == it.managed
        gone = it.destroy(include_protected=True)
        assert gone.exit_code == 0, gone.diagnostics
        assert it.things == []
        assert it.state.get("resources", []) == []


def test_what_was_adopted_can_be_taken_down_at_once(stage: Any) -> None:
    """With its dependencies: a cluster without them would be deleted after the network it stands in."""
    with stage("aws-dev") as it:
        with slow(it, CLUSTER) as begun:
            assert killed_when(begun, it, "up", "--skip-preview") == KILLED
            wait_for(lambda: any(thing.token == CLUSTER for thing in it.things))
        recovered(it)
        gone = it.destroy(include_protected=True)

        assert gone.exit_code == 0, gone.diagnostics
        assert it.things == []


@pytest.mark.parametrize("left", ["stacks/{project}/{stack}.json.attrs", "meta.yaml.attrs"])
def test_an_empty_sidecar_stops_every_command_until_the_stack_isrecovered(
    stage: Any, left: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The file backend empties a sidecar before it writes it: an engine killed in between leaves it so."""
    with stage("aws-dev") as it:
        assert it.pulumi("preview").exit_code == 0
        data = it.sandbox.home.state / ".pulumi"
        sidecar = data / left.format(project=it.sandbox.project.name, stack=it.stack)
        sidecar.write_bytes(b"")
        stopped = it.sandbox.run(["pulumi", "stack", "ls"], it.sandbox.project.root)
        assert stopped != 0
        assert "EOF" in capfd.readouterr().err

        assert recovered(it) == [
            f"removed an unreadable sidecar: {sidecar.relative_to(it.sandbox.home.state)}"
        ]
        assert it.sandbox.run(["pulumi", "stack", "ls"], it.sandbox.project.root) == 0
        assert it.pulumi("preview").exit_code == 0


def test_empty_sidecars_of_history_copies_and_locks_are_removed_too(stage: Any) -> None:
    with stage("aws-dev") as it:
        assert it.apply().exit_code == 0
        data = it.sandbox.home.state / ".pulumi"
        files = [file for file in data.rglob(f"*{it.stack}*") if file.is_file()]
        lock = it.sandbox.home.locks(it.sandbox.project, it.stack) / "0b1f.json"
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.write_text(
            json.dumps(
                {
                    "pid": _dead(),
                    "username": "me",
                    "hostname": socket.gethostname(),
                    "timestamp": "2026-01-01",
                }
            )
        )
        sidecars = [Path(f"{file}.attrs") for file in (*files, lock)]
        for sidecar in sidecars:
            sidecar.write_bytes(b"")
        assert {sidecar.relative_to(data).parts[0] for sidecar in sidecars} == {
            "backups",
            "history",
            "locks",
            "stacks",
        }
        commands = [["pulumi", "stack", command, "--stack", it.stack] for command in ("history", "output")]
        assert 0 not in [it.sandbox.run(command, it.sandbox.project.root) for command in commands]

        said = recovered(it)

        assert len(said) == len(sidecars) + 1
        assert [sidecar for sidecar in sidecars if sidecar.exists()] == []
        assert not lock.exists()
        assert [it.sandbox.run(command, it.sandbox.project.root) for command in commands] == [0, 0]
        assert it.pulumi("preview").changes == 0


def test_an_unreadable_state_is_restored_also_by_a_recovery_that_is_killed_and_done_again(
    stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stage("aws-dev") as it:
        with slow(it, CLUSTER) as begun:
            assert killed_when(begun, it, "up", "--skip-preview") == KILLED
            wait_for(lambda: any(thing.token == CLUSTER for thing in it.things))
        file = it.sandbox.home.state_file(it.sandbox.project, it.stack)
        broken = file.read_bytes()[:5000]
        file.write_bytes(broken)
        with monkeypatch.context() as killed:
            killed.setattr("gpuplatform.sandbox.recover._write", _interrupted)
            with pytest.raises(KeyboardInterrupt):
                recovered(it)
        assert it.held != it.managed

        said = recovered(it)

        assert not any("restored" in line for line in said), "that was done by the first recovery"
        kept = it.sandbox.home.state.rglob("*.unreadable")
        assert [copy.read_bytes() for copy in kept] == [broken]
        assert it.held == it.managed
        assert recovered(it) == []
        resumed = it.pulumi("up", "--yes", "--skip-preview")
        assert resumed.exit_code == 0, resumed.diagnostics
        assert it.held == it.managed
        assert len({thing.urn for thing in it.things}) == len(it.things)


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def _dead() -> int:
    """The number of a process that ran and no longer does."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid
