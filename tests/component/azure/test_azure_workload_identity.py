"""Who a team's pods are on Azure: one service account, one identity, roles on its buckets alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from azure_durable_samples import ISSUER, make_identity, make_store

from gpuplatform.azure import AzureWorkloadIdentity
from gpuplatform.plan.recorder import Recording, record

Update = Callable[[Callable[[], Any]], Recording]
ROLE = "azure-native:authorization:RoleAssignment"
CREDENTIAL = "azure-native:managedidentity:FederatedIdentityCredential"


def test_only_the_team_s_own_service_account_is_trusted(update: Update) -> None:
    (credential,) = update(lambda: make_identity(make_store())).of_type(CREDENTIAL)
    assert credential.inputs["subject"] == "system:serviceaccount:vision:team"
    assert credential.inputs["issuer"] == ISSUER
    assert credential.inputs["audiences"] == ["api://AzureADTokenExchange"]


def test_sto_7_the_role_is_the_team_s_on_the_container_and_never_the_nodes(update: Update) -> None:
    recording = update(lambda: make_identity(make_store()))
    (role,) = [r for r in recording.of_type(ROLE) if "team-vision" in r.name]
    assert role.inputs["scope"].endswith("/BlobContainer/data")
    assert role.inputs["principalId"] == "vision-prod-vision-team-principal"
    assert role.inputs["roleDefinitionId"].endswith("/ba92f5b4-2d11-453d-a403-e96b0029c9fe")
    principals = {r.inputs["principalId"] for r in recording.of_type(ROLE)}
    assert not {principal for principal in principals if "kubelet" in principal}


def test_a_team_without_buckets_has_no_role(update: Update) -> None:
    assert update(make_identity).of_type(ROLE) == ()


def test_teams_share_no_identity(update: Update) -> None:
    def two() -> None:
        store = make_store()
        make_identity(store)
        make_identity(store, team="speech")

    identities = update(two).of_type("azure-native:managedidentity:UserAssignedIdentity")
    names = {identity.inputs["resourceName"] for identity in identities}
    assert {"vision-prod-vision-team", "vision-prod-speech-team"} <= names


def test_pods_wait_for_their_rights_and_carry_the_label_that_gives_them_a_token() -> None:
    made: list[AzureWorkloadIdentity] = []
    record(lambda: made.append(make_identity(make_store())))
    handle = made[0].handle
    assert {resource._name for resource in handle.ready} == {
        "team-vision-trusts-cluster",
        "team-vision-writes-data",
    }
    assert handle.pod_labels == {"azure.workload.identity/use": "true"}
    assert set(handle.annotations) == {"azure.workload.identity/client-id"}


def test_a_bucket_knows_nothing_of_who_reads_it(update: Update) -> None:
    # A teardown takes teams and clusters; what a kept bucket stood on would be kept with it.
    recording = update(lambda: make_identity(make_store()))
    teams = {r.urn for r in recording.resources if "AzureWorkloadIdentity" in r.urn}
    for resource in recording.resources:
        if "AzureObjectStore" in resource.urn:
            assert not teams & set(resource.dependencies), resource.name
