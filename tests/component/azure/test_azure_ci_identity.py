"""Who a repository's workflows are on Azure: exact subjects, narrow roles, locked groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from azure_durable_samples import ACTIONS, COMMON, github, make_ci, make_state
from azure_samples import SUBSCRIPTION

from gpuplatform.azure import AzureCiIdentity, AzureCiIdentityArgs
from gpuplatform.azure.ci_identity import SUBJECTS_MAX, state_actions
from gpuplatform.errors import Refusal
from gpuplatform.permissions.azure import AzureActions
from gpuplatform.plan.recorder import Recording, Registered, record
from gpuplatform.trust import VARIABLES, Trust

Update = Callable[[Callable[[], Any]], Recording]
CREDENTIAL = "azure-native:managedidentity:FederatedIdentityCredential"
DEFINITION = "azure-native:authorization:RoleDefinition"
ROLE = "azure-native:authorization:RoleAssignment"
LOCK = "azure-native:authorization:ManagementLockAtResourceGroupLevel"
IDS = {"owner_id": "101", "repository_id": "202"}


def build(update: Update, trusted: Trust | None = None, **changes: Any) -> Recording:
    return update(lambda: make_ci(trusted, **changes))


def subjects(recording: Recording, role: str) -> list[str]:
    return [r.inputs["subject"] for r in recording.of_type(CREDENTIAL) if f"ci-{role}-" in r.name]


def test_oidc_1_the_immutable_form_has_both_numbers_and_the_move_has_both_forms(update: Update) -> None:
    immutable = build(update, github(**IDS))
    assert subjects(immutable, "deploy") == ["repo:octo@101/vision@202:environment:prod"]
    assert subjects(immutable, "preview") == ["repo:octo@101/vision@202:pull_request"]
    both = build(update, github(**IDS, subjects="both"))
    assert set(subjects(both, "deploy")) == {
        "repo:octo/vision:environment:prod",
        "repo:octo@101/vision@202:environment:prod",
    }


def test_oidc_3_an_environment_takes_the_place_of_a_branch(update: Update) -> None:
    recording = build(update, github(environments=("prod", "staging")))
    assert subjects(recording, "deploy") == [
        "repo:octo/vision:environment:prod",
        "repo:octo/vision:environment:staging",
    ]
    assert not [s for role in ("preview", "deploy") for s in subjects(recording, role) if ":ref:" in s]


def test_oidc_4_issuer_audience_and_subject_are_exact_in_each_credential(update: Update) -> None:
    recording = build(update, github(**IDS, subjects="both", environments=("prod", "staging")))
    credentials = recording.of_type(CREDENTIAL)
    assert len(credentials) == 6
    for credential in credentials:
        assert credential.inputs["issuer"] == "https://token.actions.githubusercontent.com"
        assert credential.inputs["audiences"] == ["api://AzureADTokenExchange"]
        assert "*" not in credential.inputs["subject"]
        assert credential.inputs["subject"].endswith(
            (":environment:prod", ":environment:staging", ":pull_request")
        )
    assert len({c.inputs["federatedIdentityCredentialResourceName"] for c in credentials}) == 6


def test_oidc_8_no_session_length_is_told_to_azure_and_nothing_long_lived_is_made(update: Update) -> None:
    short, long = build(update, github(session_minutes=60)), build(update, github(session_minutes=720))
    assert [r.inputs for r in short.resources] == [r.inputs for r in long.resources]
    made = {resource.type for resource in long.resources}
    assert not {kind for kind in made if "azuread" in kind or "Secret" in kind or "Application" in kind}


def test_credentials_of_one_identity_are_written_one_after_the_other(update: Update) -> None:
    recording = build(update, github(environments=("a1", "b2", "c3")))
    first, second, third = [r for r in recording.of_type(CREDENTIAL) if "ci-deploy-" in r.name]
    assert first.urn in second.dependencies
    assert second.urn in third.dependencies


def test_a_new_environment_leaves_the_others_names_alone(update: Update) -> None:
    def names(*environments: str) -> set[str]:
        recording = build(update, github(environments=environments))
        return {r.name for r in recording.of_type(CREDENTIAL)}

    assert names("prod") < names("alpha", "prod")


def test_more_subjects_than_an_identity_holds_are_refused() -> None:
    def arguments(count: int) -> None:
        trusted = github(environments=tuple(f"env{index}" for index in range(count)))
        record(lambda: make_ci(trusted))

    arguments(SUBJECTS_MAX)
    with pytest.raises(Refusal, match="21 subjects") as refused:
        arguments(SUBJECTS_MAX + 1)
    assert refused.value.way_out


def test_each_identity_has_a_role_of_its_own_with_what_it_was_given(update: Update) -> None:
    recording = build(update)
    for role in ("preview", "deploy"):
        definition = recording.named(f"ci-{role}-builds-role").inputs
        (permission,) = definition["permissions"]
        assert permission["actions"] == list(ACTIONS[role].actions)
        assert permission["dataActions"] == []
        assert definition["assignableScopes"] == [f"/subscriptions/{SUBSCRIPTION}"]
        assigned = recording.named(f"ci-{role}-builds").inputs
        assert assigned["scope"] == f"/subscriptions/{SUBSCRIPTION}"
        assert assigned["principalId"] == f"vision-prod-ci-{role}-principal"


def test_what_may_be_granted_on_is_the_condition_of_the_deploying_role_alone(update: Update) -> None:
    recording = build(update)
    deploy = recording.named("ci-deploy-builds").inputs
    assert (deploy["condition"], deploy["conditionVersion"]) == ("(a condition)", "2.0")
    assert "condition" not in recording.named("ci-preview-builds").inputs


def test_a_preview_reads_the_state_and_cannot_write_it() -> None:
    preview, deploy = state_actions("preview"), state_actions("deploy")
    assert {action.rpartition("/")[2] for action in preview.data_actions} == {"read", "action"}
    assert not [a for a in preview.data_actions if "write" in a or "delete" in a or "encrypt/" in a]
    assert set(preview.data_actions) < set(deploy.data_actions)
    assert not [a for a in (*preview.data_actions, *deploy.data_actions) if "*" in a]


def test_the_state_s_roles_are_on_its_container_and_key_alone(update: Update) -> None:
    recording = build(update)
    for role in ("preview", "deploy"):
        scopes = {recording.named(f"ci-{role}-{part}").inputs["scope"] for part in ("state", "secrets")}
        assert {scope.rsplit("/", 2)[1] for scope in scopes} == {"BlobContainer", "Key"}


def test_identities_and_state_are_read_only_for_the_pipeline_once_all_is_there(update: Update) -> None:
    recording = build(update)
    locks = {lock.inputs["resourceGroupName"]: lock for lock in recording.of_type(LOCK)}
    assert set(locks) == {"vision-prod-ci", "vision-prod-state"}
    assert {lock.inputs["level"] for lock in locks.values()} == {"ReadOnly"}
    after = set(locks["vision-prod-ci"].dependencies)
    assert {credential.urn for credential in recording.of_type(CREDENTIAL)} <= after
    granted = {recording.named(f"ci-{role}-state").urn for role in ("preview", "deploy")}
    assert granted <= set(locks["vision-prod-state"].dependencies)


def test_a_second_run_finds_its_roles_again(update: Update) -> None:
    def identity(role: Registered) -> tuple[str, str]:
        return role.inputs["roleDefinitionId"], role.inputs["roleName"]

    first, second = build(update), build(update)
    roles = [sorted(identity(role) for role in r.of_type(DEFINITION)) for r in (first, second)]
    assert roles[0] == roles[1]
    assert len({name for _, name in roles[0]}) == 4


def test_the_workflow_gets_the_variables_that_it_reads(update: Update) -> None:
    recording = build(update)
    (outputs,) = [o for urn, o in recording.outputs.items() if urn.endswith("::ci")]
    assert {*outputs["variables"], "BACKEND_URL"} == set(VARIABLES["azure"])
    assert outputs["variables"]["DEPLOY_CLIENT_ID"] == outputs["deploy"] == "vision-prod-ci-deploy-client"
    assert outputs["deploy_principal"] == "vision-prod-ci-deploy-principal"
    assert outputs["preview_principal"] == "vision-prod-ci-preview-principal"


def test_it_takes_the_state_of_its_environment_and_no_other_arguments() -> None:
    def program() -> None:
        arguments = AzureCiIdentityArgs(
            subscription=SUBSCRIPTION,
            actions={"preview": AzureActions(actions=()), "deploy": AzureActions(actions=())},
            state=make_state(),
            trust=github(),
            **COMMON,
        )
        AzureCiIdentity("ci", arguments)

    assert "condition" not in record(program).named("ci-deploy-builds").inputs
