"""Managed identities and role assignments; they are stored, never evaluated."""

from __future__ import annotations

from typing import Any

from gpuplatform.sandbox.cloud.azure.common import (
    IDENTITY,
    IN_GROUP,
    NOT_FOUND,
)
from gpuplatform.sandbox.cloud.azure.functions import TENANT, guid
from gpuplatform.sandbox.cloud.rule import (
    Call,
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


_OF_IDENTITY = Reference("resourceName", IDENTITY, NOT_FOUND, cascades=True, value=_identity_id)

RULES = (
    Rule(
        IDENTITY,
        names=NameRule(r"[A-Za-z0-9][\w-]{2,127}", "3 to 128 of letters, digits, - and _"),
        replace=("location",),
        references=(IN_GROUP,),
        outputs=_identity_outputs,
    ),
    Rule(
        "azure-native:managedidentity:FederatedIdentityCredential",
        replace=("resourceName",),
        references=(IN_GROUP, _OF_IDENTITY),
    ),
    Rule(
        "azure-native:authorization:RoleAssignment",
        replace=("principalId", "scope"),
    ),
)
