"""The Pulumi engine over a bootstrap's own project and state: this machine's engine, this interpreter."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Self

from gpuplatform.bootstrap.place import Place
from gpuplatform.errors import EngineError
from gpuplatform.sandbox import engine as engines
from gpuplatform.sandbox import events

__all__ = ["Engine"]

_NOT_OURS = ("PULUMI_CONFIG_PASSPHRASE_FILE", "PULUMI_STACK", "PULUMI_ACCESS_TOKEN")


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """An engine that works in the place of one stack's bootstrap."""

    place: Place
    stack: str
    environ: Mapping[str, str] = field(repr=False)
    path: Path

    @classmethod
    @contextmanager
    def open(
        cls,
        place: Place,
        stack: str,
        *,
        report: Callable[[str], None],
        environ: Mapping[str, str] = os.environ,
    ) -> Iterator[Self]:
        """Makes sure of an engine and of a language host, which both live as long as the block.

        The sandbox's debugging hooks, where they are set, stay as they are: the same program then runs over
        simulated clouds.

        Raises:
            EngineError: No engine, and none can be had.
        """
        found = engines.ensure(report, environ)
        with _language(environ) as language:
            yield cls(
                place=place,
                stack=stack,
                path=found.path,
                environ={
                    **{name: value for name, value in environ.items() if name not in _NOT_OURS},
                    "PULUMI_BACKEND_URL": place.backend(),
                    # It encrypts nothing: a record with a secret in it is refused.
                    "PULUMI_CONFIG_PASSPHRASE": "",
                    "PULUMI_SKIP_UPDATE_CHECK": "true",
                    # The engine offers --event-log only to those who debug it.
                    "PULUMI_DEBUG_COMMANDS": "true",
                    **language,
                },
            )

    def operate(self, command: str, *flags: str, lock: int | None = None) -> events.Result:
        """Runs an operation with the engine's display on standard error, and reads what it did.

        Args:
            command: Such as `up`.
            flags: The command's own.
            lock: A descriptor that the engine holds too: as long as it works, nobody else begins, even where
                this process is killed.
        """
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "events.json"
            started = time.monotonic()
            code = self._run(
                [command, "--stack", self.stack, "--non-interactive", *flags, "--event-log", str(log)], lock
            )
            return events.read(log, code, time.monotonic() - started)

    def ask(self, *command: str) -> str:
        """What a short command of the engine's writes.

        Raises:
            EngineError: It failed.
        """
        done = subprocess.run(  # noqa: S603 - the engine that was found
            [self.path, *command, "--non-interactive"],
            cwd=self.place.project,
            env=dict(self.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise EngineError(f"`pulumi {' '.join(command[:2])}` failed: {done.stderr.strip()[:1000]}")
        return done.stdout

    def checkpoint(self) -> dict[str, Any]:
        """The state as it is now.

        Raises:
            EngineError: It cannot be read.
        """
        found: dict[str, Any] = json.loads(self.ask("stack", "export", "--stack", self.stack))
        return found

    def take(self, checkpoint: Mapping[str, Any]) -> None:
        """Puts a checkpoint in the state's place.

        Raises:
            EngineError: The engine does not take it.
        """
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "checkpoint.json"
            kept = {key: checkpoint[key] for key in ("version", "deployment")}
            file.write_text(json.dumps(kept), encoding="utf-8")
            self.ask("stack", "import", "--stack", self.stack, "--file", str(file))

    def _run(self, arguments: Sequence[str], lock: int | None) -> int:
        try:
            process = subprocess.Popen(  # noqa: S603 - the engine that was found
                [self.path, *arguments],
                cwd=self.place.project,
                env=dict(self.environ),
                stdin=subprocess.DEVNULL,
                # Standard output is for what this command itself has to say.
                stdout=sys.stderr.fileno(),
                pass_fds=() if lock is None else (lock,),
            )
        except OSError as error:
            raise EngineError(f"{self.path} does not start: {error.strerror}") from error
        with _handed_on(process):
            code = process.wait()
        return code if code >= 0 else 128 - code


@contextmanager
def _language(environ: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """A language host of ours, unless one is attached: the program needs this interpreter's packages."""
    if environ.get("PULUMI_DEBUG_LANGUAGES"):
        yield {}
        return
    from gpuplatform.sandbox import language_host

    host = language_host.serve()
    loopback = ",".join(filter(None, (environ.get("NO_PROXY") or environ.get("no_proxy"), "127.0.0.1")))
    try:
        # gRPC honours the proxy variables, also for 127.0.0.1.
        yield {
            "PULUMI_DEBUG_LANGUAGES": f"python:{host.port}",
            "NO_PROXY": loopback,
            "no_proxy": loopback,
        }
    finally:
        host.stop()


@contextmanager
def _handed_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """An interruption ends the engine's work, not this command: what was done is still to be written down.

    In a terminal, the engine is in the same group and has the Ctrl-C already.
    """

    def hand_on(number: int, _frame: FrameType | None) -> None:
        if process.poll() is None and not (number == signal.SIGINT and sys.stdin.isatty()):
            process.send_signal(signal.SIGINT)

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may take signals
        return
    before = {number: signal.signal(number, hand_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
