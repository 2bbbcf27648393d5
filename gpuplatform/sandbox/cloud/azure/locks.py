"""Locks on resource groups: what stands in a locked group neither changes nor goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.azure.common import GROUP, IN_GROUP, LOCK, normal
from gpuplatform.sandbox.cloud.rule import Call, CloudError, NameRule, Rule

__all__ = ["RULES", "guarded"]


def guarded(rule: Rule) -> Rule:
    """The rule of a type that locks hold for: all but locks themselves."""
    return replace(
        rule,
        create=_after(lambda call: _refuse(call, "write", {"ReadOnly"}), rule.create),
        update=_update(rule.update),
        delete=_after(lambda call: _refuse(call, "delete", {"ReadOnly", "CanNotDelete"}), rule.delete),
    )


def _after(first: Callable[[Call], None], then: Callable[[Call], None] | None) -> Callable[[Call], None]:
    def both(call: Call) -> None:
        first(call)
        if then is not None:
            then(call)

    return both


def _update(
    then: Callable[[Call, Mapping[str, Any]], None] | None,
) -> Callable[[Call, Mapping[str, Any]], None]:
    def both(call: Call, old: Mapping[str, Any]) -> None:
        _refuse(call, "write", {"ReadOnly"})
        if then is not None:
            then(call, old)

    return both


def _refuse(call: Call, operation: str, levels: set[str]) -> None:
    """Of the group that it stands in, or whose part its scope is: roles are given there as well."""
    group = _group(call)
    for lock in call.world.linked(GROUP, group, LOCK) if group else ():
        if wire.plain(lock.inputs).get("level") in levels:
            raise CloudError(
                f"Code=ScopeLocked: The scope '{call.id or call.name}' cannot perform {operation} operation"
                f" because following scope(s) are locked: '{lock.id}'. Please remove the lock and try again."
            )


def _group(call: Call) -> str:
    named = call.get("resourceGroupName")
    if isinstance(named, str):
        return normal(named)
    scope = call.get("scope")
    parts = normal(scope).split("/resourcegroups/") if isinstance(scope, str) else []
    return parts[1].partition("/")[0] if len(parts) > 1 else ""


RULES = (
    Rule(
        LOCK,
        names=NameRule(r"[^<>%&\\?/]{1,260}", "1 to 260 characters without < > % & \\ ? /"),
        references=(IN_GROUP,),
    ),
)
