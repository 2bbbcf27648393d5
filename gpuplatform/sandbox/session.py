"""One sandbox at work: the simulated clouds and the language host in this process, and commands over them.

    with Sandbox.open(Path.cwd(), report=print) as sandbox:
        result = up(sandbox, "aws-dev", policy_packs=["policies/gpu"])

The servers live as long as the `with` block. An interruption (Ctrl-C, SIGTERM) goes to the running command
once; the engine then cancels what it does and keeps its state whole, and the block ends as usual.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Protocol, Self

from gpuplatform.errors import SandboxError
from gpuplatform.sandbox import engine, environment, events, shim
from gpuplatform.sandbox.workspace import Home, Project, find_project

__all__ = ["CLOUDS", "Sandbox", "destroy", "preview", "refresh", "up"]

CLOUDS = ("aws", "azure-native", "gcp", "kubernetes")
"""The Pulumi packages that the sandbox simulates."""


class Server(Protocol):
    """What `gpuplatform.sandbox.cloud.serve` returns."""

    @property
    def ports(self) -> Mapping[str, int]:
        """The port of each package."""

    def stop(self) -> None:
        """Stops all servers."""


Serve = Callable[[Path, Sequence[str]], Server]


def _serve_clouds(world: Path, clouds: Sequence[str]) -> Server:
    from gpuplatform.sandbox import cloud

    return cloud.serve(world, clouds)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sandbox:
    """Running servers and the environment that leads a command to them."""

    project: Project
    home: Home
    engine: engine.Engine
    environ: Mapping[str, str] = field(repr=False)

    @classmethod
    @contextmanager
    def open(
        cls,
        start: Path,
        *,
        report: Callable[[str], None],
        environ: Mapping[str, str] = os.environ,
        serve: Serve = _serve_clouds,
    ) -> Iterator[Self]:
        """Makes sure of an engine and starts the servers for the project at or above `start`.

        Args:
            start: A folder inside a Pulumi project.
            report: Takes one line for the user, such as the progress of getting an engine.
            environ: The user's environment; what could reach a real account is left out of the sandbox's.
            serve: Starts the simulated clouds.

        Raises:
            ConfigError: No Pulumi project here.
            EngineError: No engine, and none can be had.
            SandboxError: The sandbox's folder cannot be written.
        """
        project = find_project(start)
        found = engine.ensure(report, environ)
        home = Home.of(project, environ)
        home.create()
        shim.install(home)
        from gpuplatform.sandbox import language_host

        clouds = serve(home.world, CLOUDS)
        try:
            language = language_host.serve()
            try:
                inside = environment.build(environ, home, found.path, clouds.ports, language.port)
                yield cls(project=project, home=home, engine=found, environ=inside)
            finally:
                language.stop()
        finally:
            clouds.stop()

    def run(self, command: Sequence[str], cwd: Path) -> int:
        """Runs a command over the simulated clouds, with this terminal; returns its exit code.

        A command that a signal ended gives 128 plus the signal's number, as in a shell.

        Raises:
            SandboxError: There is no such command.
        """
        return _run(command, cwd, self.environ)

    def pulumi(self, arguments: Sequence[str], *, quiet: bool = False) -> events.Result:
        """Runs an operation of `pulumi` in the project's folder and reads what it did from its event log.

        Args:
            arguments: Such as ["up", "--yes", "--stack", "aws-dev"].
            quiet: Keeps the engine's display from the terminal; what it says is in the result too.
        """
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "events.json"
            start = time.monotonic()
            code = _run(
                [str(self.home.bin / "pulumi"), *arguments, "--event-log", str(log)],
                self.project.root,
                # The engine offers --event-log only to those who debug it.
                {**self.environ, "PULUMI_DEBUG_COMMANDS": "true"},
                output=subprocess.DEVNULL if quiet else None,
            )
            return events.read(log, code, time.monotonic() - start)


def up(
    sandbox: Sandbox, stack: str, *, policy_packs: Sequence[str] = (), quiet: bool = False
) -> events.Result:
    """Previews the stack with the policy packs, then brings it up; a violation ends it with nothing made."""
    return sandbox.pulumi(["up", "--yes", "--stack", stack, *_packs(policy_packs)], quiet=quiet)


def preview(
    sandbox: Sandbox, stack: str, *, policy_packs: Sequence[str] = (), quiet: bool = False
) -> events.Result:
    """Says what `up` would do, and what the policy packs say to it."""
    return sandbox.pulumi(["preview", "--stack", stack, *_packs(policy_packs)], quiet=quiet)


def refresh(sandbox: Sandbox, stack: str, *, quiet: bool = False) -> events.Result:
    """Brings the state in line with what exists in the simulated clouds."""
    return sandbox.pulumi(["refresh", "--yes", "--stack", stack], quiet=quiet)


def destroy(
    sandbox: Sandbox, stack: str, *, include_protected: bool = False, quiet: bool = False
) -> events.Result:
    """Takes the stack down. What is protected stays.

    With `include_protected`, Pulumi's protection and the clouds' own deletion protection are lifted first.

    Raises:
        SandboxError: The protection could not be lifted, as when there is no such stack.
    """
    command = ["destroy", "--yes", "--stack", stack]
    if not include_protected:
        return sandbox.pulumi([*command, "--exclude-protected"], quiet=quiet)
    code = _run(
        [str(sandbox.home.bin / "pulumi"), "state", "unprotect", "--all", "--yes", "--stack", stack],
        sandbox.project.root,
        sandbox.environ,
        output=subprocess.DEVNULL if quiet else None,
    )
    if code:
        raise SandboxError(f"the protection of {stack!r} could not be lifted (exit code {code})")
    # Pulumi's protection is lifted; the clouds' own deletion protection of a cluster is another one.
    from gpuplatform.sandbox.cloud.world import World

    with closing(World(sandbox.home.world)) as world:
        world.lift_protection(f"{sandbox.project.name}/{stack.rpartition('/')[2]}")
    return sandbox.pulumi(command, quiet=quiet)


def _packs(paths: Sequence[str]) -> list[str]:
    return [argument for path in paths for argument in ("--policy-pack", path)]


def _run(command: Sequence[str], cwd: Path, environ: Mapping[str, str], output: int | None = None) -> int:
    # In a terminal, Ctrl-C reaches every process of the foreground group: the command has it already.
    # Elsewhere (CI, a service manager) only we get the signal: the command is given a group of its own,
    # and the signal is handed on, so that it comes exactly once either way.
    terminal = sys.stdin.isatty()
    try:
        process = subprocess.Popen(  # noqa: S603 - the user's own command
            command,
            cwd=cwd,
            env=dict(environ),
            stdout=output,
            stderr=output,
            process_group=None if terminal else 0,
        )
    except OSError as error:
        raise SandboxError(f"{command[0]!r} does not start: {error.strerror}") from error
    with _handed_on(process, own_group=not terminal):
        code = process.wait()
    return code if code >= 0 else 128 - code


@contextmanager
def _handed_on(process: subprocess.Popen[bytes], *, own_group: bool) -> Iterator[None]:
    """While the block runs, interruptions go to `process` and do not end this one."""

    def hand_on(number: int, _frame: FrameType | None) -> None:
        if process.poll() is not None:
            return
        if own_group:
            os.killpg(process.pid, number)
        elif number != signal.SIGINT:
            process.send_signal(number)

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may take signals; whoever runs us in another keeps them
        return
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, hand_on) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
