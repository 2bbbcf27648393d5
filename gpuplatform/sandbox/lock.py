"""Who holds a stack's lock in the sandbox's state, and whether that process still lives.

The file backend locks a stack with one JSON file for each holder, below `.pulumi/locks/organization/PROJECT/
STACK` (pkg/backend/diy/lock.go of the engine): pid, username, hostname, timestamp. A killed engine leaves its
file, and nothing removes it but a person.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuplatform.errors import SandboxError
from gpuplatform.sandbox.workspace import Home, Project

__all__ = ["Lock", "lives", "locks", "refuse"]

ENGINE = "pulumi"
"""The name of the process that holds a lock."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lock:
    """One holder of a stack's lock."""

    file: Path
    pid: int
    user: str
    host: str
    since: str
    """When it was taken, in ISO 8601."""

    def __str__(self) -> str:
        return f"{self.user}@{self.host} (pid {self.pid}) since {self.since}"


def locks(home: Home, project: Project, stack: str) -> tuple[Lock, ...]:
    """The locks of a stack, oldest first; one that cannot be read has pid 0 and no owner."""
    found = [_read(file) for file in sorted(home.locks(project, stack).glob("*.json"))]
    return tuple(sorted((lock for lock in found if lock), key=lambda lock: lock.since))


def lives(lock: Lock) -> bool:
    """Whether the holder may still be at work: on another host, nobody here can know, so it is.

    A pid is given away again: what runs under it now holds the lock only if it is an engine.
    """
    if not lock.pid:
        return False  # it is written beside its place and moved there whole: no engine has such a lock
    if lock.host != socket.gethostname():
        return True
    try:
        os.kill(lock.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _is_engine(lock.pid)


def refuse(
    home: Home, project: Project, stack: str, *, us: str, alive: Callable[[Lock], bool] = lives
) -> None:
    """Refuses to go on while somebody else works on the stack, or a killed command left its lock.

    Raises:
        SandboxError: The lock is held; with the owner's name and the way out. `us` is how the reader calls
            this command.
    """
    held = locks(home, project, stack)
    if not held:
        return
    living = [lock for lock in held if alive(lock)]
    owners = ", ".join(map(str, living or held))
    if living:
        raise SandboxError(
            f"the stack {stack!r} is locked by {owners}",
            where=str(living[0].file),
            rule="one command at a time changes a stack",
            way_out=f"wait until it ends, or end that process and run `{us} sandbox recover {stack}`",
        )
    raise SandboxError(
        f"the stack {stack!r} is still locked by {owners}, which no longer runs",
        where=str(held[0].file),
        way_out=f"`{us} sandbox recover {stack}` lifts the lock and repairs what the killed command left",
    )


def _read(file: Path) -> Lock | None:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None  # it was given back in this moment
    try:
        content: dict[str, Any] = json.loads(text)
        return Lock(
            file=file,
            pid=int(content["pid"]),
            user=str(content["username"]),
            host=str(content["hostname"]),
            since=re.sub(r"\.\d+", "", str(content["timestamp"])),
        )
    except (ValueError, KeyError, TypeError):
        return Lock(file=file, pid=0, user="somebody", host="unknown", since="")


def _is_engine(pid: int) -> bool:
    """Whether an engine runs under the number; yes, where `ps` cannot say."""
    try:
        done = subprocess.run(  # noqa: S603
            ["ps", "-o", "stat=,comm=", "-p", str(pid)],  # noqa: S607 - wherever the system has it
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return True
    state, _, command = done.stdout.strip().partition(" ")
    return not state.startswith("Z") and Path(command.strip()).name == ENGINE
