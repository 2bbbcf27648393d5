"""What every storage account has in common: no shared key, nothing anonymous, a group of its own, its key.

A group of its own, since the network's group goes with the environment: deleting a resource group deletes
everything in it, and what stands in the network's group would keep that from ever being deleted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_azure_native import authorization, managedidentity, resources

from gpuplatform.azure.identity import grant
from gpuplatform.azure.resource import AzureResource
from gpuplatform.component import Component
from gpuplatform.naming import RULES, fit
from gpuplatform.tags import Tags

__all__ = [
    "REDUNDANCY",
    "OwnKey",
    "account_name",
    "account_props",
    "locked",
    "own_group",
    "own_key",
    "vault_host",
    "vault_key",
]

# Source of the ID: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
CRYPTO_SERVICE_USER: Final = "e147488a-f6f5-4113-8e2d-b22465e65bf6"

REDUNDANCY: Final = "Standard_ZRS"
"""Copies in three zones: an environment is in a region that has some, since its network names them."""

LOCK: Final = "read-only"

_DIGITS: Final = 8

DAYS_DELETED: Final = 90
"""For how long a deleted vault can be had back, days: what Azure allows at most. It never changes after."""


def own_group(
    owner: Component, prefix: str, *names: str, region: str, tags: Tags, protect: bool
) -> resources.ResourceGroup:
    """The resource group of one tier."""
    return resources.ResourceGroup(
        f"{prefix}-group",
        resource_group_name=fit("resource group", *names),
        location=region,
        tags=tags.azure(),
        opts=owner.child(protect=protect),
    )


def account_name(*names: str, subscription: str, region: str) -> str:
    """A storage account's name, unique in the world by a hash of all that it stands for."""
    whole = "/".join((subscription, region, *names))
    joined = "".join(re.sub(r"[^a-z0-9]", "", name.lower()) for name in names)
    digest = hashlib.sha256(whole.encode()).hexdigest()[:_DIGITS]
    return f"{joined[: RULES['storage account'].limit - _DIGITS]}{digest}"


def locked(
    owner: Component,
    prefix: str,
    notes: str,
    *,
    group: resources.ResourceGroup,
    after: Sequence[pulumi.Resource],
) -> authorization.ManagementLockAtResourceGroupLevel:
    """Makes a group read-only for whoever cannot delete locks: for all but owners.

    A pipeline's role holds for the whole subscription, so it would else reach its own identities and its own
    state. Only Azure's own API is locked; blobs and keys are read and written as before
    (https://learn.microsoft.com/azure/azure-resource-manager/management/lock-resources). To change what is
    behind it, an owner deletes the lock first (`az lock delete`); the next run makes it again.
    """
    return authorization.ManagementLockAtResourceGroupLevel(
        f"{prefix}-lock",
        lock_name=LOCK,
        resource_group_name=group.name,
        level=authorization.LockLevel.READ_ONLY,
        notes=notes,
        opts=owner.child(depends_on=after),
    )


def account_props(tags: Tags, *, group: resources.ResourceGroup, name: str, region: str) -> dict[str, Any]:
    """What every storage account is told, as the API spells it.

    Without shared keys there are no account keys and no SAS either: whoever reads or writes has an identity
    in Entra and a role (https://learn.microsoft.com/azure/storage/common/shared-key-authorization-prevent).
    """
    return {
        "accountName": name,
        "resourceGroupName": group.name,
        "location": region,
        "allowBlobPublicAccess": False,
        "allowCrossTenantReplication": False,
        "allowSharedKeyAccess": False,
        "defaultToOAuthAuthentication": True,
        "enableHttpsTrafficOnly": True,
        "minimumTlsVersion": "TLS1_2",
        "tags": tags.azure(),
    }


@dataclass(frozen=True, kw_only=True)
class OwnKey:
    """A key of one's own, and who an account is that uses it.

    Attributes:
        vault: The vault.
        account: Properties of the account that is encrypted with it: `identity` and `encryption`.
        ready: What must exist before the account.
    """

    vault: AzureResource
    account: Mapping[str, Any]
    ready: tuple[pulumi.Resource, ...]


def own_key(
    owner: Component, prefix: str, *names: str, group: resources.ResourceGroup, tags: Tags, protect: bool
) -> OwnKey:
    """A key in a vault with purge protection, as storage accounts ask for it.

    Source: https://learn.microsoft.com/azure/storage/common/customer-managed-keys-overview. The account names
    no version, so it follows the key's yearly rotation by itself. A role assignment takes minutes to be
    known everywhere; where Azure refuses the account for want of it, the same update again goes through.
    """
    identity = managedidentity.UserAssignedIdentity(
        f"{prefix}-encrypts",
        resource_name_=fit("managed identity", *names, "encrypts"),
        resource_group_name=group.name,
        location=group.location,
        tags=tags.azure(),
        opts=owner.child(protect=protect),
    )
    vault = AzureResource(
        "azure-native:keyvault:Vault",
        # Pulumi adds 8 digits, and that is its name: a deleted vault under purge protection keeps its name
        # for days, and the next `up` could not have it.
        fit("key vault", names[-1], "kv"),
        {
            "resourceGroupName": group.name,
            "location": group.location,
            "properties": {
                "tenantId": identity.tenant_id,
                "sku": {"family": "A", "name": "standard"},
                "enableRbacAuthorization": True,
                "enableSoftDelete": True,
                "enablePurgeProtection": True,
                "softDeleteRetentionInDays": DAYS_DELETED,
            },
            "tags": tags.azure(),
        },
        owner.child(protect=protect),
    )
    key = vault_key(
        owner, f"{prefix}-storage-key", "storage", vault=vault, group=group, tags=tags, protect=protect
    )
    uses = grant(
        owner, f"{prefix}-uses-key", identity.principal_id, CRYPTO_SERVICE_USER, key.id, protect=protect
    )
    return OwnKey(
        vault=vault,
        account={
            "identity": {"type": "UserAssigned", "userAssignedIdentities": [identity.id]},
            "encryption": {
                "keySource": "Microsoft.Keyvault",
                "encryptionIdentity": {"encryptionUserAssignedIdentity": identity.id},
                "keyVaultProperties": {
                    "keyName": key.name,
                    "keyVaultUri": pulumi.Output.concat("https://", vault_host(vault), "/"),
                },
            },
        },
        ready=(uses,),
    )


def vault_host(vault: AzureResource) -> pulumi.Output[str]:
    """Where the vault is asked, in Azure's public cloud."""
    return vault.name.apply(lambda name: f"{name}.vault.azure.net")


def vault_key(
    owner: Component,
    name: str,
    key: str,
    *,
    vault: AzureResource,
    group: resources.ResourceGroup,
    tags: Tags,
    protect: bool,
) -> AzureResource:
    """An RSA key that the vault rotates every year; old versions stay, so nothing becomes unreadable."""
    rotates = {"action": {"type": "rotate"}, "trigger": {"timeAfterCreate": "P1Y"}}
    return AzureResource(
        "azure-native:keyvault:Key",
        name,
        {
            "keyName": key,
            "vaultName": vault.name,
            "resourceGroupName": group.name,
            "properties": {"kty": "RSA", "keySize": 3072, "rotationPolicy": {"lifetimeActions": [rotates]}},
            "tags": tags.azure(),
        },
        # Its own deletion would ask the vault itself, where the deploying identity has no role; with the
        # vault it goes all the same.
        owner.child(protect=protect, deleted_with=vault),
    )
