"""The command `gpuplatform`: parses, calls, prints. Exit codes are those of `gpuplatform.errors`."""

from __future__ import annotations

import gc
import sys
from typing import Annotated

import typer

from gpuplatform.cli import accept, engine, plan, sandbox, schema, sku
from gpuplatform.errors import GpuPlatformError

__all__ = ["app", "main"]

app = typer.Typer(
    name="gpuplatform",
    help="GPU clusters on AKS, EKS and GKE as code: right before the money is spent.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: rich alone would double the time it takes
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("plan")(plan.plan)
app.command("accept")(accept.accept)
app.command("schema")(schema.schema)
app.add_typer(sku.app, name="sku")
app.add_typer(sandbox.app, name="sandbox")
app.add_typer(engine.app, name="engine")


def _version(wanted: bool) -> None:
    if wanted:
        from gpuplatform import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Runs the command line; an expected failure prints its sentence and sets its exit code."""
    # What a command allocates lives until it ends: scanning it every 700 objects frees nothing.
    gc.set_threshold(100_000)
    try:
        app()
    except GpuPlatformError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
