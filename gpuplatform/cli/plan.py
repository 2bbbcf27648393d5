"""`gpuplatform plan STACK`: what would be built, what it costs, what the guardrails say; offline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["plan"]


def plan(
    stack: Annotated[str, typer.Argument(help="The stack, as in stacks/config/Pulumi.STACK.yaml.")],
    project: Annotated[Path, typer.Option(help="A folder of the Pulumi project.")] = Path(),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the plan as JSON; `gpuplatform schema plan` documents it.")
    ] = False,
) -> None:
    """What would be built, what it costs, what the guardrails say: offline, in seconds.

    No engine, no credential, nothing is created. Exit code 0: clean; 1: a mandatory verdict fails;
    2: the configuration is wrong.
    """
    from gpuplatform import clock
    from gpuplatform.config import find_project
    from gpuplatform.plan import make

    made = make(find_project(project), stack, clock.today())
    if as_json:
        from gpuplatform.report.document import document

        typer.echo(document(made).model_dump_json(indent=2))
    else:
        from gpuplatform.report.terminal import show_plan

        show_plan(made)
    raise typer.Exit(1 if made.blocked else 0)
