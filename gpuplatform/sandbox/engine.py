"""The Pulumi engine (the `pulumi` command): found on this machine, or brought onto it.

The ways in, in order: `pulumi` on PATH, the cache, the official download, a build from Go modules. Each
one that is passed over says why. All that is brought in lands in the cache by one atomic rename, after
it has said its own version: whoever finds a file there finds a whole engine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from gpuplatform.errors import EngineError
from gpuplatform.sandbox import engine_build, engine_download, processes
from gpuplatform.sandbox.workspace import cache_root, locked

__all__ = ["NEWEST_BELOW", "OLDEST", "PINNED", "Engine", "Search", "Skipped", "ensure", "find"]

PINNED = "3.274.1"
"""The version that is downloaded or built; gomodule/go.mod requires the same one."""

OLDEST = (3, 272, 0)
NEWEST_BELOW = (4, 0, 0)
"""A `pulumi` on PATH serves in this range: the range of the Python SDK that pyproject.toml asks for."""

SHIM_MARK = b"gpuplatform.sandbox.shim"
"""Stands in the sandbox's own `pulumi`, so that a sandbox inside a sandbox does not take it for an engine."""

VERSION_SECONDS = 10.0
"""How long an engine may take to say its version; it takes less than one."""

Report = Callable[[str], None]
"""Takes one line for the user."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Engine:
    """An engine that answered with its version."""

    path: Path
    version: str
    origin: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Skipped:
    """A way in that led nowhere, and why."""

    step: str
    reason: str

    def __str__(self) -> str:
        return f"{self.step}: {self.reason}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """What a look at this machine found; `engine` is None when it has none."""

    engine: Engine | None
    skipped: tuple[Skipped, ...]


def find(environ: Mapping[str, str] = os.environ) -> Search:
    """Looks on PATH and in the cache; brings nothing in."""
    skipped: list[Skipped] = []
    for step, look in (("PATH", _on_path), ("cache", _in_cache)):
        found = look(environ)
        if isinstance(found, Engine):
            return Search(engine=found, skipped=tuple(skipped))
        skipped.append(Skipped(step=step, reason=found))
    return Search(engine=None, skipped=tuple(skipped))


def ensure(report: Report, environ: Mapping[str, str] = os.environ) -> Engine:
    """An engine, brought in where this machine has none. Two calls at once bring in one.

    Args:
        report: Called with each passed-over step and with the progress of a download or build.
        environ: PATH, GPUPLATFORM_CACHE and GPUPLATFORM_ENGINE_MIRROR are read from here.

    Raises:
        EngineError: No way in led anywhere; the message lists them all.
    """
    search = find(environ)
    if search.engine:
        for skipped in search.skipped:
            report(f"engine: {skipped}")
        return search.engine
    folder = _folder(environ)
    with processes.signals_raise(), _only_one(folder, report), _interrupted(report):
        # Whoever held the lock before may have brought it in.
        search = find(environ)
        for skipped in search.skipped:
            report(f"engine: {skipped}")
        return search.engine or _bring_in(folder, report, environ, search.skipped)


def _bring_in(
    folder: Path, report: Report, environ: Mapping[str, str], passed: tuple[Skipped, ...]
) -> Engine:
    skipped = list(passed)
    for step, bring in (("download", engine_download.download), ("build", engine_build.build)):
        with tempfile.TemporaryDirectory(dir=folder, prefix=".part-", ignore_cleanup_errors=True) as part:
            try:
                binary = bring(PINNED, Path(part), report, environ)
                version = version_of(binary)
            except EngineError as error:
                skipped.append(Skipped(step=step, reason=error.what))
                report(f"engine: {skipped[-1]}")
                continue
            if version != PINNED:
                skipped.append(Skipped(step=step, reason=f"what came says it is {version}, not {PINNED}"))
                report(f"engine: {skipped[-1]}")
                continue
            target = folder / "pulumi"
            binary.chmod(0o755)
            binary.replace(target)
            return Engine(path=target, version=version, origin=step)
    raise EngineError(
        "no Pulumi engine: every way to one failed\n" + "\n".join(f"  - {one}" for one in skipped),
        rule=f"the engine is `pulumi` {_range()}",
        way_out="install it from https://www.pulumi.com/docs/install and put it on PATH; "
        "`gpuplatform plan STACK` needs no engine",
    )


def _on_path(environ: Mapping[str, str]) -> Engine | str:
    for entry in environ.get("PATH", "").split(os.pathsep):
        found = shutil.which("pulumi", path=entry) if entry else None
        if found and not _is_shim(Path(found)):
            return _judge(Path(found), "PATH")
    return "no `pulumi` on PATH"


def _in_cache(environ: Mapping[str, str]) -> Engine | str:
    path = _folder(environ) / "pulumi"
    return _judge(path, "cache") if path.is_file() else f"no {path}"


def _judge(path: Path, origin: str) -> Engine | str:
    try:
        version = version_of(path)
    except EngineError as error:
        return f"{path} {error.what}"
    numbers = tuple(int(number) for number in version.split("-")[0].split("."))
    if not OLDEST <= numbers < NEWEST_BELOW:
        return f"{path} is {version}, and the range is {_range()}"
    return Engine(path=path, version=version, origin=origin)


def _range() -> str:
    return f">={'.'.join(map(str, OLDEST))},<{NEWEST_BELOW[0]}"


def _folder(environ: Mapping[str, str]) -> Path:
    return cache_root(environ) / "engine" / f"v{PINNED}"


def _is_shim(path: Path) -> bool:
    with path.open("rb") as file:
        return SHIM_MARK in file.read(512)


def version_of(path: Path) -> str:
    """What `path version` says, without the v.

    Raises:
        EngineError: It does not run, or answers with something else. Its sentence has no subject.
    """
    # A folder of its own: the user's ~/.pulumi may be unreadable, and is none of our business.
    with tempfile.TemporaryDirectory() as home:
        # The engine asks the system for the user's home, whatever HOME says.
        environ = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": home,
            "PULUMI_HOME": home,
            "PULUMI_SKIP_UPDATE_CHECK": "true",
        }
        try:
            said = processes.answer([path, "version"], seconds=VERSION_SECONDS, environ=environ).strip()
        except subprocess.CalledProcessError as error:
            raise EngineError(f"fails with exit code {error.returncode}") from error
        except subprocess.TimeoutExpired as error:
            raise EngineError(f"did not say its version within {VERSION_SECONDS:.0f} s") from error
        except OSError as error:
            raise EngineError(f"does not run here: {error.strerror}") from error
    match = re.fullmatch(r"v?(\d+\.\d+\.\d+(?:-\S+)?)", said)
    if not match:
        raise EngineError(f"answers {said[:80]!r} when asked for its version")
    return match[1]


@contextmanager
def _only_one(folder: Path, report: Report) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(
                locked(folder / "lock", lambda: report("engine: another process is getting it; waiting"))
            )
        except OSError as error:
            raise EngineError(
                f"the cache cannot be written: {error.strerror}",
                where=str(folder),
                way_out="set GPUPLATFORM_CACHE to a folder that can",
            ) from error
        for left in folder.glob(".part-*"):  # of a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        yield


@contextmanager
def _interrupted(report: Report) -> Iterator[None]:
    """Says what an interruption left, once everything is ended and removed."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        report("engine: interrupted; what was begun is ended and removed, and the next call begins anew")
        raise
