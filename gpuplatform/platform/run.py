"""The Pulumi program's body: read the one key, decide, refuse or build."""

from __future__ import annotations

from pathlib import Path

import pulumi

from gpuplatform import catalog, clock
from gpuplatform.config import KEY, Platform, find_project, from_engine
from gpuplatform.errors import ConfigError, GpuPlatformError
from gpuplatform.platform.build import build
from gpuplatform.platform.decision import decide

__all__ = ["run"]


def run() -> None:
    """Builds the stack that is being run.

    Raises:
        pulumi.RunError: The configuration is wrong or a guardrail forbids it. The engine prints a RunError's
            text as it is; any other exception would show the reader a traceback.
    """
    try:
        config = from_engine(
            pulumi.runtime.get_config(KEY),
            secret=pulumi.runtime.is_config_secret(KEY),
            stack=pulumi.get_stack(),
        )
        build(decide(config, _catalogue(config), clock.today()))
    except GpuPlatformError as error:
        raise pulumi.RunError(str(error)) from None


def _catalogue(config: Platform) -> catalog.Catalog:
    if config.prices is None:
        return catalog.load()
    try:
        folder = find_project(Path.cwd()).config_dir
    except ConfigError:  # a program of somebody's own, run without a project folder around it
        folder = Path.cwd()
    return catalog.load().with_prices(folder / config.prices)
