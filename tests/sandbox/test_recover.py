"""Locks are lifted only when their holder is dead; a stack that is not there is refused."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from gpuplatform.cli.main import main
from gpuplatform.errors import SandboxError
from gpuplatform.sandbox import lock as lock_file
from gpuplatform.sandbox.lock import Lock
from gpuplatform.sandbox.recover import Recovery
from gpuplatform.sandbox.workspace import Home, Project


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(root=tmp_path / "sandbox")


@pytest.fixture
def tiny(tmp_path: Path) -> Project:
    return Project(file=tmp_path / "Pulumi.yaml", name="tiny", stack_config_dir=tmp_path)


def held(home: Home, project: Project, text: str | None = None, **more: Any) -> Path:
    folder = home.locks(project, "dev")
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "pid": 1,
        "username": "ada",
        "hostname": socket.gethostname(),
        "timestamp": "2026-11-30T12:00:00.123456789Z",
        **more,
    }
    file = folder / f"{len(list(folder.iterdir()))}.json"
    file.write_text(json.dumps(content) if text is None else text)
    return file


def the_lock(home: Home, project: Project, **more: Any) -> Lock:
    held(home, project, **more)
    return lock_file.locks(home, project, "dev")[-1]


def dead() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_a_lock_names_its_owner(home: Home, tiny: Project) -> None:
    found = the_lock(home, tiny, pid=77, hostname="elsewhere")

    assert str(found) == "ada@elsewhere (pid 77) since 2026-11-30T12:00:00Z"


def test_a_holder_on_another_host_counts_as_living(home: Home, tiny: Project) -> None:
    assert lock_file.lives(the_lock(home, tiny, pid=dead(), hostname="elsewhere"))


def test_a_holder_that_ended_is_dead(home: Home, tiny: Project) -> None:
    assert not lock_file.lives(the_lock(home, tiny, pid=dead()))


def test_a_pid_that_something_else_runs_under_by_now_is_no_holder(home: Home, tiny: Project) -> None:
    assert not lock_file.lives(the_lock(home, tiny, pid=os.getpid()))


def test_a_running_engine_is_a_holder(home: Home, tiny: Project, tmp_path: Path) -> None:
    engine = tmp_path / "pulumi"
    engine.symlink_to("/bin/sleep")
    process = subprocess.Popen([engine, "60"])
    try:
        assert lock_file.lives(the_lock(home, tiny, pid=process.pid))
        with pytest.raises(SandboxError) as refused:
            lock_file.refuse(home, tiny, "dev", us="gpuplatform")
    finally:
        process.kill()
        process.wait()

    assert f"locked by ada@{socket.gethostname()} (pid {process.pid})" in str(refused.value)
    assert "wait until it ends" in refused.value.way_out


def test_a_killed_engine_that_nobody_buried_yet_is_dead(home: Home, tiny: Project, tmp_path: Path) -> None:
    engine = tmp_path / "pulumi"
    engine.symlink_to("/bin/sleep")
    process = subprocess.Popen([engine, "60"])
    found = the_lock(home, tiny, pid=process.pid)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and stays as a zombie

    assert not lock_file.lives(found)
    process.wait()


def test_without_a_lock_a_command_goes_on(home: Home, tiny: Project) -> None:
    lock_file.refuse(home, tiny, "dev", us="gpuplatform")

    assert lock_file.locks(home, tiny, "dev") == ()


def test_a_stack_that_is_forgotten_leaves_no_lock(home: Home, tiny: Project) -> None:
    held(home, tiny)
    home.forget(tiny, "dev")

    assert lock_file.locks(home, tiny, "dev") == ()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x"}'])
def test_a_lock_that_cannot_be_read_has_no_holder(home: Home, tiny: Project, text: str) -> None:
    held(home, tiny, text)
    [found] = lock_file.locks(home, tiny, "dev")

    assert found.pid == 0
    assert not lock_file.lives(found)
    with pytest.raises(SandboxError, match="no longer runs") as refused:
        lock_file.refuse(home, tiny, "dev", us="gpuplatform")
    assert "gpuplatform sandbox recover dev" in refused.value.way_out


BUCKET = """
import pulumi


class Bucket(pulumi.CustomResource):
    def __init__(self, name):
        super().__init__("aws:s3/bucket:Bucket", name, {})


Bucket("data")
"""


@pytest.mark.engine
@pytest.mark.usefixtures("engine")
class TestTheCommand:
    @pytest.fixture(autouse=True)
    def _program(self, project: Path) -> None:
        (project / "stacks/__main__.py").write_text(BUCKET)

    def run(self, project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "gpuplatform", "sandbox", *arguments],
            cwd=project,
            env={**os.environ, "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=False,
        )

    def test_a_stack_that_the_sandbox_does_not_have_is_refused(self, project: Path) -> None:
        done = self.run(project, "recover", "nothing")

        assert done.returncode == 4
        assert "the sandbox has no stack 'nothing'" in done.stderr
        assert "Traceback" not in done.stderr

    def test_a_whole_stack_is_left_as_it_is(self, project: Path) -> None:
        assert self.run(project, "up", "dev").returncode == 0
        state = project / ".gpuplatform/sandbox/state/.pulumi/stacks/tiny/dev.json"
        before = state.read_bytes()

        done = self.run(project, "recover", "dev")

        assert (done.returncode, done.stdout) == (0, "nothing was wrong with the stack dev\n")
        assert state.read_bytes() == before

    def test_a_lock_of_another_host_is_not_lifted(self, project: Path) -> None:
        assert self.run(project, "up", "dev").returncode == 0
        tiny = Project(file=project / "Pulumi.yaml", name="tiny", stack_config_dir=project)
        home = Home(root=project / ".gpuplatform" / "sandbox")
        file = held(home, tiny, hostname="elsewhere", pid=77)

        done = self.run(project, "recover", "dev")

        assert done.returncode == 4
        assert "ada@elsewhere (pid 77) since 2026-11-30T12:00:00Z" in done.stderr
        assert "pulumi cancel" in done.stderr
        assert file.is_file()

    def test_a_state_without_a_copy_is_refused_and_not_touched(self, project: Path) -> None:
        assert self.run(project, "up", "dev").returncode == 0
        state = project / ".gpuplatform/sandbox/state/.pulumi/stacks/tiny/dev.json"
        for file in (state, state.with_name("dev.json.bak")):
            file.write_bytes(b"{")

        done = self.run(project, "recover", "dev")

        assert done.returncode == 4
        assert "neither the state nor its copy dev.json.bak can be read" in done.stderr
        assert state.read_bytes() == b"{"


class TestTheCommands:
    @pytest.fixture
    def run(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> Callable[..., tuple[int, str, str]]:
        (tmp_path / "Pulumi.yaml").write_text("name: tiny\nruntime: python\n")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("GPUPLATFORM_HOME", str(tmp_path))  # so that it is the fixture's own

        def call(*arguments: str) -> tuple[int, str, str]:
            monkeypatch.setattr("sys.argv", ["gpuplatform", "sandbox", *arguments])
            with pytest.raises(SystemExit) as end:
                main()
            out, err = capsys.readouterr()
            return int(end.value.code or 0), out, err

        return call

    @pytest.mark.parametrize("which", [("dev",), ()])
    def test_nothing_is_forgotten_under_a_command_at_work(
        self, run: Any, home: Home, tiny: Project, monkeypatch: pytest.MonkeyPatch, which: tuple[str, ...]
    ) -> None:
        state = home.state_file(tiny, "dev")
        state.parent.mkdir(parents=True)
        state.write_text("{}")
        held(home, tiny, pid=77)
        monkeypatch.setattr(lock_file, "lives", lambda _lock: True)
        code, _, err = run("reset", *which, "--yes")

        assert code
        assert "locked by ada@" in err
        assert state.is_file()

    def test_a_dead_command_s_lock_keeps_nobody_from_forgetting(
        self, run: Any, home: Home, tiny: Project
    ) -> None:
        state = home.state_file(tiny, "dev")
        state.parent.mkdir(parents=True)
        state.write_text("{}")
        held(home, tiny, pid=dead())

        assert run("reset", "dev", "--yes")[0] == 0
        assert not state.exists()

    @pytest.mark.parametrize(
        ("found", "code", "said"),
        [
            (Recovery(repaired=0, unknown=0), 0, "nothing was wrong"),
            (Recovery(repaired=3, unknown=0), 0, "is whole again"),
            (Recovery(repaired=3, unknown=2), 1, "2 resources of the stack dev exist and stand in no state"),
        ],
    )
    def test_a_stack_is_whole_only_where_nothing_is_left_out(
        self, run: Any, monkeypatch: pytest.MonkeyPatch, found: Recovery, code: int, said: str
    ) -> None:
        monkeypatch.setattr("gpuplatform.sandbox.session.Sandbox.open", lambda *_, **__: nullcontext())
        monkeypatch.setattr("gpuplatform.sandbox.recover.recover", lambda *_: found)
        monkeypatch.setattr("os._exit", sys.exit)
        ended, out, _ = run("recover", "dev")

        assert ended == code
        assert said in out
