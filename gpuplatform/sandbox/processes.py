"""Processes that are given a group of their own, so that all they started can be ended with them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

__all__ = ["answer", "end_group", "signals_raise"]

GONE_SECONDS = 2.0
"""How long the members of a killed group are waited for: the dead ones may be nobody's to bury."""


def answer(command: Sequence[str | Path], *, seconds: float, environ: Mapping[str, str]) -> str:
    """What a short command writes to its standard output. Whatever it started ends with a failure of it.

    Raises:
        OSError: It does not start.
        subprocess.TimeoutExpired: It, or something that it started, still wrote after `seconds`.
        subprocess.CalledProcessError: Its exit code is not 0.
    """
    with subprocess.Popen(  # noqa: S603 - our own command
        command,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            text, _ = process.communicate(timeout=seconds)
        except BaseException:
            end_group(process)
            raise
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command))
    return text


def end_group(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """Kills a process that leads its group, with the rest of the group, and waits until they are gone."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        deadline = time.monotonic() + GONE_SECONDS
        while time.monotonic() < deadline:
            os.killpg(process.pid, 0)
            time.sleep(0.02)
    process.wait()


@contextmanager
def signals_raise() -> Iterator[None]:
    """SIGTERM and SIGHUP unwind like Ctrl-C, so that processes are ended and folders removed.

    One that is ignored stays so: `nohup` asks for it.
    """

    def unwind(number: int, _frame: FrameType | None) -> None:
        sys.exit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may take signals
        return
    taken = [
        number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN
    ]
    before = {number: signal.signal(number, unwind) for number in taken}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
