"""The outputs of a resource: its inputs, what the rules add, and what the SDK says is always set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuplatform.replacement import without_version
from gpuplatform.sandbox import sdk_source as sdk
from gpuplatform.sandbox import sdk_types
from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.rule import Call, Cloud

__all__ = ["after_create", "in_preview"]


def after_create(cloud: Cloud, call: Call, wired: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs of what exists; a function of its id and inputs, so that each read gives the same.

    Args:
        cloud: The cloud.
        call: The request, with the id.
        wired: The inputs with their secret wrappers, which the outputs keep.
    """
    declared = _declared(call.token)
    echoed = _echoed(wired, declared)
    rule = cloud.rule(call.token)
    generic = {k: v for k, v in cloud.outputs(call).items() if declared is None or k in declared}
    result: dict[str, Any] = wire.merged(generic, echoed)
    if rule.outputs:
        result = wire.merged(result, rule.outputs(call))
    for name, property_ in (declared or {}).items():
        if name in result:
            result[name] = _completed(result[name], property_.type, call.id)
        elif property_.required:
            result[name] = _made_up(name, property_.type, call.id)
    return result


def in_preview(cloud: Cloud, call: Call, wired: Mapping[str, Any]) -> dict[str, Any]:
    """What a preview knows of a resource to be created: the inputs. Everything computed is unknown.

    A policy that reads `arn` or an endpoint must see an unknown here, as with the real providers.
    """
    declared = _declared(call.token)
    result: dict[str, Any] = dict(_echoed(wired, declared))
    for name, property_ in (declared or {}).items():
        if property_.required and name not in result:
            result[name] = wire.UNKNOWN
    for path in cloud.rule(call.token).pending:
        parent, _, leaf = path.partition(".")
        inner = result.get(parent)
        if isinstance(inner, Mapping) and leaf not in inner:
            result[parent] = {**inner, leaf: wire.UNKNOWN}
    return result


def _declared(token: str) -> Mapping[str, sdk.Property] | None:
    """None for a custom resource: its inputs are its outputs."""
    found = sdk.resource_type(without_version(token))
    return found.outputs if found else None


def _echoed(wired: Mapping[str, Any], declared: Mapping[str, sdk.Property] | None) -> dict[str, Any]:
    if declared is None:
        return {key: value for key, value in wired.items() if not key.startswith("__")}
    return {key: _shaped(value, declared[key].type) for key, value in wired.items() if key in declared}


def _shaped(value: Any, kind: sdk.Type) -> Any:
    """An input as the output that it becomes.

    They differ in one way: azure-native takes `identity.userAssignedIdentities`, and its like on other types,
    as a list of ids and returns a map from the ids; the SDK breaks on a list there.
    """
    match kind:
        case sdk.MapOf(item) if isinstance(value, list):
            return {str(key): _made_up("", item, str(key)) for key in value}
        case sdk.ListOf(item) if isinstance(value, list):
            return [_shaped(entry, item) for entry in value]
        case sdk.ObjectType() if isinstance(value, dict) and sdk_types.SIGNATURE not in value:
            inner = sdk.object_type(kind)
            return {k: _shaped(v, inner[k].type) if k in inner else v for k, v in value.items()}
    return value


def _completed(value: Any, kind: sdk.Type, owner: str) -> Any:
    """The value with what its type always has, at any depth."""
    match kind:
        case sdk.ListOf(item) if isinstance(value, list):
            return [_completed(entry, item, f"{owner}/{index}") for index, entry in enumerate(value)]
        case sdk.ObjectType() if isinstance(value, dict) and sdk_types.SIGNATURE not in value:
            inner = sdk.object_type(kind)
            given = {k: _completed(v, inner[k].type, owner) if k in inner else v for k, v in value.items()}
            return _made_up("", kind, owner) | given
    return value


def _made_up(name: str, kind: sdk.Type, owner: str) -> Any:
    match kind:
        case sdk.Scalar("str"):
            return f"{name}-{wire.digest(owner, name, length=8)}"
        case sdk.Scalar("bool"):
            return False
        case sdk.Scalar():
            return 0
        case sdk.ListOf():
            return []
        case sdk.EnumType(_, values):
            return values[0]
        case sdk.OneOf(options):
            return _made_up(name, options[0], owner)
        case sdk.ObjectType():
            inner = sdk.object_type(kind)
            return {k: _made_up(k, p.type, owner) for k, p in inner.items() if p.required}
    return {}
