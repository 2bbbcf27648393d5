"""Managed identities, their credentials, and roles; they are stored, never evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpuplatform.replacement import without_version
from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.azure.common import (
    IDENTITY,
    IN_GROUP,
    NOT_FOUND,
    normal,
)
from gpuplatform.sandbox.cloud.azure.functions import TENANT, guid
from gpuplatform.sandbox.cloud.rule import (
    Call,
    CloudError,
    NameRule,
    Reference,
    Rule,
)
from gpuplatform.sandbox.sdk_types import Problem

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


_CREDENTIAL = "azure-native:managedidentity:FederatedIdentityCredential"
_CREDENTIALS_MAX = 20


def _check_credential(call: Call) -> Iterator[Problem]:
    audiences = call.inputs.get("audiences")
    if isinstance(audiences, list) and len(audiences) != 1:
        yield Problem("audiences", f"takes one audience, not {len(audiences)}")


def _create_credential(call: Call) -> None:
    """Of one identity: each issuer and subject once, and so many in all."""
    others = call.world.linked(IDENTITY, normal(_identity_id(call)), _CREDENTIAL)
    if len(others) >= _CREDENTIALS_MAX:
        raise CloudError(
            f"Code=FederatedIdentityCredentialsLimitExceeded: an identity has at most {_CREDENTIALS_MAX}."
        )
    wanted = (call.get("issuer"), call.get("subject"))
    for other in others:
        plain = wire.plain(other.inputs)
        if (plain.get("issuer"), plain.get("subject")) == wanted:
            raise CloudError(
                "Code=BadRequest: Issuer and subject combination already exists for this Managed Identity"
                f" ({other.name})."
            )


_DEFINITION = "azure-native:authorization:RoleDefinition"


def _create_definition(call: Call) -> None:
    """Names are one space for the tenant, which here is everybody's."""
    name = str(call.get("roleName")).lower()
    for thing in call.world.all():
        if without_version(thing.token) == _DEFINITION and thing.outputs.get("roleName", "").lower() == name:
            raise CloudError(
                f"Code=RoleDefinitionWithSameNameExists: A custom role with the same name already exists in"
                f" this directory: {call.get('roleName')}"
            )


def _definition_id(call: Call) -> str:
    scope, known = call.get("scope"), call.get("roleDefinitionId")
    return f"{scope}/providers/Microsoft.Authorization/roleDefinitions/{known}"


def _check_definition(call: Call) -> Iterator[Problem]:
    for index, scope in enumerate(wire.at(call.inputs, "assignableScopes[]")):
        if scope == "/":
            yield Problem(f"assignableScopes[{index}]", "a custom role is not assignable at the root")


_OF_IDENTITY = Reference("resourceName", IDENTITY, NOT_FOUND, cascades=True, value=_identity_id)

_OF_DEFINITION = Reference(
    "roleDefinitionId",
    _DEFINITION,  # Azure's own are not in the sandbox, so it is not checked to exist
    holds="Code=RoleDefinitionHasAssignments: There are existing role assignments referencing role {id}"
    " ({by}).",
)

RULES = (
    Rule(
        IDENTITY,
        names=NameRule(r"[A-Za-z0-9][\w-]{2,127}", "3 to 128 of letters, digits, - and _"),
        references=(IN_GROUP,),
        outputs=_identity_outputs,
    ),
    Rule(
        _CREDENTIAL,
        names=NameRule(r"[A-Za-z0-9][\w-]{2,119}", "3 to 120 of letters, digits, - and _"),
        references=(IN_GROUP, _OF_IDENTITY),
        check=_check_credential,
        create=_create_credential,
    ),
    Rule(_ROLE, references=(_OF_DEFINITION,), create=_only_one),
    Rule(_DEFINITION, check=_check_definition, create=_create_definition, id=_definition_id),
)
