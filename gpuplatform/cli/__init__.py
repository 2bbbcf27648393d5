"""The command line: one module a command, each loading what it needs when it runs."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """The console script."""
    from gpuplatform.cli.main import main as run

    run()
