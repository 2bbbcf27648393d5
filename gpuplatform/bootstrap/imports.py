"""What somebody names as existing takes the place of what a refused run made of the same name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpuplatform.bootstrap.canonical import needs
from gpuplatform.errors import ConfigError

__all__ = ["named", "without"]


def named(file: Path) -> frozenset[tuple[str, str]]:
    """Type and name of each resource in a file for `pulumi import --file`.

    Raises:
        ConfigError: There is no such file, or it is none.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return frozenset((str(one["type"]), str(one["name"])) for one in content["resources"])
    except OSError as error:
        raise ConfigError(f"the file cannot be read: {error.strerror}", where=str(file)) from None
    except (ValueError, TypeError, LookupError):
        raise ConfigError(
            "this names no resources to import",
            where=str(file),
            rule="as `pulumi import --file` takes it: JSON with `resources`, each with type, name and id",
            way_out="docs/ci.md, The record is lost, has one",
        ) from None


def without(
    checkpoint: Mapping[str, Any], taken: frozenset[tuple[str, str]]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A checkpoint without the resources of these types and names, and without what depends on them.

    Returns:
        The checkpoint, and what is then in no record any more: type and ID of each.
    """
    deployment = dict(checkpoint["deployment"])
    kept: list[dict[str, Any]] = []
    gone: dict[str, str] = {}
    for resource in deployment.get("resources") or []:  # each stands after all that it depends on
        key = (resource["type"], resource["urn"].rpartition("::")[2])
        if resource.get("custom") and (key in taken or needs(resource) & gone.keys()):
            gone[resource["urn"]] = f"{resource['type']} {resource.get('id', '')}"
        else:
            kept.append(resource)
    deployment["resources"] = kept
    return {**checkpoint, "deployment": deployment}, tuple(gone.values())
