"""Azure: the actions of a custom role for each role, and the condition on its assignment."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from gpuplatform.permissions.azure_rows import GRANTABLE, ON_RESERVATIONS, TABLE, TO_GROUPS
from gpuplatform.permissions.model import Role, rows_of

__all__ = ["WILDCARDS", "AzureActions", "actions", "condition"]

WILDCARDS: Final[dict[str, str]] = {}
"""Actions with a `*` that a role may have, with the reason; there is none."""

_GRANT: Final = "Microsoft.Authorization/roleAssignments"


@dataclass(frozen=True, slots=True, kw_only=True)
class AzureActions:
    """What a custom role may do.

    Attributes:
        actions: On Azure's own API: `actions` of a role definition.
        data_actions: On data: `dataActions`.
    """

    actions: tuple[str, ...]
    data_actions: tuple[str, ...] = ()


def actions(role: Role, types: Collection[str]) -> AzureActions:
    """What `role` may do, for a custom role at the scope of the subscription.

    Args:
        role: Who acts.
        types: Type tokens that the stack's offline plan registers.

    Raises:
        Refusal: A type has no row.
    """
    granted = {action for row in rows_of(TABLE, types, "azure") for action in row.granted(role)}
    return AzureActions(actions=tuple(sorted(granted)))


def condition(role: Role, types: Collection[str], *, reservations: bool = False) -> str | None:
    """What the assignment of the custom role says beside it, `conditionVersion` 2.0; None for nothing.

    Without it, whoever may write a role assignment may make themselves the subscription's owner. It lets only
    the built-in roles that the stack's resources grant be granted, and only to identities of programs; to
    groups, the one that tells them a cluster's address
    (https://learn.microsoft.com/azure/role-based-access-control/delegate-role-assignments-examples).

    Args:
        role: Who acts.
        types: Type tokens that the stack's offline plan registers.
        reservations: Whether its pools draw on capacity reservations.

    Raises:
        Refusal: A type has no row.
    """
    if f"{_GRANT}/write" not in actions(role, types).actions:
        return None
    roles = {**GRANTABLE, **ON_RESERVATIONS} if reservations else GRANTABLE
    return " AND ".join(
        f"((!(ActionMatches{{'{_GRANT}/{verb}'}})) OR "
        f"({_of(side, roles, 'ServicePrincipal')}) OR ({_of(side, TO_GROUPS, 'Group')}))"
        for verb, side in (("write", "Request"), ("delete", "Resource"))
    )


def _of(side: str, roles: Collection[str], principal: str) -> str:
    return (
        f"@{side}[{_GRANT}:RoleDefinitionId] ForAnyOfAnyValues:GuidEquals {{{', '.join(sorted(roles))}}} AND "
        f"@{side}[{_GRANT}:PrincipalType] ForAnyOfAnyValues:StringEqualsIgnoreCase {{'{principal}'}}"
    )
