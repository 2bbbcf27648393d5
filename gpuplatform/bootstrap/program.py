"""The Pulumi program of a bootstrap: the state's store and the two CI identities of one stack."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Final

import pulumi

from gpuplatform.bootstrap.built import Built
from gpuplatform.config import KEY, from_engine
from gpuplatform.errors import GpuPlatformError
from gpuplatform.trust import VARIABLES

__all__ = ["TYPES_KEY", "run"]

TYPES_KEY: Final = "gpuplatform:types"
"""The configuration's key with the type tokens of what the stack builds: what the identities may touch."""


def run() -> None:
    """Builds the bootstrap of the stack that is being run.

    Raises:
        pulumi.RunError: It cannot be built; the engine prints its text as it is.
    """
    try:
        config = from_engine(
            pulumi.runtime.get_config(KEY),
            secret=pulumi.runtime.is_config_secret(KEY),
            stack=pulumi.get_stack(),
        )
        types = json.loads(pulumi.runtime.get_config(TYPES_KEY) or "[]")
        provider = config.cloud.provider
        built: Built = import_module(f"gpuplatform.bootstrap.{provider}").build(config, types)
    except GpuPlatformError as error:
        raise pulumi.RunError(str(error)) from None
    pulumi.export("backend_url", built.state.backend_url)
    pulumi.export("secrets_provider", built.state.secrets_provider)
    pulumi.export("admin", built.admin)
    pulumi.export("viewer", built.viewer)
    pulumi.export(
        "variables",
        pulumi.Output.all(built.ci.variables, built.state.backend_url).apply(
            lambda known: _variables(provider, {**known[0], "BACKEND_URL": known[1]})
        ),
    )


def _variables(provider: str, known: Mapping[str, str]) -> dict[str, str]:
    """What the workflow reads, in its order; one that is missing is a program's own mistake."""
    return {key: known[key] for key in VARIABLES[provider]}
