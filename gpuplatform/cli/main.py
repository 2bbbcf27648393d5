"""The command `gpuplatform`: parses, calls, prints.

Exit codes are those of `gpuplatform.errors`; 74 where the output cannot be written, 141 where its reader left
(`gpuplatform plan aws-dev | head -1`), as of a program that SIGPIPE ends: neither is a verdict on a plan.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from typing import Annotated

import typer

from gpuplatform.cli import (
    accept,
    bootstrap,
    engine,
    permissions,
    plan,
    sandbox,
    schedule,
    schema,
    sku,
    workflow,
)
from gpuplatform.errors import GpuPlatformError

__all__ = ["app", "main"]

_READER_LEFT = 128 + 13
_NO_OUTPUT = 74  # EX_IOERR of sysexits.h
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}

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
app.command("workflow")(workflow.workflow)
app.command("bootstrap")(bootstrap.bootstrap)
app.command("permissions")(permissions.permissions)
app.command("schedule")(schedule.schedule)
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
        code = _run()
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        sys.exit(_READER_LEFT)
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        _drop_output()
        typer.echo(f"error: the output cannot be written: {error.strerror}", err=True)
        sys.exit(_NO_OUTPUT)
    sys.exit(code)


def _run() -> str | int | None:
    """The exit code of the command.

    Raises:
        OSError: The output could not be written.
    """
    try:
        app()
    except GpuPlatformError as error:
        typer.echo(f"error: {error}", err=True)
        return error.exit_code
    except SystemExit as end:
        # typer and rich both answer a broken pipe with exit code 1, which is a failing verdict's.
        if isinstance(end.__context__, BrokenPipeError):
            raise end.__context__ from None
        return end.code
    return 0


def _drop_output() -> None:
    """What is still in the buffer would fail again, with a traceback, when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
