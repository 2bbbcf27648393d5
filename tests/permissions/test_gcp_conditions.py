"""Google Cloud's custom roles and the condition on their binding."""

from __future__ import annotations

import re

import pytest
from samples import STACKS, config_of, recording_of

from gpuplatform.errors import Refusal
from gpuplatform.gcp.access import ADMIN_ROLE, VIEWER_ROLE
from gpuplatform.permissions import ROLES, gcp
from gpuplatform.permissions.gcp_rows import GRANTABLE, TABLE

TYPES = {row.type for row in TABLE.values() if not row.bootstrap}
SCOPE = gcp.GcpScope(name="vision-prod")


def _names(condition: str, kind: str) -> list[str]:
    """The beginnings of names that the condition lets a role reach, for one kind of resource."""
    found = re.search(
        rf"\(resource\.type != 'storage\.googleapis\.com/{kind}' \|\| ([^)]*\)( \|\| [^)]*\))*)\)", condition
    )
    return re.findall(r"projects/_/buckets/([^']+)", found[1]) if found else []


def test_a_project_s_policy_takes_the_roles_that_a_stack_grants() -> None:
    condition = gcp.condition("deploy", TYPES, SCOPE)
    assert condition
    found = re.search(r"modifiedGrantsByRole', \[\]\)\.hasOnly\(\[([^\]]*)\]\)", condition)
    assert found
    assert {role.strip("' ") for role in found[1].split(",")} == GRANTABLE.keys()


def test_they_are_those_of_the_cluster_s_administrators_viewers_and_nodes() -> None:
    assert {ADMIN_ROLE, VIEWER_ROLE} < GRANTABLE.keys()


@pytest.mark.parametrize(
    "role",
    ["roles/owner", "roles/editor", "roles/iam.securityAdmin", "roles/resourcemanager.projectIamAdmin"],
)
def test_nobody_is_made_an_administrator(role: str) -> None:
    assert role not in (gcp.condition("deploy", TYPES, SCOPE) or "")


def test_buckets_of_the_stack_alone_are_in_reach() -> None:
    scope = gcp.GcpScope(name="vision-prod", buckets=("our-own-name",))
    condition = gcp.condition("deploy", TYPES, scope)
    assert condition
    assert _names(condition, "Bucket") == ["vision-prod-", "our-own-name"]
    assert _names(condition, "Object") == []


def test_objects_are_deleted_where_a_teardown_takes_them_only() -> None:
    assert not [one for one in gcp.permissions("deploy", TYPES, SCOPE) if one.startswith("storage.objects.")]
    scope = gcp.GcpScope(name="vision-prod", emptied=("vision-prod-scratch-1a2b", "ours"))
    condition = gcp.condition("deploy", TYPES, scope)
    assert condition
    assert _names(condition, "Object") == ["vision-prod-scratch-1a2b/", "ours/"]
    objects = [one for one in gcp.permissions("deploy", TYPES, scope) if one.startswith("storage.objects.")]
    assert objects == ["storage.objects.delete", "storage.objects.list"]
    assert not [one for one in gcp.permissions("preview", TYPES, scope) if one.startswith("storage.objects.")]


@pytest.mark.parametrize("key", ["buckets", "emptied"])
def test_more_buckets_than_a_condition_names_are_refused(key: str) -> None:
    scope = gcp.GcpScope(name="x", **{key: tuple(f"bucket-{number}" for number in range(5))})
    with pytest.raises(Refusal) as refused:
        gcp.condition("deploy", TYPES, scope)
    assert "5 buckets" in refused.value.what
    assert refused.value.way_out


def test_a_condition_has_at_most_twelve_operators() -> None:
    for named, emptied in ((4, 0), (1, 2), (0, 3)):
        buckets, gone = (tuple(f"bucket-{number}" for number in range(most)) for most in (named, emptied))
        scope = gcp.GcpScope(name="vision-prod", buckets=buckets, emptied=gone)
        condition = gcp.condition("deploy", TYPES, scope)
        assert condition
        negations = condition.count("!") - condition.count("!=")
        assert condition.count("&&") + condition.count("||") + negations <= 12


def test_a_preview_needs_no_condition() -> None:
    assert gcp.condition("preview", TYPES, SCOPE) is None


def test_a_role_that_grants_nothing_and_has_no_bucket_has_no_condition() -> None:
    assert gcp.condition("deploy", {"gcp:compute/network:Network"}, SCOPE) is None


@pytest.mark.parametrize("role", ROLES)
def test_no_role_writes_roles_trust_or_service_accounts_policies(role: str) -> None:
    for one in gcp.permissions(role, TYPES, gcp.GcpScope(name="x", emptied=("x-scratch-",))):
        assert "*" not in one
        assert not re.match(
            r"iam\.(roles|workloadIdentityPool\w*|serviceAccountKeys|denypolicies)\.|"
            r"iam\.serviceAccounts\.(setIamPolicy|getAccessToken|sign|implicitDelegation)|"
            r"orgpolicy\.|resourcemanager\.projects\.(delete|update|move)|serviceusage\.services\.disable",
            one,
        )
    assert gcp.WILDCARDS == {}


def test_a_custom_role_holds_them() -> None:
    # At most 3,000 (https://cloud.google.com/iam/quotas).
    assert len(gcp.permissions("deploy", TYPES)) < 3000


@pytest.mark.parametrize("stack", [stack for stack in STACKS if stack.startswith("gcp")])
def test_a_sample_stack_s_condition_is_of_its_own_names(stack: str) -> None:
    types = {resource.type for resource in recording_of(stack).resources}
    scope = gcp.scope_of(config_of(stack))
    assert scope.name == config_of(stack).physical_name
    assert "hasOnly" in (gcp.condition("deploy", types, scope) or "")
