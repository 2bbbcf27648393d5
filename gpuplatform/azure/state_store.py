"""Where Pulumi keeps its state on Azure: a container, and a key for Pulumi's secrets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_azure_native import authorization, resources

from gpuplatform.azure.account import (
    REDUNDANCY,
    account_name,
    account_props,
    own_group,
    own_key,
    vault_host,
    vault_key,
)
from gpuplatform.azure.identity import grant
from gpuplatform.azure.resource import AzureResource
from gpuplatform.azure.workload_identity import BLOB_DATA_CONTRIBUTOR
from gpuplatform.contracts import StateStoreArgs, StateStoreComponent

__all__ = ["AzureStateStore", "AzureStateStoreArgs"]

CONTAINER: Final = "state"
VERSIONS_DAYS: Final = 365
"""For how long an earlier state can be had back: what Azure allows, and some megabytes cost cents."""

# Source of the ID: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
CRYPTO_USER: Final = "12338af0-0e69-4776-bea7-57ae8d297424"


@dataclass(frozen=True, kw_only=True)
class AzureStateStoreArgs(StateStoreArgs):
    """What an `AzureStateStore` is made of: the arguments of every state store, and those of Azure.

    Attributes:
        subscription: The subscription's ID: names of storage accounts are unique in the world.
        admins: Object IDs of Entra groups whose members run Pulumi themselves. Not even the subscription's
            owner reads a blob or uses a key without a role for it.
    """

    subscription: str
    admins: tuple[str, ...] = ()


class AzureStateStore(StateStoreComponent):
    """A versioned container for Pulumi's state and a key for its secrets, in a group of their own.

    `AzureCiIdentity` makes the group read-only for the pipeline whose state it is.
    Its account has no hierarchical namespace, so it keeps versions: of everything that is overwritten too.

    Outputs, beside those of every state store:
        container_id: The container's resource ID.
        key_id: The resource ID of the key of Pulumi's secrets.

    Attributes:
        group: The group.
        ready: What must exist before the state can be read and written by `admins`.
    """

    TOKEN = "gpuplatform:index:AzureStateStore"  # noqa: S105 - a type token, no secret

    container_id: pulumi.Output[str]
    key_id: pulumi.Output[str]
    group: resources.ResourceGroup
    ready: tuple[pulumi.Resource, ...]

    def __init__(
        self, name: str, args: AzureStateStoreArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        names = (args.name, "state")
        group = own_group(self, name, *names, region=args.region, tags=args.tags, protect=True)
        key = own_key(self, name, *names, group=group, tags=args.tags, protect=True)
        secrets = vault_key(
            self, f"{name}-secrets-key", "secrets", vault=key.vault, group=group, tags=args.tags, protect=True
        )
        account = AzureResource(
            "azure-native:storage:StorageAccount",
            f"{name}-account",
            {
                **account_props(
                    args.tags,
                    group=group,
                    name=account_name(*names, subscription=args.subscription, region=args.region),
                    region=args.region,
                ),
                **key.account,
                "kind": "StorageV2",
                "sku": {"name": REDUNDANCY},
                "accessTier": "Hot",
            },
            self.child(protect=True, depends_on=key.ready),
        )
        inside = {"accountName": account.name, "resourceGroupName": group.name}
        retention = {"enabled": True, "days": VERSIONS_DAYS}
        versions = AzureResource(
            "azure-native:storage:BlobServiceProperties",
            f"{name}-versions",
            {
                **inside,
                "blobServicesName": "default",
                "isVersioningEnabled": True,
                "deleteRetentionPolicy": retention,
                "containerDeleteRetentionPolicy": retention,
            },
            self.child(protect=True),
        )
        container = AzureResource(
            "azure-native:storage:BlobContainer",
            f"{name}-container",
            {**inside, "containerName": CONTAINER, "publicAccess": "None"},
            self.child(protect=True, depends_on=[versions]),
        )
        self.group = group
        self.container_id = container.id
        self.key_id = secrets.id
        self.ready = (container, secrets, *self._admins(name, args))
        # https://www.pulumi.com/docs/iac/concepts/state-and-backends/, .../iac/concepts/secrets/
        self.finish_state(
            backend_url=pulumi.Output.concat("azblob://", container.name, "?storage_account=", account.name),
            secrets_provider=pulumi.Output.concat(
                "azurekeyvault://", vault_host(key.vault), "/keys/", secrets.name
            ),
            container_id=self.container_id,
            key_id=self.key_id,
        )

    def _admins(self, name: str, args: AzureStateStoreArgs) -> list[pulumi.Resource]:
        group = authorization.PrincipalType.GROUP
        roles = (("writes", BLOB_DATA_CONTRIBUTOR, self.container_id), ("uses", CRYPTO_USER, self.key_id))
        return [
            grant(self, f"{name}-{admin}-{verb}", admin, role, scope, to=group)
            for admin in args.admins
            for verb, role, scope in roles
        ]
