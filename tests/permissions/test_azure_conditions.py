"""Azure's custom roles and the condition on their assignment."""

from __future__ import annotations

import re

import pytest
from samples import STACKS, recording_of

from gpuplatform.permissions import ROLES, azure
from gpuplatform.permissions.azure_rows import GRANTABLE, ON_RESERVATIONS, TABLE, TO_GROUPS

TYPES = {row.type for row in TABLE.values() if not row.bootstrap}
OWNER = "8e3af657-a8ff-443c-a75c-2fe8c4bcb635"
USER_ACCESS_ADMINISTRATOR = "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9"
RBAC_ADMINISTRATOR = "f58310d9-a9f6-439a-9e8d-f62e7b41a168"
CONTRIBUTOR = "b24988ac-6180-42a0-ab88-20f7382dd24c"


def _granted(condition: str, side: str) -> set[str]:
    """The roles that the condition lets somebody grant (`Request`) or take away (`Resource`)."""
    found = re.search(
        rf"@{side}\[[^\]]+:RoleDefinitionId\] ForAnyOfAnyValues:GuidEquals \{{([^}}]*)\}}", condition
    )
    assert found
    return set(found[1].split(", "))


@pytest.mark.parametrize("side", ["Request", "Resource"])
def test_the_condition_lists_the_roles_that_a_stack_grants(side: str) -> None:
    condition = azure.condition("deploy", TYPES)
    assert condition
    assert _granted(condition, side) == GRANTABLE.keys()
    drawn = azure.condition("deploy", TYPES, reservations=True)
    assert drawn
    assert _granted(drawn, side) == {*GRANTABLE, *ON_RESERVATIONS}


@pytest.mark.parametrize("reservations", [False, True])
@pytest.mark.parametrize("role", [OWNER, USER_ACCESS_ADMINISTRATOR, RBAC_ADMINISTRATOR])
def test_nobody_is_made_an_administrator(role: str, reservations: bool) -> None:
    condition = azure.condition("deploy", TYPES, reservations=reservations)
    assert condition
    assert role not in condition


def test_contributor_is_granted_where_reservations_are_drawn_on_only() -> None:
    assert CONTRIBUTOR not in (azure.condition("deploy", TYPES) or "")
    assert CONTRIBUTOR in (azure.condition("deploy", TYPES, reservations=True) or "")


def test_people_are_granted_nothing() -> None:
    condition = azure.condition("deploy", TYPES)
    assert condition
    assert (
        condition.count("PrincipalType] ForAnyOfAnyValues:StringEqualsIgnoreCase {'ServicePrincipal'}") == 2
    )


@pytest.mark.parametrize("side", ["Request", "Resource"])
def test_groups_get_the_cluster_s_address_and_no_program_s_role(side: str) -> None:
    condition = azure.condition("deploy", TYPES, reservations=True)
    assert condition
    found = re.findall(
        rf"@{side}\[[^\]]+:RoleDefinitionId\] ForAnyOfAnyValues:GuidEquals \{{([^}}]*)\}} AND "
        rf"@{side}\[[^\]]+:PrincipalType\] ForAnyOfAnyValues:StringEqualsIgnoreCase \{{'(\w+)'\}}",
        condition,
    )
    assert [principal for _, principal in found] == ["ServicePrincipal", "Group"]
    assert found[1][0].split(", ") == list(TO_GROUPS)
    assert not TO_GROUPS.keys() & {*GRANTABLE, *ON_RESERVATIONS}


def test_the_condition_is_well_formed() -> None:
    condition = azure.condition("deploy", TYPES)
    assert condition
    depth = 0
    for character in condition:
        depth += {"(": 1, ")": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    for verb in ("write", "delete"):
        assert condition.count(f"!(ActionMatches{{'Microsoft.Authorization/roleAssignments/{verb}'}})") == 1
    # 8 KB are taken (https://learn.microsoft.com/azure/role-based-access-control/conditions-faq).
    assert len(condition) < 8192


def test_a_role_that_grants_nothing_has_no_condition() -> None:
    assert azure.condition("preview", TYPES) is None
    assert azure.condition("deploy", {"azure-native:network:VirtualNetwork"}) is None


@pytest.mark.parametrize("role", ROLES)
def test_no_role_has_wildcards_or_touches_definitions_locks_or_keys_of_accounts(role: str) -> None:
    may = azure.actions(role, TYPES)
    assert may.data_actions == ()
    assert azure.WILDCARDS == {}
    for action in may.actions:
        assert "*" not in action
        assert (
            not re.search(
                r"roleDefinitions/(write|delete)|locks/|listKeys|elevateAccess|purge|deploy(ments|/action)$|"
                r"listClusterAdminCredential|runCommand",
                action,
            )
            or action == "Microsoft.Compute/capacityReservationGroups/deploy/action"
        )


@pytest.mark.parametrize("stack", [stack for stack in STACKS if stack.startswith("azure")])
def test_a_preview_of_a_sample_stack_looks_and_gets_no_other_cluster_s_kubeconfig(stack: str) -> None:
    types = {resource.type for resource in recording_of(stack).resources}
    unlike = [action for action in azure.actions("preview", types).actions if not action.endswith("/read")]
    # Not even a kubeconfig: a custom role is the subscription's, and clusters with local accounts return an
    # administrator's. Groups in `cluster.viewers` get it on the stack's cluster.
    assert unlike == []
    assert any("listClusterUserCredential" in one for one in azure.actions("deploy", types).actions)


def test_actions_are_sorted_and_named_once() -> None:
    for role in ROLES:
        actions = azure.actions(role, TYPES).actions
        assert list(actions) == sorted(set(actions))
