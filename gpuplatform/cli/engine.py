"""`gpuplatform engine`: which Pulumi engine the sandbox uses, and why."""

from __future__ import annotations

import typer

from gpuplatform.errors import EngineError

__all__ = ["app"]

app = typer.Typer(help="Which Pulumi engine the sandbox uses, and why.", invoke_without_command=True)


@app.callback()
def show(context: typer.Context) -> None:
    """Show which engine would be used, and why the ways in before it were passed over."""
    if context.invoked_subcommand:
        return
    from gpuplatform.sandbox import engine

    search = engine.find()
    for skipped in search.skipped:
        typer.echo(f"passed over  {skipped}")
    if not search.engine:
        raise EngineError(
            "no Pulumi engine on this machine",
            way_out="`gpuplatform engine ensure` brings one; `gpuplatform plan STACK` needs none",
        )
    found = search.engine
    typer.echo(f"used         {found.origin}: {found.path} ({found.version})")


@app.command()
def ensure() -> None:
    """Make sure of an engine: on PATH, in the cache, from the official download, or built from Go modules."""
    from gpuplatform.sandbox import engine

    found = engine.ensure(lambda line: typer.echo(line, err=True))
    typer.echo(f"{found.origin}: {found.path} ({found.version})")


@app.command()
def path() -> None:
    """Print the path of the engine, and nothing else; fails where there is none."""
    from gpuplatform.sandbox import engine

    search = engine.find()
    if not search.engine:
        raise EngineError(
            "no Pulumi engine on this machine: " + "; ".join(str(skipped) for skipped in search.skipped),
            way_out="`gpuplatform engine ensure` downloads or builds one",
        )
    typer.echo(search.engine.path)
