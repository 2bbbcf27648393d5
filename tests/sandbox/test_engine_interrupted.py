from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpuplatform.sandbox import engine, engine_build, processes

ENSURE = """
import sys
from gpuplatform.sandbox import engine
print(engine.ensure(lambda line: print(line, file=sys.stderr, flush=True)).origin)
"""

# What it does when it is asked to build; it writes where Go writes, and starts what Go starts: a compiler.
GO = """#!/bin/sh
if [ "$1" = env ]; then echo go9.9.9; exit 0; fi
while [ "$1" != -o ]; do shift; done
mkdir "${GOTMPDIR:-/tmp}/go-build1" "${TMPDIR:-/tmp}/go-link-1"
echo "$GOTMPDIR" > $HOME/scratch
printf half > "$2"
sleep 60 &
echo $$ > $HOME/pid
wait
"""


def put(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text)
    file.chmod(0o755)
    return file


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """A machine that must build the engine, with a Go that never gets done."""
    put(tmp_path / "bin", "go", GO)
    return {
        "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "GPUPLATFORM_CACHE": str(tmp_path / "cache"),
        "GPUPLATFORM_ENGINE_MIRROR": "http://127.0.0.1:9",
    }


def folder_of(machine: dict[str, str]) -> Path:
    return Path(machine["GPUPLATFORM_CACHE"]) / "engine" / f"v{engine.PINNED}"


def leftovers(machine: dict[str, str]) -> list[str]:
    return sorted(file.name for file in folder_of(machine).iterdir() if file.name != "lock")


def started(machine: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", ENSURE],
        env=machine,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_heard,  # noqa: PLW1509 - no thread of ours runs then
    )


def _heard() -> None:
    """Under nohup a process and its children ignore SIGHUP: not what is tested here."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def test_a_killed_build_leaves_nothing_half_and_the_next_call_cleans_up(machine, tmp_path, wait_for):
    killed = started(machine)
    group = int(wait_for(tmp_path / "pid"))
    assert list(folder_of(machine).glob(".part-*/pulumi"))

    killed.kill()
    killed.communicate()

    assert engine.find(machine).engine is None
    assert [name[:6] for name in leftovers(machine)] == [".part-"]
    shebang = f"#!/bin/sh\\necho v{engine.PINNED}\\n"
    put(tmp_path / "bin", "go", GO.replace("sleep 60 &", f'printf \'{shebang}\' > "$2"; chmod +x "$2"'))
    try:
        assert engine.ensure(print, machine).origin == "build"
        assert leftovers(machine) == ["pulumi"]
    finally:
        subprocess.run(["kill", "-9", "--", f"-{group}"], check=False)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_an_interrupted_build_ends_all_that_it_started_and_says_so(
    machine, tmp_path, number, alive, wait_for
):
    interrupted = started(machine)
    group = int(wait_for(tmp_path / "pid"))
    scratch = Path((tmp_path / "scratch").read_text().strip())
    assert scratch.is_relative_to(folder_of(machine))
    assert sorted(each.name for each in scratch.iterdir()) == ["go-build1", "go-link-1"]

    interrupted.send_signal(number)
    _, said = interrupted.communicate(timeout=20)

    assert interrupted.returncode != 0
    assert "engine: interrupted; what was begun is ended and removed" in said
    assert alive(group) == []
    assert leftovers(machine) == []


HANGS = """#!/bin/sh
echo $$ > $HERE/pid
sleep 60 &
wait
"""
# Its own process ends, but what it started keeps its output open.
LEAVES_A_CHILD = "#!/bin/sh\necho $$ > $HERE/pid\nsleep 60 &\necho v3.274.1\n"


@pytest.mark.parametrize("script", [HANGS, LEAVES_A_CHILD])
def test_a_pulumi_that_hangs_is_passed_over_in_time_with_all_that_it_started(
    machine, tmp_path, monkeypatch, alive, script
):
    assert engine.VERSION_SECONDS <= 10
    monkeypatch.setattr(engine, "VERSION_SECONDS", 1.0)
    put(tmp_path / "bin", "pulumi", script.replace("$HERE", str(tmp_path)))
    start = time.monotonic()

    search = engine.find(machine)

    assert time.monotonic() - start < 8
    assert search.engine is None
    assert "did not say its version within 1 s" in search.skipped[0].reason
    assert alive(int((tmp_path / "pid").read_text())) == []


def test_a_signal_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with processes.signals_raise():
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            with pytest.raises(SystemExit) as caught:
                signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert caught.value.code == 128 + signal.SIGTERM


def test_a_go_that_hangs_gives_way_to_the_wheels_toolchain(machine, tmp_path, monkeypatch, alive):
    monkeypatch.setattr(engine_build, "GO_SECONDS", 1.0)
    put(tmp_path / "bin", "go", HANGS.replace("$HERE", str(tmp_path)))

    found, note = engine_build._system_go((1, 0, 0), machine)

    assert found is None
    assert "does not say its version" in note
    assert alive(int((tmp_path / "pid").read_text())) == []
