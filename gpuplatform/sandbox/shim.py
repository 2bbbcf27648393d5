"""The `pulumi` that comes first on PATH in the sandbox: it makes the call harmless, then becomes the engine.

What it adds to a call:

- `preview`, `up`, `import`: creates the stack in the sandbox's state where it is not there yet.
- These and `refresh`, `destroy`, `config`: --config-file with the sandbox's copy of the stack's file.
- `stack`, `state`, `cancel`: run in a folder with a project of the same name, since these commands have no
  --config-file and would write into the user's file (`stack rm` deletes it).
- What would change a user's file, or leave the sandbox, is refused with the way that does it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from gpuplatform.errors import ConfigError, EngineError, GpuPlatformError, SandboxError
from gpuplatform.sandbox import environment, stack_config
from gpuplatform.sandbox.workspace import Home, Project, find_project, locked

__all__ = ["Call", "install", "main", "parse", "route"]

CREATING = {"preview", "pre", "up", "update", "import"}
OPERATIONS = CREATING | {"refresh", "destroy", "down", "dn"}
SHADOWED = {"stack", "state", "cancel"}
ENTERING = {"login", "logout"}
READING_CONFIG = {"", "get"}

# Flags with a value that can stand before a command's name, or between it and its second word:
# `pulumi --help` and `pulumi config --help` of 3.274.
VALUED = {
    "-C",
    "--cwd",
    "--color",
    "--memprofilerate",
    "--otel-traces",
    "--profiling",
    "--tracing",
    "-v",
    "--verbose",
}
VALUED |= {"-s", "--stack", "--config-file"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """The parts of a `pulumi` command line that decide what becomes of it."""

    command: str = ""
    subcommand: str = ""
    stack: str = ""
    config_file: str = ""
    cwd: str = ""
    help: bool = False
    remove: bool = False
    rest: tuple[str, ...] = field(default=())
    """All arguments after the command's name, without --stack, --config-file and --cwd."""
    before: tuple[str, ...] = field(default=())
    """The global flags before it, without --cwd."""


def parse(arguments: Sequence[str]) -> Call:
    """Reads a command line as far as the sandbox needs it; the engine judges the rest."""
    taken = {"stack": "", "config_file": "", "cwd": ""}
    words: list[str] = []
    before: list[str] = []
    rest: list[str] = []
    queue = list(arguments)
    while queue:
        argument = queue.pop(0)
        if argument == "--":
            rest += ["--", *queue]
            break
        name, value, joined = _split(argument)
        if name in _TAKEN:
            taken[_TAKEN[name]] = value if joined else (queue.pop(0) if queue else "")
            continue
        target = rest if words else before
        if argument.startswith("-"):
            target.append(argument)
            if name in VALUED and not joined and queue:
                target.append(queue.pop(0))
            continue
        words.append(argument)
        if len(words) > 1:
            rest.append(argument)
    return Call(
        command=words[0] if words else "",
        subcommand=words[1] if len(words) > 1 else "",
        help=bool({"-h", "--help"} & {*before, *rest}),
        remove="--remove" in rest or "--remove=true" in rest,
        rest=tuple(rest),
        before=tuple(before),
        **taken,
    )


_TAKEN = {"-s": "stack", "--stack": "stack", "--config-file": "config_file", "-C": "cwd", "--cwd": "cwd"}


def _split(argument: str) -> tuple[str, str, bool]:
    """Flag, value and whether the value is in the same argument: --stack=dev, -s=dev, -sdev."""
    name, equals, value = argument.partition("=")
    if equals:
        return name, value, True
    if argument[:2] in ("-s", "-C") and len(argument) > 2:  # noqa: PLR2004 - a dash and a letter
        return argument[:2], argument[2:], True
    return argument, "", False


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What the engine is started with."""

    arguments: tuple[str, ...]
    cwd: Path


def route(arguments: Sequence[str], cwd: Path, environ: Mapping[str, str], engine: Path) -> Step:
    """Decides what the engine is started with; creates the stack and its copies on the way.

    Raises:
        GpuPlatformError: The call is refused, or its stack or configuration is wrong.
    """
    call = parse(arguments)
    here = cwd / call.cwd
    if call.command in ENTERING:
        raise SandboxError(
            f"`pulumi {call.command}` has no place in the sandbox: its state is a folder of its own",
            way_out="run it outside `gpuplatform sandbox exec`",
        )
    if call.help or call.command not in OPERATIONS | SHADOWED | {"config"}:
        return Step(arguments=tuple(arguments), cwd=cwd)
    project = find_project(here)
    home = Home.of(project, environ)
    if call.command in SHADOWED:
        return _in_shadow(call, project, home, here)
    stack = call.stack or environ.get("PULUMI_STACK") or _selected(project, home)
    _refuse(call, project, stack)
    name = stack.rpartition("/")[2]
    given = here / call.config_file if call.config_file else None
    with locked(home.shadow(project) / f".{name}.lock"):  # two first commands at once create it once
        copy = stack_config.copy(project, home, name, given)
        if call.command in CREATING and not home.state_file(project, name).is_file():
            _create(engine, stack, home.shadow(project), environ)
    flags = ("--stack", stack, "--config-file", str(copy))
    return Step(arguments=(*call.before, call.command, *flags, *call.rest), cwd=here)


def _refuse(call: Call, project: Project, stack: str) -> None:
    if not stack:
        raise ConfigError(
            f"`pulumi {call.command}` needs a stack, and none is selected in the sandbox",
            where=str(project.file),
            way_out=f"add --stack; stacks with a configuration file: {', '.join(project.stacks()) or 'none'}",
        )
    if call.command == "config" and call.subcommand not in READING_CONFIG:
        raise ConfigError(
            f"`pulumi config {call.subcommand}` would change a copy, which the next command writes anew",
            where=str(project.stack_file(stack.rpartition("/")[2])),
            way_out="edit that file, or run the command outside the sandbox",
        )
    if call.remove:
        raise ConfigError(
            "`pulumi destroy --remove` would delete your configuration file, not the sandbox's copy",
            where=str(project.stack_file(stack.rpartition("/")[2])),
            way_out=f"leave out --remove, then run `gpuplatform sandbox reset {stack}`",
        )


def _in_shadow(call: Call, project: Project, home: Home, here: Path) -> Step:
    shadow = home.shadow(project)
    shadow.mkdir(parents=True, exist_ok=True)
    if not (shadow / "Pulumi.yaml").is_file():
        (shadow / "Pulumi.yaml").write_text(f'name: "{project.name}"\nruntime: python\n', encoding="utf-8")
    flags = ("--stack", call.stack) if call.stack else ()
    rest = _absolute_files(call.rest, here)
    return Step(arguments=(*call.before, call.command, *rest, *flags), cwd=shadow)


def _absolute_files(arguments: Sequence[str], here: Path) -> tuple[str, ...]:
    """`stack export --file F` means a file where the user is, not one in the shadow folder."""
    result: list[str] = []
    for argument in arguments:
        if result and result[-1] == "--file":
            result.append(str(here / argument))
        elif argument.startswith("--file="):
            result.append(f"--file={here / argument.removeprefix('--file=')}")
        else:
            result.append(argument)
    return tuple(result)


def _selected(project: Project, home: Home) -> str:
    """The stack chosen with `pulumi stack select` or `init`, from the engine's own note of it.

    The file's name is made as in the engine's pkg/workspace/workspace.go: project name, SHA-1 of the path of
    Pulumi.yaml. Both commands run in the shadow folder, so that is the path that counts.
    """
    path = str((home.shadow(project) / "Pulumi.yaml").resolve())
    digest = hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()
    note = home.pulumi_home / "workspaces" / f"{project.name}-{digest}-workspace.json"
    if not note.is_file():
        return ""
    data = json.loads(note.read_text(encoding="utf-8"))
    chosen = next(iter(data.get("stacks", {}).values()), "") or data.get("stack", "")
    return str(chosen)


def _create(engine: Path, stack: str, shadow: Path, environ: Mapping[str, str]) -> None:
    done = subprocess.run(  # noqa: S603 - the engine that the sandbox found
        [engine, "stack", "init", stack, "--no-select", "--non-interactive"],
        cwd=shadow,
        env=dict(environ),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise EngineError(f"the engine cannot create the stack {stack!r}: {done.stderr.strip()[:1000]}")


def install(home: Home) -> Path:
    """Writes the `pulumi` script into the sandbox's bin folder and returns its path."""
    target = home.bin / "pulumi"
    # Not "#!PYTHON": a path with blanks, or longer than the system's limit for such lines, would not work.
    script = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m gpuplatform.sandbox.shim "$@"\n'
    if not target.is_file() or target.read_text(encoding="utf-8") != script:
        part = target.with_suffix(f".part-{os.getpid()}")
        part.write_text(script, encoding="utf-8")
        part.chmod(0o755)
        part.replace(target)
    return target


def main() -> NoReturn:
    """Becomes the engine, or exits with a refusal's code."""
    engine = os.environ.get(environment.ENGINE)
    try:
        if not engine:
            raise SandboxError(
                "this `pulumi` works only inside the sandbox",
                way_out="run `gpuplatform sandbox exec -- COMMAND`",
            )
        step = route(sys.argv[1:], Path.cwd(), os.environ, Path(engine))
    except GpuPlatformError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(error.exit_code)
    os.chdir(step.cwd)
    os.execv(engine, ["pulumi", *step.arguments])  # noqa: S606 - the engine that the sandbox found


if __name__ == "__main__":
    main()
