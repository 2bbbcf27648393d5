"""`gpuplatform permissions STACK`: what the pipeline's two roles may do in the stack's cloud."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from gpuplatform.config import Platform, Project
    from gpuplatform.permissions import Role

__all__ = ["permissions"]

JSON_VERSION = 1
"""Raised when a key of the output is renamed or removed; new keys may come at any time."""


def permissions(
    stack: Annotated[str, typer.Argument(help="The stack, as in stacks/config/Pulumi.STACK.yaml.")],
    project: Annotated[Path, typer.Option(help="A folder of the Pulumi project.")] = Path(),
) -> None:
    """Print what the pipeline's roles may do, as JSON, from the stack's offline plan: docs/permissions.md.

    Nothing is created: `gpuplatform bootstrap STACK` makes the roles. Exit code 1: a mandatory verdict fails,
    so nothing is known of the resources; 2: the configuration is wrong, or nobody has written down what one
    of its resources needs.
    """
    from gpuplatform.config import find_project, from_file
    from gpuplatform.permissions import ROLES

    found = find_project(project)
    config = from_file(found, stack)
    types = _registered(found, stack)
    content = {
        "version": JSON_VERSION,
        "stack": stack,
        "cloud": config.cloud.provider,
        "roles": {role: _role(role, config, types) for role in ROLES},
        **_beside(config),
    }
    typer.echo(json.dumps(content, indent=2))


def _registered(project: Project, stack: str) -> set[str]:
    """Type tokens of what the stack's offline plan registers."""
    from gpuplatform import clock
    from gpuplatform.plan.make import decided
    from gpuplatform.plan.recorder import record
    from gpuplatform.plan.sdk import build_of

    decision = decided(project, stack, clock.today())
    build = build_of(decision.config.cloud.provider)
    recording = record(lambda: build(decision), stack=stack)
    return {resource.type for resource in recording.resources}


def _role(role: Role, config: Platform, types: Collection[str]) -> dict[str, Any]:
    from gpuplatform.permissions import aws, azure, gcp

    match config.cloud.provider:
        case "aws":
            return {"policies": list(aws.policies(role, types, aws.scope_of(config)))}
        case "azure":
            may = azure.actions(role, types)
            drawn = any(pool.capacity.kind == "reservation" for pool in config.node_pools)
            return {
                "actions": list(may.actions),
                "dataActions": list(may.data_actions),
                "condition": azure.condition(role, types, reservations=drawn),
            }
        case "gcp":
            scope = gcp.scope_of(config)
            return {
                "includedPermissions": list(gcp.permissions(role, types, scope)),
                "condition": gcp.condition(role, types, scope),
            }


def _beside(config: Platform) -> dict[str, Any]:
    """AWS: the permissions boundary of the roles that the stack itself makes."""
    from gpuplatform.permissions import aws

    if config.cloud.provider != "aws":
        return {}
    scope = aws.scope_of(config)
    return {"boundary": {"arn": aws.boundary_arn(scope), "policy": aws.boundary(scope)}}
