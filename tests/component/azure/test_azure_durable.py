"""What holds for every resource of what an environment on Azure keeps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from azure_durable_samples import build_durable
from azure_samples import TAGS

from gpuplatform.permissions.azure import actions
from gpuplatform.plan.recorder import Recording, record
from gpuplatform.sandbox import sdk_types

Update = Callable[[Callable[[], Any]], Recording]
URNS = Path(__file__).with_name("urns_durable.txt")

UNTAGGABLE = {
    "azure-native:authorization:ManagementLockAtResourceGroupLevel",
    "azure-native:authorization:RoleAssignment",
    "azure-native:authorization:RoleDefinition",
    "azure-native:consumption:Budget",
    "azure-native:managedidentity:FederatedIdentityCredential",
    "azure-native:network:PrivateDnsZoneGroup",
    "azure-native:network:Subnet",
    "azure-native:storage:BlobContainer",
    "azure-native:storage:BlobServiceProperties",
    "azure-native:storage:FileServiceProperties",
    "azure-native:storage:FileShare",
    "azure-native:storage:ManagementPolicy",
}
BOOTSTRAP = ("AzureCiIdentity", "AzureStateStore")
"""Made by whoever sets an environment up, never by its pipeline."""


@pytest.fixture
def durable(update: Update) -> Recording:
    return update(build_durable)


def test_every_property_is_one_that_the_sdk_has(durable: Recording) -> None:
    found = {r.name: sdk_types.check(r.type, r.inputs) for r in durable.resources if r.custom}
    assert len(found) >= 50
    assert {name: problems for name, problems in found.items() if problems} == {}


def test_everything_taggable_carries_every_tag(durable: Recording) -> None:
    tagged = {
        r.name: r.inputs.get("tags") for r in durable.resources if r.custom and r.type not in UNTAGGABLE
    }
    assert len(tagged) >= 25
    assert {name for name, tags in tagged.items() if tags != TAGS.azure()} == set()


def test_what_is_said_to_take_no_tags_takes_none() -> None:
    takes = {
        token
        for token in UNTAGGABLE
        if not any(problem.path == "tags" for problem in sdk_types.check(token, {"tags": {"k": "v"}}))
    }
    assert takes == set()


def test_pul_7_type_tokens_and_names_are_pinned(durable: Recording) -> None:
    # A changed line here replaces resources in existing environments: it ships with an alias.
    assert sorted(r.urn.split("::", 2)[2] for r in durable.resources) == URNS.read_text().splitlines()


def test_a_kept_resource_stands_on_nothing_that_costs_money_by_itself(durable: Recording) -> None:
    # `pulumi destroy --exclude-protected` keeps what a protected resource depends on.
    by_urn = {r.urn: r for r in durable.resources}
    kept: set[str] = set()
    waiting = [r.urn for r in durable.resources if r.protect and "AzureNetwork" not in r.urn]
    while waiting:
        urn = waiting.pop()
        if urn in kept or urn not in by_urn:
            continue
        kept.add(urn)
        waiting += [*by_urn[urn].dependencies, by_urn[urn].parent]
    types = {by_urn[urn].type for urn in kept}
    assert not {kind for kind in types if kind.endswith(("NatGateway", "PublicIPAddress", "PrivateEndpoint"))}
    assert not {kind for kind in types if kind.endswith(("ManagedCluster", "AgentPool"))}
    assert "azure-native:storagecache:AmlFilesystem" in types


def test_where_teardowns_take_all_nothing_of_the_tiers_is_protected(update: Update) -> None:
    recording = update(lambda: build_durable(keep=False))
    protected = {r.urn for r in recording.resources if r.protect}
    assert not {urn for urn in protected if "AzureObjectStore" in urn or "AzureSharedFilesystem" in urn}


def test_no_shared_key_opens_any_account(durable: Recording) -> None:
    accounts = durable.of_type("azure-native:storage:StorageAccount")
    assert len(accounts) == 3
    assert {account.inputs["allowSharedKeyAccess"] for account in accounts} == {False}
    assert not [r for r in durable.resources if "listKeys" in str(r.inputs) or "accountKey" in str(r.inputs)]


def test_a_pipeline_may_build_what_a_stack_has_and_not_what_bootstrap_has(durable: Recording) -> None:
    stack = {r.type for r in durable.resources if not any(part in r.urn for part in BOOTSTRAP)}
    granted = actions("deploy", stack).actions
    assert "Microsoft.Storage/storageAccounts/blobServices/containers/write" in granted
    assert not [action for action in granted if "*" in action or "locks" in action or "listKeys" in action]
    with pytest.raises(Exception, match=r"RoleDefinition|ManagementLock"):
        actions("deploy", {r.type for r in durable.resources})


def test_a_preview_asks_no_cloud() -> None:
    recording = record(build_durable)
    assert recording.named("storage-data-account").inputs["accountName"] == "visionproddata1a2b3c4d"
