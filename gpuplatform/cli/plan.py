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
    against_state: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Compare with what exists, as `pulumi stack export --file FILE` wrote it: what an update "
            "would create, change, REPLACE and delete.",
        ),
    ] = None,
    fail_on_replace: Annotated[
        bool,
        typer.Option(
            "--fail-on-replace", help="With --against-state: exit 1 where anything is replaced or deleted."
        ),
    ] = False,
) -> None:
    """What would be built, what it costs, what the guardrails say: offline, in seconds.

    No engine, no credential, nothing is created. Exit code 0: clean; 1: a mandatory verdict fails, or
    --fail-on-replace and something would be replaced or deleted; 2: the configuration is wrong.
    """
    from gpuplatform import clock
    from gpuplatform.config import find_project
    from gpuplatform.errors import ConfigError
    from gpuplatform.plan import make

    if fail_on_replace and against_state is None:
        raise ConfigError(
            "--fail-on-replace says nothing without a state",
            way_out=f"name one: gpuplatform plan {stack} --against-state FILE --fail-on-replace",
        )
    made = make(find_project(project), stack, clock.today(), against_state)
    if as_json:
        from gpuplatform.report.document import document

        typer.echo(document(made).model_dump_json(indent=2))
    else:
        from gpuplatform.report.terminal import show_plan

        show_plan(made)
    destructive = made.changes is not None and bool(made.changes.of("replace", "delete"))
    raise typer.Exit(1 if made.blocked or (fail_on_replace and destructive) else 0)
