"""An engine that is killed in the middle of its work, and the stack made whole again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from gpuplatform.sandbox.recover import recover

KILLED = 128 + signal.SIGKILL


def killed_when(happens: Callable[[], bool], it: Any, operation: str, *flags: str) -> int:
    """Runs an operation and kills its engine once something is so; the exit code."""

    def kill() -> None:
        wait_for(happens)
        for pid in _engines(str(it.sandbox.home.root)):
            os.kill(pid, signal.SIGKILL)

    with ThreadPoolExecutor(1) as pool:
        killer = pool.submit(kill)
        code: int = it.pulumi(operation, "--yes", *flags).exit_code
        killer.result()
    return code


def recovered(it: Any) -> list[str]:
    """Recovers the stack; what was said."""
    said: list[str] = []
    recover(it.sandbox, it.stack, said.append)
    return said


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
