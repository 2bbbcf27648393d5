"""`gpuplatform schema NAME`: the JSON Schemas of what is read and of what is printed."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any

import typer

__all__ = ["schema"]


class Name(StrEnum):
    """What has a schema."""

    PLATFORM = "platform"
    PLAN = "plan"


def schema(
    name: Annotated[
        Name, typer.Argument(help="platform: a stack's file, for editors; plan: the output of `plan --json`.")
    ],
) -> None:
    """Print a JSON Schema."""
    typer.echo(json.dumps(_platform() if name is Name.PLATFORM else _plan(), indent=2))


def _platform() -> dict[str, Any]:
    from gpuplatform.config.schema import file_schema

    return file_schema()


def _plan() -> dict[str, Any]:
    from gpuplatform.report.document import PlanDocument

    return PlanDocument.model_json_schema()
