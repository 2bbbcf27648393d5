"""How the real providers make up a physical name where the program gives none.

    aws, gcp       LOGICAL-1a2b3c4     pulumi-terraform-bridge, pkg/tfbridge/names.go: `-` and 7 digits
    azure-native   LOGICAL1a2b3c4d     provider/pkg/provider: 8 digits, no separator; children of another
                                       resource keep the logical name, role assignments get a UUID
    kubernetes     LOGICAL-1a2b3c4d    pulumi-kubernetes, provider/pkg/metadata/naming.go: `-` and 8 digits

All but Kubernetes write the name down in the checked inputs, where the policies see it.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from typing import Any

from gpuplatform.replacement import name_input
from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.rule import Naming
from gpuplatform.sandbox.sdk_source import Property, Scalar

__all__ = ["AZURE", "BRIDGED", "KUBERNETES", "NAME_DIGITS"]

NAME_DIGITS = 32
"""Random digits handed to `Naming.make`; each provider takes what it needs."""

_AUTONAMED = "pulumi.com/autonamed"


def _bridged_input(_token: str, inputs: Mapping[str, Property]) -> str:
    named = inputs.get("name")
    # Only a string can be made up; where the SDK demands a name, the provider has no auto-naming.
    return "name" if named and named.type == Scalar("str") and not named.required else ""


def _mark_default(inputs: dict[str, Any], path: str) -> None:
    inputs["__defaults"] = [path]


BRIDGED = Naming(
    input=_bridged_input,
    make=lambda _token, _inputs, logical, digits: f"{logical}-{digits[:7]}",
    mark=_mark_default,
    marked=lambda inputs, path: path in inputs.get("__defaults", []),
)


def _azure_input(token: str, inputs: Mapping[str, Property]) -> str:
    """Where the path's last parameter is optional in the SDK: the provider can then make it up."""
    return name_input(token, (name for name, p in inputs.items() if not p.required))


def _azure_child(inputs: Mapping[str, Property]) -> bool:
    """Whether its path goes through another resource, below the resource group."""
    return any(p.required and n.endswith("Name") and n != "resourceGroupName" for n, p in inputs.items())


def _azure_make(token: str, inputs: Mapping[str, Property], logical: str, digits: str) -> str:
    if token.endswith(":RoleAssignment"):
        return str(uuid.UUID(digits[:32]))
    return logical if _azure_child(inputs) else f"{logical}{digits[:8]}"


def _mark_create_before_delete(inputs: dict[str, Any], path: str) -> None:
    # provider.go: createBeforeDeleteFlag. Without it a replacement deletes first, as the name is taken.
    name = str(inputs.get(path, ""))
    if re.search(r"[0-9a-f]{8}$", name):
        inputs["__createBeforeDelete"] = True


AZURE = Naming(
    input=_azure_input,
    make=_azure_make,
    mark=_mark_create_before_delete,
    marked=lambda inputs, _path: bool(inputs.get("__createBeforeDelete")),
)


def _kubernetes_input(token: str, _inputs: Mapping[str, Property]) -> str:
    return "name" if token.startswith("kubernetes:helm.sh/v3:Release") else "metadata.name"


def _mark_annotation(inputs: dict[str, Any], path: str) -> None:
    if path == "metadata.name":
        metadata = inputs["metadata"]
        metadata["annotations"] = {**metadata.get("annotations", {}), _AUTONAMED: "true"}
    else:
        _mark_default(inputs, path)


def _annotated(inputs: Mapping[str, Any], path: str) -> bool:
    if path == "metadata.name":
        metadata = wire.first(inputs, "metadata", {})
        return isinstance(metadata, Mapping) and _AUTONAMED in (metadata.get("annotations") or {})
    return path in inputs.get("__defaults", [])


KUBERNETES = Naming(
    input=_kubernetes_input,
    make=lambda _token, _inputs, logical, digits: f"{logical}-{digits[:8]}",
    mark=_mark_annotation,
    marked=_annotated,
)
