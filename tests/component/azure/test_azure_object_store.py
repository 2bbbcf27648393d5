"""A bucket on Azure: who gets in, what encrypts it, what is kept, how pods mount it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from azure_durable_samples import COMMON, make_store, object_plan

from gpuplatform.azure import AzureObjectStore, AzureObjectStoreArgs
from gpuplatform.azure.object_store import mount_options
from gpuplatform.errors import Refusal
from gpuplatform.plan.recorder import Recording, record
from gpuplatform.storage import CachePlan

Update = Callable[[Callable[[], Any]], Recording]
ACCOUNT = "azure-native:storage:StorageAccount"


def build(update: Update, **changes: Any) -> Recording:
    return update(lambda: make_store(**changes))


def test_nobody_gets_in_by_a_key_or_without_a_name(update: Update) -> None:
    recording = build(update)
    account = recording.named("storage-data-account").inputs
    assert account["allowSharedKeyAccess"] is False
    assert account["allowBlobPublicAccess"] is False
    assert account["allowCrossTenantReplication"] is False
    assert recording.named("storage-data-container").inputs["publicAccess"] == "None"


def test_only_tls_1_2_and_later_is_spoken(update: Update) -> None:
    account = build(update).named("storage-data-account").inputs
    assert (account["enableHttpsTrafficOnly"], account["minimumTlsVersion"]) == (True, "TLS1_2")


def test_the_key_is_its_own_in_a_vault_that_nobody_purges(update: Update) -> None:
    recording = build(update)
    vault = recording.named("data-kv").inputs["properties"]
    assert vault["enablePurgeProtection"] is True
    assert vault["enableRbacAuthorization"] is True
    encryption = recording.named("storage-data-account").inputs["encryption"]
    assert encryption["keySource"] == "Microsoft.Keyvault"
    assert encryption["keyVaultProperties"] == {
        "keyName": "storage",
        "keyVaultUri": "https://data-kv1a2b3c4d.vault.azure.net/",
    }
    # No version: the account follows the key's rotation.
    assert recording.named("storage-data-storage-key").inputs["properties"]["rotationPolicy"]


def test_the_account_comes_after_its_identity_s_role_on_the_key_and_the_role_is_on_the_key_alone(
    update: Update,
) -> None:
    recording = build(update)
    role = recording.named("storage-data-uses-key")
    assert role.urn in recording.named("storage-data-account").dependencies
    assert role.inputs["scope"].endswith("/Key/storage")
    assert role.inputs["roleDefinitionId"].endswith("/e147488a-f6f5-4113-8e2d-b22465e65bf6")


def test_a_vault_s_name_is_made_up_and_fits_with_pulumi_s_digits(update: Update) -> None:
    # A deleted vault keeps its name for 90 days: with a fixed one the next `up` would fail.
    recording = build(update, tier="datasets1234")
    (vault,) = recording.of_type("azure-native:keyvault:Vault")
    assert "vaultName" not in vault.inputs
    assert len(vault.name) + 8 <= 24


def test_what_is_deleted_can_be_had_back_for_as_long_as_asked(update: Update) -> None:
    kept = build(update, keep_versions_days=90).named("storage-data-soft-delete").inputs
    assert kept["deleteRetentionPolicy"] == {"enabled": True, "days": 90}
    assert kept["containerDeleteRetentionPolicy"] == {"enabled": True, "days": 90}
    assert "isVersioningEnabled" not in kept  # Azure refuses it with a hierarchical namespace


def test_objects_get_colder_but_never_offline(update: Update) -> None:
    recording = build(update, cold_after_days=30, archive_after_days=180)
    (rule,) = recording.named("storage-data-lifecycle").inputs["policy"]["rules"]
    assert rule["definition"]["actions"]["baseBlob"] == {
        "tierToCool": {"daysAfterModificationGreaterThan": 30},
        "tierToCold": {"daysAfterModificationGreaterThan": 180},
    }
    assert rule["definition"]["filters"]["prefixMatch"] == ["data/"]
    assert build(update).of_type("azure-native:storage:ManagementPolicy") == ()


def test_a_kept_bucket_is_protected_with_all_that_makes_it_readable(update: Update) -> None:
    recording = build(update)
    custom = [resource for resource in recording.resources if resource.custom]
    assert len(custom) >= 8
    assert {resource.name for resource in custom if not resource.protect} == set()


def test_one_that_goes_is_protected_nowhere_and_its_key_goes_with_the_vault(update: Update) -> None:
    recording = build(update, keep=False)
    assert [resource.name for resource in recording.resources if resource.protect] == []
    key = recording.named("storage-data-storage-key")
    # Its own deletion would ask the vault, where the deploying identity has no role.
    assert key.deleted_with == recording.named("data-kv").urn


def test_it_stands_in_a_group_of_its_own_and_on_no_network_or_cluster(update: Update) -> None:
    recording = build(update)
    group = recording.named("storage-data-group").inputs["resourceGroupName"]
    assert group == "vision-prod-storage-data"
    groups = {resource.inputs["resourceGroupName"] for resource in recording.of_type(ACCOUNT)}
    assert groups == {group}
    assert not any("network" in r.type or "containerservice" in r.type for r in recording.resources)


def test_programs_and_roles_name_the_container(update: Update) -> None:
    made: list[AzureObjectStore] = []
    recording = update(lambda: made.append(make_store()))
    (outputs,) = recording.outputs.values()
    assert outputs["uri"] == "abfss://data@visionproddata1a2b3c4d.dfs.core.windows.net"
    assert outputs["bucket_name"] == "data"
    assert outputs["bucket_id"].endswith("/BlobContainer/data")


def test_sto_7_pods_mount_it_with_their_own_token_and_never_with_a_key_or_the_nodes_identity() -> None:
    made: list[AzureObjectStore] = []
    record(lambda: made.append(make_store()))
    volume = made[0].handle.volume
    assert volume.driver == "blob.csi.azure.com"
    assert volume.attributes["mountWithWorkloadIdentityToken"] == "true"
    assert not {key for key in volume.attributes if "secret" in key.lower() or "MSI" in key}
    # Each team's mount has an identity of its own, so a handle of its own; `#` and `/` may not stand in one.
    assert volume.separator not in {"", "#", "/"}


def test_the_cache_has_the_plan_s_size_and_a_hierarchical_namespace_its_flag() -> None:
    options = mount_options(CachePlan(gib=700, pools=("train",)))
    assert "--cache-size-mb=716800" in options
    assert "--use-adls=true" in options
    assert "--cache-size-mb=1000" in mount_options(None)


def test_copies_stand_in_three_zones(update: Update) -> None:
    assert build(update).named("storage-data-account").inputs["sku"] == {"name": "Standard_ZRS"}


@pytest.mark.parametrize(
    ("changes", "where", "rule"),
    [
        ({"keep_versions_days": 366}, "storage.data.keep_versions_days", "365 days at most"),
        ({"bucket": "vision-data"}, "storage.data.bucket", ""),
        ({"bucket": "ab"}, "storage.data.bucket", ""),
        ({"bucket": "a" * 25}, "storage.data.bucket", ""),
    ],
)
def test_what_azure_does_not_take_is_refused_before_anything_exists(
    changes: dict[str, Any], where: str, rule: str
) -> None:
    with pytest.raises(Refusal) as refused:
        AzureObjectStoreArgs(plan=object_plan(**changes), **COMMON)
    assert refused.value.where == where
    assert rule in refused.value.rule
    assert refused.value.way_out
