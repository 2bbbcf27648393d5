"""`gpuplatform schedule [STACK...]`: what each environment's uptime and expiry ask for now."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from gpuplatform.config import Platform, Project
    from gpuplatform.errors import ConfigError
    from gpuplatform.schedule import Wanted

__all__ = ["schedule"]

JSON_VERSION = 1
"""Raised when a key of the output is renamed or removed; new keys may come at any time."""


def schedule(
    stacks: Annotated[
        list[str] | None,
        typer.Argument(metavar="STACK...", help="The stacks; all of the project if left out."),
    ] = None,
    project: Annotated[Path, typer.Option(help="A folder of the Pulumi project.")] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Whether each stack is to be up, down or gone now, from its `uptime` and `expires`.

    It changes nothing: docs/state.md shows the pipeline that does. GPUPLATFORM_NOW asks for another moment.
    Exit code 2: a configuration is wrong; the other stacks are printed all the same.
    """
    from gpuplatform import clock
    from gpuplatform.config import find_project
    from gpuplatform.errors import ConfigError
    from gpuplatform.schedule import wanted

    now = clock.now()
    configs, problems = _configs(find_project(project), stacks or ())
    found = {stack: wanted(config, now) for stack, config in configs.items()}
    if as_json:
        content = {"version": JSON_VERSION, "stacks": [_entry(stack, it) for stack, it in found.items()]}
        typer.echo(json.dumps(content, indent=2))
    elif found:
        _show(found)
    if problems:
        raise ConfigError.of(problems)


def _configs(project: Project, stacks: Sequence[str]) -> tuple[dict[str, Platform], list[ConfigError]]:
    """By name, and what is wrong with the files of the others."""
    from gpuplatform.config import from_file, has_platform
    from gpuplatform.errors import ConfigError

    chosen = stacks or [stack for stack in project.stacks() if has_platform(project, stack)]
    found: dict[str, Platform] = {}
    problems: list[ConfigError] = []
    for stack in dict.fromkeys(chosen):
        try:
            found[stack] = from_file(project, stack)
        except ConfigError as error:
            problems.append(error)
    return found, problems


def _entry(stack: str, it: Wanted) -> dict[str, str | None]:
    return {"stack": stack, "wanted": it.state, "reason": it.reason, "changes_at": _moment(it)}


def _moment(it: Wanted) -> str | None:
    return it.changes_at.isoformat(timespec="minutes") if it.changes_at else None


def _show(found: dict[str, Wanted]) -> None:
    rows = [("STACK", "WANTED", "CHANGES AT", "BECAUSE")]
    rows += [(stack, it.state, _moment(it) or "never", it.reason) for stack, it in found.items()]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        typer.echo("  ".join([*cells, row[3]]))
