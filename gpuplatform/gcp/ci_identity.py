"""Who a repository's workflows are towards Google Cloud: two service accounts, impersonated by their jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pulumi
from pulumi_gcp import projects, serviceaccount

from gpuplatform.contracts import CiIdentityArgs, CiIdentityComponent
from gpuplatform.errors import Refusal
from gpuplatform.gcp.resource import GcpResource, IdentityPool
from gpuplatform.gcp.state_store import GcpStateStore
from gpuplatform.naming import fit
from gpuplatform.permissions import ROLES, Role
from gpuplatform.trust import ISSUER, ROLE_ATTRIBUTE, attribute_condition, attribute_mapping

__all__ = ["GcpCiIdentity", "GcpCiIdentityArgs"]

_PERMISSIONS_LIMIT: Final = 3000
"""Of one custom role (https://cloud.google.com/iam/docs/creating-custom-roles)."""

CONDITION: Final = "The roles that this environment's resources grant, and its own buckets"

_STATE_ROLE: Final[dict[Role, str]] = {
    "preview": "roles/storage.objectViewer",
    "deploy": "roles/storage.objectUser",
}
_KEY_ROLE: Final[dict[Role, str]] = {
    "preview": "roles/cloudkms.cryptoKeyDecrypter",
    "deploy": "roles/cloudkms.cryptoKeyEncrypterDecrypter",
}


@dataclass(frozen=True, kw_only=True)
class GcpCiIdentityArgs(CiIdentityArgs):
    """What a `GcpCiIdentity` is made of: the arguments of every one, and those of Google Cloud.

    Attributes:
        project: The project's ID.
        permissions: What each role may do in the project, as IAM spells it.
        conditions: On what condition: `gpuplatform.permissions.gcp.condition`; a role without one is bound
            as it is.
        state: Where Pulumi keeps the state: what previews read and deployments write.

    Raises:
        Refusal: A role may do nothing, or more than one custom role can hold.
    """

    project: str
    permissions: Mapping[Role, tuple[str, ...]]
    conditions: Mapping[Role, str | None] = field(default_factory=dict)
    state: GcpStateStore

    def __post_init__(self) -> None:
        for role in ROLES:
            count = len(self.permissions.get(role, ()))
            if not 1 <= count <= _PERMISSIONS_LIMIT:
                raise Refusal(
                    f"the role {role} has {count} permissions",
                    where=f"permissions.{role}",
                    rule=f"a custom role of Google Cloud holds 1 to {_PERMISSIONS_LIMIT}",
                    way_out="take them from gpuplatform.permissions, for what the stack builds",
                )


class GcpCiIdentity(CiIdentityComponent):
    """A workload identity pool that trusts GitHub's issuer, and a service account each to look and to deploy.

    The pool takes the repository's exact subjects only, in its provider's condition, and maps each to a role;
    the accounts may be impersonated by that role's holders. The provider's own resource name is the audience
    that it demands, since none other is listed
    (https://cloud.google.com/iam/docs/workload-identity-federation-with-deployment-pipelines).

    Jobs act as a service account, not as the federated identity itself: that one's token ends with GitHub's
    after five minutes. The account's token lasts an hour, which is the most without an exception in the
    organisation's policy (https://cloud.google.com/iam/docs/create-short-lived-credentials-direct), and
    Google's clients fetch another one when it ends, so an update may take as long as the job.

    The account and the custom role of a name come back after a deletion, the pool and its provider do not:
    Google Cloud keeps their IDs taken for 30 days (hashicorp/terraform-provider-google#14191), so these two
    are protected. One that is gone all the same: `gcloud iam workload-identity-pools undelete`.

    Outputs, beside those of every identity of workflows:
        provider: The provider's resource name: what a workflow names.
    """

    TOKEN = "gpuplatform:index:GcpCiIdentity"  # noqa: S105 - a type token, no secret

    provider: pulumi.Output[str]

    def __init__(
        self, name: str, args: GcpCiIdentityArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        # Both may refuse: before the first resource.
        condition, mapping = attribute_condition(args.trust), attribute_mapping(args.trust)
        super().__init__(name, opts)
        self._name = name
        self._args = args
        pool = IdentityPool(
            f"{name}-pool",
            {
                "project": args.project,
                # The prefix, so that no platform's name makes it begin with `gcp-`, which is Google's.
                "workloadIdentityPoolId": fit("GCP workload identity pool", "github", args.name),
                "description": f"Workflows of {args.trust.repository}"[:256],
            },
            self.child(protect=True),
        )
        provider = GcpResource(
            "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
            f"{name}-provider",
            {
                "project": args.project,
                "workloadIdentityPoolId": pool.pool_id,
                "workloadIdentityPoolProviderId": "github",
                "oidc": {"issuerUri": ISSUER},
                "attributeMapping": mapping,
                "attributeCondition": condition,
                "name": None,
            },
            self.child(protect=True),
        )
        accounts = {role: self._account(role, pool) for role in ROLES}
        self.provider = provider.name
        self.finish_ci(
            preview=accounts["preview"],
            deploy=accounts["deploy"],
            variables=pulumi.Output.all(
                IDENTITY_PROVIDER=provider.name,
                PREVIEW_SERVICE_ACCOUNT=accounts["preview"],
                DEPLOY_SERVICE_ACCOUNT=accounts["deploy"],
            ).apply(dict),
            provider=provider.name,
        )

    def _account(self, role: Role, pool: GcpResource) -> pulumi.Output[str]:
        """The role's service account with all that it may do; its address."""
        args, name = self._args, self._name
        account = serviceaccount.Account(
            f"{name}-{role}",
            account_id=fit("GCP service account", args.name, role),
            display_name=f"{role} of {args.name} by GitHub Actions",
            project=args.project,
            opts=self.child(),
        )
        serviceaccount.IAMMember(
            f"{name}-{role}-trust",
            service_account_id=account.name,
            role="roles/iam.workloadIdentityUser",
            # The pool's name has the project's number in it: a member with the ID is one that nobody is.
            member=pulumi.Output.concat(
                "principalSet://iam.googleapis.com/", pool.name, f"/{ROLE_ATTRIBUTE}/{role}"
            ),
            opts=self.child(),
        )
        custom = projects.IAMCustomRole(
            f"{name}-{role}-role",
            role_id=fit("GCP custom role", args.name, role),
            title=f"{args.name} {role}",
            description="What this environment's resources need, and nothing else",
            permissions=list(args.permissions[role]),
            project=args.project,
            opts=self.child(),
        )
        condition = args.conditions.get(role)
        projects.IAMMember(
            f"{name}-{role}-project",
            project=args.project,
            role=custom.name,
            member=account.member,
            condition=projects.IAMMemberConditionArgs(
                title="stack", description=CONDITION, expression=condition
            )
            if condition
            else None,
            opts=self.child(),
        )
        self._state(role, account)
        email: pulumi.Output[str] = account.email
        return email

    def _state(self, role: Role, account: serviceaccount.Account) -> None:
        """The state's bucket and key: to look, or to change."""
        GcpResource(
            "gcp:storage/bucketIAMMember:BucketIAMMember",
            f"{self._name}-{role}-state",
            {"bucket": self._args.state.bucket_name, "role": _STATE_ROLE[role], "member": account.member},
            self.child(),
        )
        GcpResource(
            "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
            f"{self._name}-{role}-state-key",
            {"cryptoKeyId": self._args.state.key_id, "role": _KEY_ROLE[role], "member": account.member},
            self.child(),
        )
