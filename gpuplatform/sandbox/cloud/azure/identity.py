"""Managed identities and role assignments; they are stored, never evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuplatform.replacement import without_version
from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.azure.common import (
    IDENTITY,
    IN_GROUP,
    NOT_FOUND,
)
from gpuplatform.sandbox.cloud.azure.functions import TENANT, guid
from gpuplatform.sandbox.cloud.rule import (
    Call,
    CloudError,
    NameRule,
    Reference,
    Rule,
)

__all__ = ["RULES"]


def _identity_id(call: Call) -> str:
    group, name = call.get("resourceGroupName"), call.get("resourceName")
    return (
        f"/subscriptions/{call.account.owner}/resourceGroups/{group}/providers/Microsoft.ManagedIdentity"
        f"/userAssignedIdentities/{name}"
    )


def _identity_outputs(call: Call) -> dict[str, Any]:
    return {
        "clientId": guid(call.id, "client"),
        "principalId": guid(call.id, "principal"),
        "tenantId": TENANT,
    }


_ROLE = "azure-native:authorization:RoleAssignment"


def _only_one(call: Call) -> None:
    """Of the same role for the same principal on the same scope, whoever made it."""
    wanted = _grant_of(call.inputs)
    for thing in call.world.all():
        if without_version(thing.token) == _ROLE and _grant_of(wire.plain(thing.inputs)) == wanted:
            raise CloudError(f"Code=RoleAssignmentExists: The role assignment already exists: {thing.id}")


def _grant_of(inputs: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(inputs.get(key)).lower() for key in ("principalId", "roleDefinitionId", "scope"))


_OF_IDENTITY = Reference("resourceName", IDENTITY, NOT_FOUND, cascades=True, value=_identity_id)

RULES = (
    Rule(
        IDENTITY,
        names=NameRule(r"[A-Za-z0-9][\w-]{2,127}", "3 to 128 of letters, digits, - and _"),
        references=(IN_GROUP,),
        outputs=_identity_outputs,
    ),
    Rule(
        "azure-native:managedidentity:FederatedIdentityCredential",
        references=(IN_GROUP, _OF_IDENTITY),
    ),
    Rule(_ROLE, create=_only_one),
)
