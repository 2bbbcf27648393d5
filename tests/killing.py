"""An engine that is killed in the middle of its work, and the stack made whole again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from gpuplatform.sandbox.cloud.faults import Faults
from gpuplatform.sandbox.events import Result
from gpuplatform.sandbox.recover import recover

KILLED = 128 + signal.SIGKILL


def killed_when(happens: Callable[[], bool], it: Any, operation: str, *flags: str) -> int:
    """Runs an operation and kills its engine once something is so; the exit code."""
    with running(it, operation, *flags) as result:
        wait_for(lambda: result.done() or happens())
        if result.done():
            pytest.fail(f"it ended before it could be killed: {result.result()}")
        for pid in _engines(str(it.sandbox.home.root)):
            os.kill(pid, signal.SIGKILL)
    return result.result().exit_code


@contextmanager
def running(it: Any, operation: str, *flags: str) -> Iterator[Future[Result]]:
    """An operation at work while the block runs; the block ends when it does."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(it.pulumi, operation, "--yes", *flags)


def recovered(it: Any) -> list[str]:
    """Recovers the stack; what was said."""
    said: list[str] = []
    recover(it.sandbox, it.stack, said.append)
    return said


@contextmanager
def slow(it: Any, token: str, seconds: float = 3) -> Iterator[Callable[[], bool]]:
    """Makes a cloud slow to create one thing of a type; yields whether it has begun to.

    Not the engine's note of it in the state: that comes before the request.
    """
    faults = Faults(it.world)
    faults.add("slow", type=token, seconds=seconds, times=1)

    def begun() -> bool:
        with it.world.reading() as db:
            return bool(db.execute("SELECT 1 FROM faults WHERE times = 0").fetchone())

    try:
        yield begun
    finally:
        faults.clear()


def wait_for(happens: Callable[[], bool], seconds: float = 60) -> None:
    """Waits until something is so."""
    deadline = time.monotonic() + seconds
    while not happens():
        if time.monotonic() > deadline:
            pytest.fail(f"waited {seconds} s in vain")
        time.sleep(0.01)


def _engines(home: str) -> list[int]:
    rows = subprocess.run(["ps", "-ewwo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    fields = [row.split(None, 1) for row in rows.splitlines()]
    return [int(pid) for pid, args in fields if args.startswith("pulumi ") and home in args]
