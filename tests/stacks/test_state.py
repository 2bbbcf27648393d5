"""Pulumi's state: who may change it, what it never gives away, and what it is worth after a killed update."""

from __future__ import annotations

import base64
import getpass
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from killing import KILLED, killed_when, recovered, running, slow, wait_for

from gpuplatform.sandbox.events import Result
from gpuplatform.sandbox.lock import Lock, locks

pytestmark = pytest.mark.engine

CLUSTERS = {
    "aws-dev": "aws:eks/cluster:Cluster",
    "azure-dev": "azure-native:containerservice:ManagedCluster",
    "gcp-dev": "gcp:container/cluster:Cluster",
}


def gpuplatform(project: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """The command as a person runs it, in the copied project."""
    return subprocess.run(
        [sys.executable, "-c", "from gpuplatform.cli import main; main()", *arguments],
        cwd=project,
        env={**os.environ, "COLUMNS": "200", **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_a_second_up_while_one_runs_is_refused_with_the_owner_of_the_lock(
    stage: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    with stage("aws-dev") as it, _up_is_running(it) as (lock, first):
        me = f"{getpass.getuser()}@{socket.gethostname()}"
        assert (f"{lock.user}@{lock.host}", _name_of(lock.pid)) == (me, "pulumi")

        home = str(it.sandbox.home.root.parent)
        ours = gpuplatform(it.sandbox.project.root, "sandbox", "up", it.stack, GPUPLATFORM_HOME=home)
        assert ours.returncode == 4
        assert f"the stack 'aws-dev' is locked by {me} (pid {lock.pid}) since {lock.since}" in ours.stderr
        assert "wait until it ends, or end that process" in ours.stderr
        assert "sandbox recover aws-dev" in ours.stderr
        assert "Traceback" not in ours.stderr

        capfd.readouterr()
        theirs = it.sandbox.run(["pulumi", "up", "--yes", "--stack", it.stack], it.sandbox.project.root)
        said = capfd.readouterr().err
        assert theirs != 0
        assert "locked by 1 lock" in said
        assert f"created by {me} (pid {lock.pid})" in said
        assert "pulumi cancel" in said

        with pytest.raises(Exception, match="a lock is lifted only when its holder is known to be dead"):
            recovered(it)
        assert not first.done(), "it ran all the while"

        assert first.result().exit_code == 0
        assert len({thing.urn for thing in it.things}) == len(it.things)
        assert it.held == it.managed
        assert locks(it.sandbox.home, it.sandbox.project, it.stack) == ()


def test_a_lock_whose_owner_was_killed_is_said_to_be_so(stage: Any) -> None:
    with stage("aws-dev") as it:
        with _up_is_running(it) as (lock, first):
            os.kill(lock.pid, signal.SIGKILL)
            assert first.result().exit_code == KILLED

        home = str(it.sandbox.home.root.parent)
        root = it.sandbox.project.root
        refused = gpuplatform(root, "sandbox", "up", it.stack, GPUPLATFORM_HOME=home)
        assert refused.returncode == 4
        assert f"(pid {lock.pid})" in refused.stderr
        assert "which no longer runs" in refused.stderr

        done = gpuplatform(root, "sandbox", "recover", it.stack, GPUPLATFORM_HOME=home)
        assert done.returncode == 0, done.stderr
        assert "lifted the lock of" in done.stdout
        assert "sandbox up aws-dev" in done.stdout
        assert gpuplatform(root, "sandbox", "up", it.stack, GPUPLATFORM_HOME=home).returncode == 0
        assert it.held == it.managed


@pytest.mark.parametrize("stack", CLUSTERS)
def test_a_protected_stack_is_not_destroyed_and_nothing_of_it_is(
    stack: str, stage: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    with stage(stack) as it:
        it.configure(lambda platform: platform.update(protect=True))
        assert it.apply().exit_code == 0
        before = it.things
        capfd.readouterr()

        code = it.sandbox.run(["pulumi", "destroy", "--yes", "--stack", stack], it.sandbox.project.root)

        said = "".join(capfd.readouterr())
        assert code != 0
        assert "protect" in said
        assert "pulumi state unprotect" in said
        assert it.things == before
        assert it.held == it.managed
        assert it.pulumi("preview").changes == 0


@pytest.mark.parametrize("part", [0.3, 0.7])
@pytest.mark.parametrize("stack", CLUSTERS)
def test_an_up_that_was_killed_at_any_time_is_resumed_with_nothing_left_and_nothing_twice(
    stack: str, part: float, stage: Any
) -> None:
    with stage(stack) as it:
        planned = it.pulumi("preview")
        assert planned.exit_code == 0, planned.diagnostics
        whole = sum(count for type_, count in planned.types.items() if not type_.startswith("gpuplatform:"))
        enough = whole * part
        killed = killed_when(lambda: len(it.things) >= enough, it, "up", "--skip-preview")
        assert killed == KILLED
        assert 0 < len(it.things) < whole

        recovered(it)
        assert it.held == it.managed
        resumed = it.apply()

        assert resumed.exit_code == 0, resumed.diagnostics
        assert it.held == it.managed
        assert len({thing.urn for thing in it.things}) == len(it.things) == whole
        assert it.pulumi("preview").changes == 0


PLANTED = {
    "AWS_SECRET_ACCESS_KEY": "planted-aws-secret-key",
    "AWS_SESSION_TOKEN": "planted-aws-session",
    "ARM_CLIENT_SECRET": "planted-azure-secret",
    "GOOGLE_CREDENTIALS": '{"private_key": "planted-google-key"}',
    "PULUMI_ACCESS_TOKEN": "planted-pulumi-token",
    "PULUMI_CONFIG_PASSPHRASE": "planted-passphrase",
    "TEAM_TOKEN": "planted-team-token",
}
"""As a person's shell has them; TEAM_TOKEN is what a program reads, makes a secret, and exports."""

KUBECONFIG = b"client.authentication.k8s.io"
"""Stands in every kubeconfig of ours, and nowhere else: it is a secret whole, endpoint and all."""


def test_no_secret_reaches_the_state_the_plan_the_logs_or_the_report(stage: Any, tmp_path: Path) -> None:
    with stage("aws-dev", **PLANTED) as it:
        root, home = it.sandbox.project.root, it.sandbox.home.root
        with (root / "stacks" / "__main__.py").open("a") as program:
            program.write(
                "\nimport os\n\nimport pulumi\n\n"
                'token = pulumi.Output.secret(os.environ["TEAM_TOKEN"])\n'
                'pulumi.export("token", token)\n'
                'pulumi.export("nested", {"of": [token.apply(lambda known: known + "!")]})\n'
            )
        log = tmp_path / "events.json"
        outside = {**PLANTED, "GPUPLATFORM_HOME": str(home.parent)}
        shown = [
            gpuplatform(root, "plan", it.stack, "--json", **outside),
            gpuplatform(root, "plan", it.stack, **outside),
            gpuplatform(root, "sandbox", "up", it.stack, **outside),
            gpuplatform(root, "sandbox", "cloud", it.stack, "--json", **outside),
            gpuplatform(
                root,
                *("sandbox", "exec", "--", "env", "PULUMI_DEBUG_COMMANDS=true"),
                *("pulumi", "refresh", "--yes", "--stack", it.stack, "--event-log", str(log), "--diff"),
                **outside,
            ),
        ]
        assert [done.returncode for done in shown] == [0] * len(shown), shown
        state = it.sandbox.home.state_file(it.sandbox.project, it.stack)
        opened = gpuplatform(
            root,
            *("sandbox", "exec", "--", "pulumi", "stack", "export", "--show-secrets", "--stack", it.stack),
            **outside,
        )
        assert {name for name, value in _forms() if value in opened.stdout.encode()} == {
            "kubeconfig",
            "TEAM_TOKEN",
        }, "they are there, for whoever has the passphrase"
        said = "".join(done.stdout + done.stderr for done in shown)
        assert "endpoint" in log.read_text()

    files = [file for file in home.rglob("*") if file.is_file()]
    kinds = {file.relative_to(home).parts[0] for file in files}
    assert {"state", "projects", "clouds.sqlite", "pulumi-home"} <= kinds
    assert {"history", "backups", "stacks"} <= {folder.name for folder in state.parents[2].iterdir()}
    places = {str(file): file.read_bytes() for file in (*files, log)} | {"the terminal": said.encode()}
    found = [
        (name, place) for place, content in places.items() for name, value in _forms() if value in content
    ]
    assert found == []


def _forms() -> Iterator[tuple[str, bytes]]:
    yield "kubeconfig", KUBECONFIG
    for name, value in PLANTED.items():
        secret = value.partition('": "')[2].rstrip('"}') or value
        yield name, secret.encode()
        yield f"{name} in Base64", base64.b64encode(secret.encode()).rstrip(b"=")[:-1]


@contextmanager
def _up_is_running(it: Any) -> Iterator[tuple[Lock, Future[Result]]]:
    """An `up` that is at work on the cluster, and the lock that it holds."""
    with (
        slow(it, CLUSTERS[it.stack], seconds=25) as begun,
        running(it, "up", "--skip-preview") as result,
    ):
        wait_for(lambda: result.done() or begun())
        assert not result.done(), result.result()
        yield locks(it.sandbox.home, it.sandbox.project, it.stack)[0], result


def _name_of(pid: int) -> str:
    done = subprocess.run(["ps", "-o", "comm=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return Path(done.stdout.strip()).name
