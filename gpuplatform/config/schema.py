"""The JSON Schema of a stack's file, for editors."""

from __future__ import annotations

from typing import Any

from gpuplatform.config.load import KEY
from gpuplatform.config.model import Platform

__all__ = ["file_schema"]


def file_schema() -> dict[str, Any]:
    """The schema of a whole `Pulumi.<stack>.yaml`; Pulumi's own keys beside `config` are let through."""
    platform = Platform.model_json_schema(
        ref_template=f"#/properties/config/properties/{KEY}/$defs/{{model}}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A stack of gpuplatform",
        "type": "object",
        "required": ["config"],
        "properties": {"config": {"type": "object", "required": [KEY], "properties": {KEY: platform}}},
    }
