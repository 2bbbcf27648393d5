"""Who a repository's workflows are on Azure: two identities that trust exact subjects of GitHub's tokens."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pulumi
from pulumi_azure_native import authorization, managedidentity, resources

from gpuplatform.azure.account import locked, own_group
from gpuplatform.azure.state_store import AzureStateStore
from gpuplatform.azure.workload_identity import AUDIENCE
from gpuplatform.contracts import CiIdentityArgs, CiIdentityComponent
from gpuplatform.errors import Refusal
from gpuplatform.naming import fit
from gpuplatform.permissions import Role
from gpuplatform.permissions.azure import AzureActions
from gpuplatform.trust import ISSUER

__all__ = ["SUBJECTS_MAX", "AzureCiIdentity", "AzureCiIdentityArgs", "state_actions"]

SUBJECTS_MAX: Final = 20
"""Credentials of one identity (https://learn.microsoft.com/entra/workload-id/
workload-identity-federation-considerations, "General federated identity credential considerations")."""

_BLOBS: Final = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs"
_KEYS: Final = "Microsoft.KeyVault/vaults/keys"


@dataclass(frozen=True, kw_only=True)
class AzureCiIdentityArgs(CiIdentityArgs):
    """What an `AzureCiIdentity` is made of: the arguments of every one, and those of Azure.

    A session's length is nothing that Azure is told: its tokens last for about an hour, and the provider gets
    new ones from GitHub for as long as the job runs (`ARM_USE_OIDC`).

    Attributes:
        subscription: The subscription's ID.
        actions: What each identity may do: `gpuplatform.permissions.azure.actions`.
        conditions: On what condition: `gpuplatform.permissions.azure.condition`; a role without one is
            assigned as it is.
        state: The environment's state.

    Raises:
        Refusal: Azure cannot build it.
    """

    subscription: str
    actions: Mapping[Role, AzureActions]
    conditions: Mapping[Role, str | None] = field(default_factory=dict)
    state: AzureStateStore

    def __post_init__(self) -> None:
        for role, subjects in (
            ("preview", self.trust.preview_subjects),
            ("deploy", self.trust.deploy_subjects),
        ):
            if len(subjects) > SUBJECTS_MAX:
                raise Refusal(
                    f"the {role} identity would trust {len(subjects)} subjects",
                    where="identity.github.environments",
                    rule=f"an identity has at most {SUBJECTS_MAX} federated credentials, each of one subject",
                    way_out="name fewer environments, or one form of subjects (`subjects: immutable`)",
                )


class AzureCiIdentity(CiIdentityComponent):
    """Two identities: pull requests look with one, jobs of named environments deploy with the other.

    Each subject is a credential of its own, compared as it is, character by character; Entra knows wildcards
    in credentials of applications only, and none is used here. Both identities stand in a group of their own
    that is read-only, and so is the state's: a deploying identity that could write there would trust whom it
    likes. An owner who changes either deletes its lock first, and the next run makes it again; what the roles
    may do changes without that, since they are the subscription's.

    Neither may do anything in the cluster by itself: who may are members of Entra groups. `deploy_principal`
    is whom to add to one of its administrators, `preview_principal` to one of those who look at it.

    Outputs, beside those of every one:
        preview_principal: The looking identity's object ID.
        deploy_principal: The deploying identity's object ID.
    """

    TOKEN = "gpuplatform:index:AzureCiIdentity"  # noqa: S105 - a type token, no secret

    preview_principal: pulumi.Output[str]
    deploy_principal: pulumi.Output[str]

    def __init__(
        self, name: str, args: AzureCiIdentityArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        self._name, self._args = name, args
        self._made: list[pulumi.Resource] = []
        self._granted: list[pulumi.Resource] = []
        group = own_group(self, name, args.name, "ci", region=args.region, tags=args.tags, protect=False)
        preview = self._identity("preview", args.trust.preview_subjects, group)
        deploy = self._identity("deploy", args.trust.deploy_subjects, group)
        locked(self, name, f"Identities of {args.trust.repository}", group=group, after=self._made)
        # A locked group takes no role assignments either, so the state's is locked after them.
        locked(
            self,
            f"{name}-state",
            f"State of {args.name}",
            group=args.state.group,
            after=[*args.state.ready, *self._granted],
        )
        self.preview_principal = preview.principal_id
        self.deploy_principal = deploy.principal_id
        self.finish_ci(
            preview=preview.client_id,
            deploy=deploy.client_id,
            variables=pulumi.Output.all(
                PREVIEW_CLIENT_ID=preview.client_id,
                DEPLOY_CLIENT_ID=deploy.client_id,
                TENANT_ID=deploy.tenant_id,
            ),
            preview_principal=self.preview_principal,
            deploy_principal=self.deploy_principal,
        )

    def _identity(
        self, role: Role, subjects: tuple[str, ...], group: resources.ResourceGroup
    ) -> managedidentity.UserAssignedIdentity:
        args, prefix = self._args, f"{self._name}-{role}"
        identity = managedidentity.UserAssignedIdentity(
            f"{prefix}-identity",
            resource_name_=fit("managed identity", args.name, "ci", role),
            resource_group_name=group.name,
            location=args.region,
            tags=args.tags.azure(),
            opts=self.child(),
        )
        # One after the other: Azure refuses credentials of one identity that are written at the same time
        # (ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity).
        credentials: list[pulumi.Resource] = []
        for subject in subjects:
            known = uuid.uuid5(uuid.NAMESPACE_URL, f"{ISSUER}#{subject}").hex[:12]
            credentials.append(
                managedidentity.FederatedIdentityCredential(
                    f"{prefix}-trusts-{known}",
                    federated_identity_credential_resource_name=f"github-{known}",
                    resource_name_=identity.name,
                    resource_group_name=group.name,
                    issuer=ISSUER,
                    subject=subject,
                    audiences=[AUDIENCE],
                    opts=self.child(depends_on=credentials[-1:]),
                )
            )
        subscription = f"/subscriptions/{args.subscription}"
        builds = self._role(role, "builds", args.actions[role])
        condition = args.conditions.get(role)
        self._assign(f"{prefix}-builds", identity, role=builds, scope=subscription, condition=condition)
        keeps = self._role(role, "state", state_actions(role))
        for part, scope in (("state", args.state.container_id), ("secrets", args.state.key_id)):
            self._granted.append(self._assign(f"{prefix}-{part}", identity, role=keeps, scope=scope))
        self._made += [identity, *credentials]
        return identity

    def _role(self, role: Role, part: str, may: AzureActions) -> authorization.RoleDefinition:
        """A role of one's own; its ID is made from its name, so that a second run finds it again."""
        args = self._args
        subscription = f"/subscriptions/{args.subscription}"
        # Unique in the tenant, with all its subscriptions.
        title = fit("Azure role", "gpuplatform", args.name, role, part, args.subscription[:8])
        return authorization.RoleDefinition(
            f"{self._name}-{role}-{part}-role",
            role_definition_id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{subscription}#{title}")),
            role_name=title,
            role_type="CustomRole",
            description=f"What the {role} jobs of {args.trust.repository} may do for {args.name}",
            scope=subscription,
            assignable_scopes=[subscription],
            permissions=[
                authorization.PermissionArgs(
                    actions=list(may.actions),
                    data_actions=list(may.data_actions),
                    not_actions=[],
                    not_data_actions=[],
                )
            ],
            opts=self.child(),
        )

    def _assign(
        self,
        name: str,
        identity: managedidentity.UserAssignedIdentity,
        *,
        role: authorization.RoleDefinition,
        scope: pulumi.Input[str],
        condition: str | None = None,
    ) -> authorization.RoleAssignment:
        return authorization.RoleAssignment(
            name,
            principal_id=identity.principal_id,
            principal_type=authorization.PrincipalType.SERVICE_PRINCIPAL,
            role_definition_id=role.id,
            scope=scope,
            condition=condition,
            condition_version="2.0" if condition else None,
            opts=self.child(),
        )


def state_actions(role: Role) -> AzureActions:
    """What a role does with Pulumi's state: a preview reads it and decrypts, and locks nothing.

    Source: pulumi/pulumi, pkg/backend/diy/backend.go: only updates take the lock.
    """
    read = (f"{_BLOBS}/read", f"{_KEYS}/read", f"{_KEYS}/decrypt/action")
    if role == "preview":
        return AzureActions(actions=(), data_actions=read)
    write = (f"{_BLOBS}/write", f"{_BLOBS}/add/action", f"{_BLOBS}/delete", f"{_KEYS}/encrypt/action")
    return AzureActions(actions=(), data_actions=(*read, *write))
