"""`gpuplatform bootstrap STACK`: the state's store and the CI identities, before the first `pulumi up`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["bootstrap"]


def bootstrap(
    stack: Annotated[str, typer.Argument(help="The stack, as in stacks/config/Pulumi.STACK.yaml.")],
    project: Annotated[Path, typer.Option(help="A folder of the Pulumi project.")] = Path(),
    preview: Annotated[
        bool, typer.Option("--preview", help="Show what would be done, and do nothing.")
    ] = False,
    imports: Annotated[
        Path | None,
        typer.Option(
            "--import",
            metavar="FILE",
            help="First take over what exists and is in no record, as `pulumi import --file` names it.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what is to be set as JSON.")] = False,
) -> None:
    """Build what a first `pulumi up` needs: a place for its state, a key for secrets, who may deploy.

    With an owner's credentials, on the stack's cloud; inside `gpuplatform sandbox exec --` on a simulated
    one. It can be run again at any time. What it built is recorded in stacks/bootstrap/STACK.json: commit it.
    """
    import json

    from gpuplatform import clock
    from gpuplatform.bootstrap import bootstrap as run
    from gpuplatform.config import find_project

    outcome = run(
        find_project(project),
        stack,
        clock.today(),
        report=lambda line: typer.echo(line, err=True),
        preview=preview,
        imports=imports,
    )
    if as_json:
        typer.echo(json.dumps(outcome.document(), indent=2))
    else:
        from gpuplatform.bootstrap.terminal import show

        show(outcome)
