"""A stack of the sandbox after its engine was killed: made whole, so that the next `up` goes on.

In order: files that no command could read, the lock, and what the simulated clouds hold and the state does
not know. Each step leaves a whole state behind it, so a recovery that is killed is done again from the start.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuplatform.errors import SandboxError
from gpuplatform.sandbox.lock import Lock, lives, locks
from gpuplatform.sandbox.repair import Repair, repair
from gpuplatform.sandbox.session import Sandbox
from gpuplatform.sandbox.workspace import Home, Project, locked

__all__ = ["Recovery", "recover"]

SIDECAR = ".attrs"
UNREADABLE = ".unreadable"

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What became of a stack.

    Attributes:
        repaired: How many things were repaired; 0 when nothing was wrong.
        unknown: How many things of the stack exist and stand in no state: nothing will take them down.
    """

    repaired: int
    unknown: int


def recover(
    sandbox: Sandbox, stack: str, report: Report, *, alive: Callable[[Lock], bool] = lives
) -> Recovery:
    """Repairs what a killed command left of `stack`; says each thing it does.

    Args:
        sandbox: An open one.
        stack: The stack's name.
        report: Takes one line.
        alive: Whether the holder of a lock still lives.

    Raises:
        SandboxError: The sandbox has no such stack, somebody works on it, or its state is beyond repair.
    """
    home, project = sandbox.home, sandbox.project
    stack = stack.rpartition("/")[2]
    with locked(
        home.shadow(project) / f".{stack}.recover.lock", lambda: report("waiting for another recovery")
    ):
        _refuse_unknown(home, project, stack)
        _refuse_living(locks(home, project, stack), stack, alive)
        done = _sidecars(home, report)
        done += _lift(locks(home, project, stack), report)
        done += _left_files(home, project, stack, report)
        done += _checkpoint(home.state_file(project, stack), report)
        found = _settle(sandbox, stack, report)
    settled = max(found.dropped, len(found.adopted) + len(found.superfluous) + len(found.gone))
    return Recovery(repaired=done + settled, unknown=len(found.unknown))


def _refuse_unknown(home: Home, project: Project, stack: str) -> None:
    if not home.state_file(project, stack).is_file():  # a copy alone is what `pulumi stack rm` leaves
        raise SandboxError(
            f"the sandbox has no stack {stack!r}",
            where=str(home.root),
            way_out=f"it has: {', '.join(home.stacks(project)) or 'none'}",
        )


def _refuse_living(held: tuple[Lock, ...], stack: str, alive: Callable[[Lock], bool]) -> None:
    for lock in held:
        if alive(lock):
            raise SandboxError(
                f"the stack {stack!r} is locked by {lock}",
                where=str(lock.file),
                rule="a lock is lifted only when its holder is known to be dead",
                way_out="wait until it ends, or end that process; if it ran on a machine that is gone: "
                f"`pulumi cancel --yes --stack {stack}` in `gpuplatform sandbox exec --`",
            )


def _sidecars(home: Home, report: Report) -> int:
    """Removes the sidecars that cannot be read: one alone makes every command end with `EOF`.

    They hold a content type and a checksum, which the engine does not ask for. A sidecar that is being
    written in this moment may go too: the backend reads a file without one like any other.
    """
    broken = [file for file in sorted((home.state / ".pulumi").rglob(f"*{SIDECAR}")) if not _readable(file)]
    for file in broken:
        file.unlink(missing_ok=True)
        report(f"removed an unreadable sidecar: {file.relative_to(home.state)}")
    return len(broken)


def _lift(held: tuple[Lock, ...], report: Report) -> int:
    for lock in held:
        lock.file.unlink(missing_ok=True)
        report(f"lifted the lock of {lock}" if lock.pid else f"removed an unreadable lock: {lock.file.name}")
    return len(held)


def _left_files(home: Home, project: Project, stack: str, report: Report) -> int:
    """Removes what the backend had begun to write: temporary files, and sidecars of files that never came."""
    left = sorted(_begun(home, project, stack))
    for file in left:
        file.unlink(missing_ok=True)
    if left:
        report(f"removed {_count(len(left), 'file')} that the killed command had begun to write")
    return len(left)


def _begun(home: Home, project: Project, stack: str) -> Iterator[Path]:
    state = home.state_file(project, stack)
    data = home.state / ".pulumi"
    yield from state.parent.glob(f"{stack}.json*.tmp")
    folders = [data / kind / project.name / stack for kind in ("history", "backups")]
    for folder in (*folders, home.locks(project, stack)):
        yield from folder.glob("*.tmp")
        for sidecar in folder.glob(f"*{SIDECAR}"):
            if not sidecar.with_suffix("").exists():
                yield sidecar


def _checkpoint(file: Path, report: Report) -> int:
    """Puts the last whole state in the place of one that cannot be read, which is kept beside the backups."""
    if _readable(file):
        return 0
    backup = file.with_name(f"{file.name}.bak")
    if not _readable(backup):
        raise SandboxError(
            f"neither the state nor its copy {backup.name} can be read",
            where=str(file),
            way_out=f"an older one is in {_folder(file, 'history')}: copy it to {file.name}; otherwise "
            f"`gpuplatform sandbox reset {file.stem}` forgets the stack with all it made",
        )
    kept = _folder(file, "backups")
    kept.mkdir(parents=True, exist_ok=True)
    number = len(list(kept.glob(f"*{UNREADABLE}"))) + 1
    shutil.copy(file, kept / f"{file.stem}-{number}{UNREADABLE}")
    part = file.with_name(f"{file.name}.recover.tmp")
    shutil.copy(backup, part)
    part.replace(file)
    report(f"restored the state from {backup.name}: {file.name} could not be read")
    return 1


def _settle(sandbox: Sandbox, stack: str, report: Report) -> Repair:
    from gpuplatform.sandbox.cloud.world import World

    file = sandbox.home.state_file(sandbox.project, stack)
    versioned = json.loads(file.read_bytes())
    latest = versioned["checkpoint"].get("latest") or {}
    with closing(World(sandbox.home.world)) as world:
        things = world.all(f"{sandbox.project.name}/{stack}")
    found = repair(latest, things, _older(file))
    if found.needed:
        _write(sandbox, stack, {"version": versioned["version"], "deployment": found.deployment}, versioned)
    _tell(found, stack, report)
    return found


def _older(file: Path) -> Iterator[dict[str, Any]]:
    """The states that ended the earlier updates, newest first; the backend numbers them by the clock."""
    for earlier in sorted(_folder(file, "backups").glob("*.json"), reverse=True):
        if _readable(earlier):
            yield json.loads(earlier.read_bytes())["checkpoint"].get("latest") or {}


def _write(sandbox: Sandbox, stack: str, deployment: dict[str, Any], versioned: dict[str, Any]) -> None:
    """Lets the engine write the state: it checks it, encrypts what is secret, and drops the settled notes."""
    if features := versioned.get("features"):
        deployment["features"] = features
    done = subprocess.run(  # noqa: S603 - the sandbox's own
        [sandbox.home.bin / "pulumi", "stack", "import", "--stack", stack],
        input=json.dumps(deployment),
        cwd=sandbox.project.root,
        env=dict(sandbox.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SandboxError(
            f"the engine refuses the repaired state: {done.stderr.strip()[:1000]}",
            where=str(sandbox.home.state_file(sandbox.project, stack)),
            way_out="the state is as it was; `pulumi stack export` shows it",
        )


def _tell(found: Repair, stack: str, report: Report) -> None:
    for urn in found.adopted:
        report(f"adopted: {urn}")
    for urn in found.superfluous:
        report(f"marked for deletion, its predecessor is still there: {urn}")
    for urn in found.updated:
        report(f"read anew, its update was interrupted: {urn}")
    for urn in found.gone:
        report(f"no longer exists: {urn}")
    known = (*found.adopted, *found.superfluous, *found.updated, *found.gone)
    if found.dropped > len(known):
        report(f"{_count(found.dropped - len(known), 'step')} had been begun, to no effect")
    for thing in found.unknown:
        report(
            f"not touched: {thing.token} {thing.id} exists, and nothing in the state of {stack} tells of it; "
            f"`pulumi import` adopts it, and it was made as {thing.urn}"
        )


def _readable(file: Path) -> bool:
    try:
        return isinstance(json.loads(file.read_bytes()), dict)
    except (OSError, ValueError):
        return False


def _folder(file: Path, kind: str) -> Path:
    """The folder in which the backend keeps the `history` or the `backups` of a stack."""
    return file.parent.parent.parent / kind / file.parent.name / file.stem


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
