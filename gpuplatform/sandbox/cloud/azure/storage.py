"""Storage accounts, whose names are the world's, with their containers, shares and settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.azure.common import (
    ACCOUNT,
    CONTAINER,
    IDENTITY,
    IN_GROUP,
    NOT_FOUND,
    SHARE,
    VAULT,
    normal,
    parent,
    vault_name,
)
from gpuplatform.sandbox.cloud.rule import Call, CloudError, NameRule, Reference, Rule
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES"]

_DAYS_MOST = 365
_IN_ACCOUNT = Reference(
    "accountName",
    ACCOUNT,
    NOT_FOUND,
    cascades=True,
    value=parent("Microsoft.Storage/storageAccounts", "accountName"),
)


def _check_account(call: Call) -> Iterator[Problem]:
    """https://learn.microsoft.com/rest/api/storagerp/storage-accounts/create."""
    if call.get("minimumTlsVersion") == "TLS1_3":
        yield Problem("minimumTlsVersion", "TLS 1.3 is not supported as the minimum")
    encryption = call.inputs.get("encryption") or {}
    own = encryption.get("keySource") == "Microsoft.Keyvault"
    if own and not encryption.get("keyVaultProperties"):
        yield Problem("encryption.keyVaultProperties", "is required with keySource Microsoft.Keyvault")
    kind, sku = call.get("kind"), str(call.get("sku.name"))
    if kind == "FileStorage" and not sku.startswith(("Premium", "Standard")):
        yield Problem("sku.name", f"{sku} is no SKU of FileStorage")
    if kind == "StorageV2" and sku.startswith("Premium") and sku != "Premium_LRS":
        yield Problem("sku.name", f"{sku} is no SKU of StorageV2")


def _create_account(call: Call) -> None:
    """Names are one space for all subscriptions; a key must be in a vault with purge protection."""
    other = call.world.named(ACCOUNT, f"world/{call.name}")
    if other is not None and other.scope != call.account.scope:
        raise CloudError(
            f"Code=StorageAccountAlreadyTaken: The storage account named {call.name} is already taken."
        )
    if other is not None:
        raise CloudError(
            f"Code=StorageAccountAlreadyExists: The storage account named {call.name} already exists under"
            " the subscription."
        )
    uri = call.get("encryption.keyVaultProperties.keyVaultUri")
    if not isinstance(uri, str):
        return
    vault = call.world.named(VAULT, f"world/{vault_name(uri)}".lower())
    if vault is None or not wire.first(wire.plain(vault.inputs), "properties.enablePurgeProtection"):
        raise CloudError(
            "Code=KeyVaultPolicyError: Keyvault policy recoverable is not set: the key vault needs soft"
            f" delete and purge protection ({uri})."
        )


def _update_account(call: Call, old: Mapping[str, Any]) -> None:
    """Locally redundant becomes zone-redundant on request only, and back."""
    before, after = wire.first(old, "sku.name"), call.get("sku.name")
    if before != after and "ZRS" in f"{before}{after}":
        raise CloudError(
            f"Code=AccountPropertyCannotBeUpdated: SKU update from '{before}' to '{after}' is not supported."
        )


def _account_outputs(call: Call) -> dict[str, Any]:
    parts = ("blob", "dfs", "file", "queue", "table", "web")
    return {
        "primaryEndpoints": {part: f"https://{call.name}.{part}.core.windows.net/" for part in parts},
        "primaryLocation": str(call.get("location", "")),
        "statusOfPrimary": "available",
    }


def _check_service(call: Call) -> Iterator[Problem]:
    for path in ("deleteRetentionPolicy", "containerDeleteRetentionPolicy", "shareDeleteRetentionPolicy"):
        days = call.get(f"{path}.days")
        if isinstance(days, int | float) and not 1 <= days <= _DAYS_MOST:
            yield Problem(f"{path}.days", f"{days:g} is not between 1 and {_DAYS_MOST}")


def _create_service(call: Call) -> None:
    _no_versions(call, {})


def _no_versions(call: Call, _old: Mapping[str, Any]) -> None:
    """https://learn.microsoft.com/azure/storage/blobs/versioning-overview."""
    account = _account_of(call)
    if call.get("isVersioningEnabled") and account.get("isHnsEnabled"):
        raise CloudError(
            "Code=FeatureNotSupportedForAccount: Blob versioning is not yet supported for hierarchical"
            " namespace accounts."
        )


def _create_container(call: Call) -> None:
    if call.get("publicAccess", "None") != "None" and not _account_of(call).get("allowBlobPublicAccess"):
        raise CloudError(
            "Code=PublicAccessNotPermitted: Public access is not permitted on this storage account."
        )


def _account_of(call: Call) -> dict[str, Any]:
    found = call.world.named(
        ACCOUNT, normal(parent("Microsoft.Storage/storageAccounts", "accountName")(call))
    )
    plain: dict[str, Any] = wire.plain(found.inputs) if found else {}
    return plain


def _check_policy(call: Call) -> Iterator[Problem]:
    """https://learn.microsoft.com/azure/storage/blobs/lifecycle-management-policy-structure."""
    if not list(wire.at(call.inputs, "policy.rules[]")):
        yield Problem("policy.rules", "at least one rule is required in a policy")


def _create_share(call: Call) -> None:
    """https://learn.microsoft.com/azure/storage/files/files-nfs-protocol."""
    account = _account_of(call)
    if call.get("enabledProtocols") == "NFS" and account.get("kind") != "FileStorage":
        raise CloudError("Code=FeatureNotSupportedForAccount: NFS is supported on premium file shares only.")


_SERVICE = NameRule(r"default", "default")

RULES = (
    Rule(
        ACCOUNT,
        names=NameRule(r"[a-z0-9]{3,24}", "3 to 24 lower-case letters and digits"),
        references=(
            IN_GROUP,
            Reference("encryption.encryptionIdentity.encryptionUserAssignedIdentity", IDENTITY, NOT_FOUND),
        ),
        check=_check_account,
        create=_create_account,
        update=_update_account,
        outputs=_account_outputs,
        handles=lambda call, _outputs: [(ACCOUNT, f"world/{call.name}")],
    ),
    Rule(
        "azure-native:storage:BlobServiceProperties",
        names=_SERVICE,
        references=(IN_GROUP, _IN_ACCOUNT),
        check=_check_service,
        create=_create_service,
        update=_no_versions,
    ),
    Rule(
        "azure-native:storage:FileServiceProperties",
        names=_SERVICE,
        references=(IN_GROUP, _IN_ACCOUNT),
        check=_check_service,
    ),
    Rule(
        CONTAINER,
        names=NameRule(r"(?=.{3,63}$)[a-z0-9](-?[a-z0-9])*", "3 to 63 of lower-case letters, digits and -"),
        references=(IN_GROUP, _IN_ACCOUNT),
        create=_create_container,
    ),
    Rule(
        "azure-native:storage:ManagementPolicy",
        names=_SERVICE,
        references=(IN_GROUP, _IN_ACCOUNT),
        check=_check_policy,
    ),
    Rule(
        SHARE,
        names=NameRule(r"(?=.{3,63}$)[a-z0-9](-?[a-z0-9])*", "3 to 63 of lower-case letters, digits and -"),
        references=(IN_GROUP, _IN_ACCOUNT),
        create=_create_share,
    ),
)
