"""Key vaults, whose names stay taken after their deletion, and their keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpuplatform.sandbox.cloud.azure.common import IN_GROUP, KEY, NOT_FOUND, VAULT, parent
from gpuplatform.sandbox.cloud.rule import Call, CloudError, NameRule, Reference, Rule
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES"]

_KEPT = "azure/deleted"
"""The scope of what is deleted and keeps its name."""

_LEAST, _MOST = 7, 90


def _check_vault(call: Call) -> Iterator[Problem]:
    """https://learn.microsoft.com/rest/api/keyvault/keyvault/vaults/create-or-update."""
    if call.get("properties.enablePurgeProtection") is False:
        yield Problem("properties.enablePurgeProtection", "cannot be set to false; leave it out")
    days = call.get("properties.softDeleteRetentionInDays")
    if isinstance(days, int | float) and not _LEAST <= days <= _MOST:
        yield Problem("properties.softDeleteRetentionInDays", f"{days:g} is not between {_LEAST} and {_MOST}")
    policies = call.get("properties.accessPolicies", None)
    if not call.get("properties.enableRbacAuthorization") and policies is None:
        yield Problem("properties.accessPolicies", "is required without enableRbacAuthorization")


def _create_vault(call: Call) -> None:
    """Names are one space for the whole world, deleted vaults included until they are purged."""
    if call.world.named(VAULT, f"world/{call.name}".lower()):
        raise CloudError(
            f"Code=VaultAlreadyExists: The vault name '{call.name}' is already in use. Vault names are"
            " globally unique."
        )
    if call.world.get("azure-native", _KEPT, VAULT, call.name.lower()):
        raise CloudError(
            "Code=ConflictError: A vault with the same name already exists in deleted state. You need to"
            " either recover or purge existing key vault."
        )


def _delete_vault(call: Call) -> None:
    """Soft-deleted: its name is free again only when it is purged, which purge protection forbids."""
    call.world.add(
        cloud="azure-native",
        scope=_KEPT,
        token=call.token,
        id=call.name.lower(),
        name=call.name,
        urn="",
        inputs={},
        outputs={},
    )


def _vault_outputs(call: Call) -> dict[str, Any]:
    return {
        "properties": {
            "vaultUri": f"https://{call.name}.vault.azure.net/",
            "provisioningState": "Succeeded",
            "hsmPoolResourceId": "",
        }
    }


def _key_outputs(call: Call) -> dict[str, Any]:
    uri = f"https://{call.get('vaultName')}.vault.azure.net/keys/{call.name}"
    return {"keyUri": uri, "keyUriWithVersion": f"{uri}/0"}


RULES = (
    Rule(
        VAULT,
        names=NameRule(
            r"(?=.{3,24}$)[a-zA-Z](-?[a-zA-Z0-9])*", "3 to 24 of letters, digits and -, first a letter"
        ),
        references=(IN_GROUP,),
        check=_check_vault,
        create=_create_vault,
        delete=_delete_vault,
        outputs=_vault_outputs,
        handles=lambda call, _outputs: [(VAULT, f"world/{call.name}")],
    ),
    Rule(
        KEY,
        names=NameRule(r"[a-zA-Z0-9-]{1,127}", "1 to 127 of letters, digits and -"),
        references=(
            IN_GROUP,
            Reference(
                "vaultName",
                VAULT,
                NOT_FOUND,
                cascades=True,
                value=parent("Microsoft.KeyVault/vaults", "vaultName"),
            ),
        ),
        outputs=_key_outputs,
    ),
)
