"""A bootstrap is killed in the middle: the next run takes its work up, and nothing is there twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from killing import slow

from gpuplatform.bootstrap.place import PROJECT
from gpuplatform.errors import ConfigError
from gpuplatform.sandbox.cloud.faults import Faults

pytestmark = pytest.mark.engine

SLOW = {
    "aws": "aws:s3/bucket:Bucket",
    "azure": "azure-native:storage:StorageAccount",
    "gcp": "gcp:storage/bucket:Bucket",
}


@pytest.mark.parametrize("cloud", SLOW)
def test_a_run_that_is_killed_with_its_engine_is_taken_up_and_nothing_is_there_twice(
    cloud: str, stage: Any
) -> None:
    """Pulumi cannot know whether an interrupted create took effect: the cloud is asked."""
    with stage(f"{cloud}-dev") as it:
        with slow(it, SLOW[cloud]) as begun:
            process = started(it)
            wait_for(begun)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            wait_for(lambda: any(thing.token == SLOW[cloud] for thing in it.things))  # the cloud goes on
        assert not it.place.record.exists()
        assert it.place.interrupted

        taken = it.bootstrap()
        assert "a run was killed here: its work is taken up" in it.said
        assert taken.changes["same"] > 1, "it went on, and did not start over"
        # A key without a name of its own may have been under way as well: it is said.
        said = [line for line in it.said if "may have been made by the killed run" in line]
        twice = [thing for thing in it.things if (thing.urn, thing.id) not in it.managed]
        assert all(any(line.startswith(thing.token) for line in said) for thing in twice)
        assert set(it.held) >= set(it.managed)
        assert not it.place.folder.exists()
        assert set(it.bootstrap().changes) == {"same"}


def test_where_only_the_command_is_killed_the_next_waits_for_its_engine(stage: Any) -> None:
    with stage("gcp-dev") as it:
        with slow(it, SLOW["gcp"], seconds=4) as begun:
            process = started(it)
            wait_for(begun)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            it.bootstrap()
        assert "another bootstrap of this stack is at work; waiting" in it.said
        assert it.held == it.managed
        assert len({thing.urn for thing in it.things}) == len(it.things)


def test_what_may_exist_and_cannot_be_asked_for_is_said(stage: Any) -> None:
    """A KMS key has no name that its maker chose."""
    key = "aws:kms/key:Key"
    with stage("aws-dev") as it:
        with slow(it, key) as begun:
            process = started(it)
            wait_for(begun)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            wait_for(lambda: any(thing.token == key for thing in it.things))
        it.bootstrap()
        assert [line for line in it.said if line.startswith(f"{key} 'state-key' may have been made")]
        assert set(it.held) > set(it.managed)


def test_an_interruption_ends_the_engine_and_what_was_made_is_written_down(stage: Any) -> None:
    with stage("gcp-dev") as it:
        Faults(it.world).add("slow", type=SLOW["gcp"], seconds=2)
        process = started(it)
        wait_for(lambda: SLOW["gcp"] in creating(it))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 4
        assert not it.place.folder.exists()
        assert it.held == it.managed
        Faults(it.world).clear()
        it.bootstrap()
        assert it.held == it.managed


def test_a_killed_run_and_a_record_that_changed_since_contradict_one_another(stage: Any) -> None:
    """As when a colleague's record is pulled in between: neither knows all that exists."""
    with stage("gcp-dev") as it:
        Faults(it.world).add("slow", type=SLOW["gcp"], seconds=30)
        process = started(it)
        wait_for(lambda: SLOW["gcp"] in creating(it))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        it.place.record.write_text('{"version": 3, "deployment": {}}', encoding="utf-8")
        with pytest.raises(ConfigError, match="since then the record has changed"):
            it.bootstrap()
        assert it.place.interrupted


def started(it: Any) -> subprocess.Popen[bytes]:
    """The command over the simulated clouds, its engine in the same group."""
    return subprocess.Popen(
        [sys.executable, "-m", "gpuplatform", "bootstrap", it.stack],
        cwd=it.sandbox.project.root,
        env=dict(it.sandbox.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )


def creating(it: Any) -> list[str]:
    """The types that the engine has begun to create."""
    file = it.place.folder / "state" / ".pulumi" / "stacks" / PROJECT / f"{it.stack}.json"
    try:
        latest = json.loads(file.read_text(encoding="utf-8"))["checkpoint"].get("latest") or {}
        return [one["resource"]["type"] for one in latest.get("pending_operations", [])]
    except (OSError, ValueError):  # not there yet, or being written
        return []


def wait_for(happens: Callable[[], bool], seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while not happens():
        if time.monotonic() > deadline:
            pytest.fail(f"waited {seconds} s in vain")
        time.sleep(0.01)
