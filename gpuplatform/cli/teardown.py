"""Before a teardown: does the state protect what the stack's file keeps?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gpuplatform.errors import GpuPlatformError, SandboxError

if TYPE_CHECKING:
    from gpuplatform.sandbox.workspace import Home, Project

__all__ = ["refuse_unprotected"]

_SHOWN = 3


def refuse_unprotected(
    home: Home, project: Project, stack: str, *, us: str, report: Callable[[str], None]
) -> None:
    """Refuses a teardown that would take what the file keeps, since no `up` has protected it yet.

    So it is after a change from `teardown: delete` to `keep`, and after a `destroy --include-protected` that
    was stopped once it had lifted the protection.

    Args:
        home: The sandbox's folders.
        project: The project.
        stack: The stack.
        us: How the reader calls this command.
        report: Takes one line.

    Raises:
        SandboxError: There is such a thing.
    """
    bare = home.unprotected(project, stack)
    if not bare:
        return
    try:
        wanted = _kept(stack, project.name)
    except GpuPlatformError as error:
        # The state's own protection holds in any case, and a stack must be able to go when its file is wrong.
        report(f"what the stack's file keeps is not compared with the state: {error.what}")
        return
    if lost := sorted(wanted & bare):
        names = ", ".join(urn.rpartition("::")[2] for urn in lost[:_SHOWN])
        more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
        raise SandboxError(
            f"the stack's file keeps {names}{more}, and the state does not protect it",
            where=stack,
            rule="a teardown goes by what the last `up` has protected",
            way_out=f"`{us} sandbox up {stack}` protects it; to take it down with its data: "
            f"`{us} sandbox destroy {stack} --include-protected`",
        )


def _kept(stack: str, name: str) -> frozenset[str]:
    from gpuplatform import clock
    from gpuplatform.config import find_project, has_platform
    from gpuplatform.plan.kept import kept

    project = find_project(Path.cwd())
    if not has_platform(project, stack):
        return frozenset()
    return kept(project, stack, clock.today(), name=name)
