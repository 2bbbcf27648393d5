"""What a killed engine had begun to create: its ID, where the inputs tell it, to ask the cloud for it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Left", "adopted", "id_of"]

# The IDs are those of each type's "Import" section in the Pulumi Registry
# (https://www.pulumi.com/registry/packages/aws, .../azure-native, .../gcp). Absent on purpose: what has an
# ID that only the cloud chooses, such as a KMS key. Two of those may then exist; the older is named and left.
_BUCKET: Final = "{bucket}"
_GROUP: Final = "/subscriptions/{subscription}/resourceGroups/{resourceGroupName}"
_ACCOUNT: Final = f"{_GROUP}/providers/Microsoft.Storage/storageAccounts/{{accountName}}"
_VAULT: Final = f"{_GROUP}/providers/Microsoft.KeyVault/vaults/{{vaultName}}"
_MI: Final = f"{_GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{{resourceName}}"
_POOL: Final = "projects/{project}/locations/global/workloadIdentityPools/{workloadIdentityPoolId}"
_IAM: Final = "arn:{partition}:iam::{account}"
IDS: Final[dict[str, str]] = {
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": f"{_IAM}:oidc-provider/{{host}}",
    "aws:iam/policy:Policy": f"{_IAM}:policy{{path}}{{name}}",
    "aws:iam/role:Role": "{name}",
    "aws:iam/rolePolicy:RolePolicy": "{role}:{name}",
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": "{role}/{policyArn}",
    "aws:kms/alias:Alias": "{name}",
    "aws:s3/bucket:Bucket": _BUCKET,
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": _BUCKET,
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": _BUCKET,
    "aws:s3/bucketPolicy:BucketPolicy": _BUCKET,
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": _BUCKET,
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": _BUCKET,
    "aws:s3/bucketVersioning:BucketVersioning": _BUCKET,
    "azure-native:keyvault:Key": f"{_VAULT}/keys/{{keyName}}",
    "azure-native:keyvault:Vault": _VAULT,
    "azure-native:managedidentity:FederatedIdentityCredential": (
        f"{_MI}/federatedIdentityCredentials/{{federatedIdentityCredentialResourceName}}"
    ),
    "azure-native:managedidentity:UserAssignedIdentity": _MI,
    "azure-native:resources:ResourceGroup": _GROUP,
    "azure-native:authorization:RoleAssignment": (
        "{scope}/providers/Microsoft.Authorization/roleAssignments/{roleAssignmentName}"
    ),
    "azure-native:authorization:RoleDefinition": (
        "/subscriptions/{subscription}/providers/Microsoft.Authorization/roleDefinitions/{roleDefinitionId}"
    ),
    "azure-native:authorization:ManagementLockAtResourceGroupLevel": (
        f"{_GROUP}/providers/Microsoft.Authorization/locks/{{lockName}}"
    ),
    "azure-native:storage:BlobContainer": f"{_ACCOUNT}/blobServices/default/containers/{{containerName}}",
    "azure-native:storage:BlobServiceProperties": f"{_ACCOUNT}/blobServices/{{blobServicesName}}",
    "azure-native:storage:StorageAccount": _ACCOUNT,
    "gcp:iam/workloadIdentityPool:WorkloadIdentityPool": _POOL,
    "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider": (
        f"{_POOL}/providers/{{workloadIdentityPoolProviderId}}"
    ),
    "gcp:kms/cryptoKey:CryptoKey": "{keyRing}/cryptoKeys/{name}",
    "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember": "{cryptoKeyId}/{role}/{member}",
    "gcp:kms/keyRing:KeyRing": "projects/{project}/locations/{location}/keyRings/{name}",
    "gcp:projects/iAMCustomRole:IAMCustomRole": "projects/{project}/roles/{roleId}",
    "gcp:projects/iAMMember:IAMMember": "{project}/{role}/{member}",
    "gcp:serviceaccount/account:Account": (
        "projects/{project}/serviceAccounts/{accountId}@{project}.iam.gserviceaccount.com"
    ),
    "gcp:serviceaccount/iAMMember:IAMMember": "{serviceAccountId}/{role}/{member}",
    "gcp:storage/bucket:Bucket": "{name}",
    "gcp:storage/bucketIAMMember:BucketIAMMember": "{bucket}/{role}/{member}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What a killed engine left.

    Attributes:
        checkpoint: With everything that can be asked for in it, as if it had been created: a refresh then
            takes out what does not exist, and brings the outputs of what does.
        pending: How many notes of begun work were settled.
        unknown: A sentence on each thing that may exist and cannot be asked for.
    """

    checkpoint: dict[str, Any]
    pending: int
    unknown: tuple[str, ...] = ()


def adopted(checkpoint: Mapping[str, Any]) -> Left:
    """Settles the notes of begun work in a checkpoint (`pending_operations`)."""
    deployment = dict(checkpoint["deployment"])
    notes = deployment.pop("pending_operations", None) or []
    resources = list(deployment.get("resources") or [])
    known = {resource["urn"] for resource in resources}
    settings = {resource["urn"]: resource.get("inputs") or {} for resource in resources}
    unknown: list[str] = []
    for note in notes:
        resource = note["resource"]
        if note["type"] != "creating" or resource["urn"] in known or not resource.get("custom"):
            continue  # of what is in the checkpoint already, a refresh brings the truth
        provider = settings.get(resource.get("provider", "").rpartition("::")[0], {})
        found = id_of(resource, provider)
        if found is None:
            name = resource["urn"].rpartition("::")[2]
            unknown.append(
                f"{resource['type']} {name!r} may have been made by the killed run, and is made again: "
                "look for a second one"
            )
            continue
        resources.append({**resource, "id": found, "outputs": resource.get("inputs") or {}})
        known.add(resource["urn"])
    deployment["resources"] = resources
    return Left(
        checkpoint={**checkpoint, "deployment": deployment}, pending=len(notes), unknown=tuple(unknown)
    )


def id_of(resource: Mapping[str, Any], provider: Mapping[str, Any]) -> str | None:
    """The ID of a resource if it exists, by its inputs and its provider's; None where nobody can tell."""
    inputs = resource.get("inputs") or {}
    values = {**_around(provider), **{key: value for key, value in inputs.items() if isinstance(value, str)}}
    values.setdefault("path", "/")
    values["host"] = str(inputs.get("url", "")).removeprefix("https://")
    template = IDS.get(resource["type"])
    if template is None or any(not values.get(name) for name in re.findall(r"{(\w+)}", template)):
        return None
    return template.format_map(values)


def _around(provider: Mapping[str, Any]) -> dict[str, str]:
    """What the provider's own settings add: the account, the subscription, the project."""
    accounts = provider.get("allowedAccountIds") or "[]"
    listed = json.loads(accounts) if isinstance(accounts, str) else accounts
    region = str(provider.get("region", ""))
    return {
        "account": listed[0] if listed else "",
        "partition": "aws-us-gov"
        if region.startswith("us-gov-")
        else f"aws{'-cn' * region.startswith('cn-')}",
        "subscription": str(provider.get("subscriptionId", "")),
        "project": str(provider.get("project", "")),
    }
