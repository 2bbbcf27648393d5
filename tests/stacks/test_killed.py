"""The engine is killed in the middle of its work: nothing is left behind, nothing is there twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuplatform.sandbox.cloud.faults import Faults

pytestmark = pytest.mark.engine

CLUSTER = "aws:eks/cluster:Cluster"
KILLED = 128 + signal.SIGKILL


def test_an_update_killed_while_the_cluster_comes_up_goes_on_once_the_state_is_repaired(
    stage: Any, tmp_path: Path
) -> None:
    """Pulumi cannot know whether an interrupted create took effect; the cloud does, so its record decides."""
    with stage("aws-dev") as it:
        faults = Faults(it.world)
        faults.add("slow", type=CLUSTER, seconds=3)
        killed = _killed_when(lambda: CLUSTER in _creating(it), it, "up", "--skip-preview")
        assert killed == KILLED
        _wait_for(lambda: any(thing.token == CLUSTER for thing in it.things))  # the cloud goes on
        faults.clear()
        assert set(it.held) > set(it.managed)

        assert _cancel(it) == 0
        lost = _lost(it)
        assert CLUSTER in [resource["type"] for resource in lost["resources"]]
        (tmp_path / "lost.json").write_text(json.dumps(lost))
        assert it.pulumi("refresh", "--yes", "--clear-pending-creates").exit_code == 0
        flags = ("--yes", "--protect=false", "--generate-code=false")
        assert it.pulumi("import", "--file", str(tmp_path / "lost.json"), *flags).exit_code == 0
        resumed = it.pulumi("up", "--yes")

        assert resumed.exit_code == 0, resumed.diagnostics
        assert resumed.counts["create"] < len(it.things), "it went on, and did not start over"
        assert set(resumed.counts) <= {"create", "update", "same"}
        assert it.held == it.managed
        assert len({thing.urn for thing in it.things}) == len(it.things)
        assert it.pulumi("preview").changes == 0

        before = len(it.things)
        assert _killed_when(lambda: len(it.things) < before / 2, it, "destroy") == KILLED
        assert it.things
        assert _cancel(it) == 0
        gone = it.destroy()
        assert gone.exit_code == 0, gone.diagnostics
        assert it.things == []
        assert it.state.get("resources", []) == []


def _cancel(it: Any) -> int:
    """Lifts the lock that a killed engine leaves behind."""
    code: int = it.sandbox.run(["pulumi", "cancel", "--yes", "--stack", it.stack], it.sandbox.project.root)
    return code


def _creating(it: Any) -> list[str]:
    """The types that the engine has begun to create."""
    try:
        return [operation["resource"]["type"] for operation in it.state.get("pending_operations", [])]
    except (OSError, ValueError):  # not there yet, or being written
        return []


def _lost(it: Any) -> dict[str, Any]:
    """What exists and is missing in Pulumi's state, as a file for `pulumi import`."""
    exists = {thing.urn: thing.id for thing in it.things}
    names: dict[str, str] = {}
    resources = []
    for operation in it.state["pending_operations"]:
        old = operation["resource"]
        if old["urn"] not in exists:
            continue
        provider = old["provider"].rpartition("::")[0]
        parent, above = f"parent of {old['urn']}", f"provider of {old['urn']}"
        names |= {parent: old["parent"], above: provider}
        resources.append(
            {
                "type": old["type"],
                "name": old["urn"].rpartition("::")[2],
                "id": exists[old["urn"]],
                "parent": parent,
                "provider": above,
            }
        )
    return {"nameTable": names, "resources": resources}


def _killed_when(happens: Callable[[], bool], it: Any, operation: str, *flags: str) -> int:
    """Runs an operation and kills its engine once something is so; the exit code."""

    def kill() -> None:
        _wait_for(happens)
        for pid in _engines(str(it.sandbox.home.root)):
            os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    code: int = it.pulumi(operation, "--yes", *flags).exit_code
    killer.join()
    return code


def _engines(home: str) -> list[int]:
    rows = subprocess.run(["ps", "-ewwo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    fields = [row.split(None, 1) for row in rows.splitlines()]
    return [int(pid) for pid, args in fields if args.startswith("pulumi ") and home in args]


def _wait_for(happens: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not happens():
        if time.monotonic() > deadline:
            pytest.fail(f"waited {seconds} s in vain")
        time.sleep(0.01)
