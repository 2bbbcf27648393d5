"""`gpuplatform workflow STACK`: the GitHub Actions workflow that previews and deploys a stack."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["workflow"]


def workflow(
    stack: Annotated[str, typer.Argument(help="The stack, as in stacks/config/Pulumi.STACK.yaml.")],
    project: Annotated[Path, typer.Option(help="A folder of the Pulumi project.")] = Path(),
    environment: Annotated[
        str | None,
        typer.Option(
            help="The repository's environment that deploys it; otherwise the one named like the stack or "
            "like its `environment`, or the only one.",
        ),
    ] = None,
    branch: Annotated[str, typer.Option(help="The branch that is deployed.")] = "main",
) -> None:
    """Print the stack's GitHub Actions workflow, for .github/workflows/STACK.yml; see docs/ci.md."""
    from gpuplatform.config import find_project, from_file
    from gpuplatform.sandbox.engine import PINNED
    from gpuplatform.trust import workflow as written

    config = from_file(find_project(project), stack)
    text = written(stack, config, engine_version=PINNED, environment=environment, branch=branch)
    typer.echo(text, nl=False)
