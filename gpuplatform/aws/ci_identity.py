"""Who a repository's workflows are on AWS: two IAM roles that trust exact subjects of GitHub's tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_aws import iam

from gpuplatform.aws.identity import Role as IamRole
from gpuplatform.aws.identity import RoleMaker
from gpuplatform.aws.policies import github_trust, partition
from gpuplatform.aws.state_store import AwsStateStore
from gpuplatform.contracts import CiIdentityArgs, CiIdentityComponent
from gpuplatform.errors import Refusal
from gpuplatform.naming import fit
from gpuplatform.permissions import ROLES, Role
from gpuplatform.permissions.aws import CI_PATH
from gpuplatform.permissions.aws_boundary import STATE_BUCKET_ACTIONS, STATE_KEY_ACTIONS
from gpuplatform.trust import ISSUER

__all__ = ["AwsCiIdentity", "AwsCiIdentityArgs", "ci_role_arn"]

PREVIEW_SECONDS: Final = 3600
SHORTEST_MINUTES: Final = 60
LONGEST_MINUTES: Final = 720
"""Of a role's longest session (https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateRole.html)."""

POLICIES_PER_ROLE: Final = 10
"""AWS' default quota (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html)."""


def ci_role_arn(account: str, region: str, name: str, role: Role) -> str:
    """ARN of a role before it exists: whoever deploys must stand in `cluster.admins`.

    Args:
        account: The account's number.
        region: The environment's region.
        name: Prefix of the environment's physical names, such as `vision-prod`.
        role: Which of the two.
    """
    physical = fit("IAM role", name, region, _part(role))
    return f"arn:{partition(region)}:iam::{account}:role{CI_PATH}{physical}"


def _part(role: Role) -> str:
    return f"ci-{role}"


@dataclass(frozen=True, kw_only=True)
class AwsCiIdentityArgs(CiIdentityArgs):
    """What an `AwsCiIdentity` is made of: the arguments of every one, and those of AWS.

    Attributes:
        account: The account's number.
        policies: What each role may do: `gpuplatform.permissions.aws.policies`.
        state: The environment's state.

    Raises:
        Refusal: AWS cannot build it.
    """

    account: str
    policies: Mapping[Role, Sequence[Mapping[str, Any]]]
    state: AwsStateStore

    def __post_init__(self) -> None:
        if not SHORTEST_MINUTES <= self.trust.session_minutes <= LONGEST_MINUTES:
            raise Refusal(
                f"a session of {self.trust.session_minutes} minutes",
                where="identity.github.session_minutes",
                rule=f"a role's longest session is {SHORTEST_MINUTES} to {LONGEST_MINUTES} minutes",
                way_out=f"choose at most {LONGEST_MINUTES}; what is left of a longer update runs in the next",
            )
        for role in ROLES:
            count = len(self.policies.get(role, ()))
            if not 1 <= count <= POLICIES_PER_ROLE:
                raise Refusal(
                    f"the role {role} has {count} policies",
                    where=f"permissions.{role}",
                    rule=f"AWS attaches 1 to {POLICIES_PER_ROLE} to a role",
                    way_out="take them from gpuplatform.permissions, for what the stack builds",
                )


class AwsCiIdentity(CiIdentityComponent):
    """Two roles: pull requests look with one, jobs of named environments deploy with the other.

    They have a path of their own: a right to manage the stack's roles, which is given by their names, is none
    to manage these. An access entry takes an ARN with a path
    (https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html).

    The account trusts GitHub's issuer once, whatever the number of environments, so the provider is protected
    and left out where `trust.create_provider` is false. It has no thumbprints: AWS verifies GitHub's issuer
    with its own trust store (aws-actions/configure-aws-credentials#357).

    Outputs, beside those of every one:
        provider_arn: The provider for GitHub's issuer.
    """

    TOKEN = "gpuplatform:index:AwsCiIdentity"  # noqa: S105 - a type token, no secret

    provider_arn: pulumi.Output[str]

    def __init__(
        self, name: str, args: AwsCiIdentityArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        self._name = name
        self._args = args
        self.provider_arn = self._github_provider()
        self._roles = RoleMaker(
            owner=self, prefix=name, name=args.name, region=args.region, tags=args.tags, path=CI_PATH
        )
        preview = self._role("preview", args.trust.preview_subjects, PREVIEW_SECONDS)
        deploy = self._role("deploy", args.trust.deploy_subjects, args.trust.session_minutes * 60)
        self.finish_ci(
            preview=preview.arn,
            deploy=deploy.arn,
            variables=pulumi.Output.all(preview=preview.arn, deploy=deploy.arn).apply(
                lambda known: {"PREVIEW_ROLE": known["preview"], "DEPLOY_ROLE": known["deploy"]}
            ),
            provider_arn=self.provider_arn,
        )

    def _github_provider(self) -> pulumi.Output[str]:
        args = self._args
        if not args.trust.create_provider:
            host = ISSUER.removeprefix("https://")
            known = f"arn:{partition(args.region)}:iam::{args.account}:oidc-provider/{host}"
            return pulumi.Output.from_input(known)
        provider = iam.OpenIdConnectProvider(
            f"{self._name}-github",
            url=ISSUER,
            client_id_lists=["sts.amazonaws.com"],
            tags=args.tags.aws(),
            opts=self.child(protect=True),
        )
        arn: pulumi.Output[str] = provider.arn
        return arn

    def _role(self, role: Role, subjects: Sequence[str], seconds: int) -> IamRole:
        state = self._args.state
        return self._roles.make(
            _part(role),
            self.provider_arn.apply(lambda arn: github_trust(arn, subjects)),
            documents=self._args.policies[role],
            inline=pulumi.Output.all(
                state.access(writes=role == "deploy"), state.bucket_arn, state.key_arn, self.provider_arn
            ).apply(lambda known: self._with_denials(*known)),
            session_seconds=seconds,
        )

    def _with_denials(
        self, access: Mapping[str, Any], bucket: str, key: str, provider: str
    ) -> dict[str, Any]:
        """The access to the state, and what no policy can allow on top of it.

        Whoever holds the role changes neither what it may do, nor who may be it, nor the state's history.
        """
        args = self._args
        account = f"arn:{partition(args.region)}:iam::{args.account}"
        denials = [
            {
                "Sid": "NotItsOwnRights",
                "Effect": "Deny",
                "Action": "iam:*",
                "Resource": [f"{account}:role{CI_PATH}*", f"{account}:policy{CI_PATH}*", provider],
            },
            {
                "Sid": "NotTheStateItself",
                "Effect": "Deny",
                "Action": list(STATE_BUCKET_ACTIONS),
                "Resource": [bucket, f"{bucket}/*"],
            },
            {
                "Sid": "NotTheStatesKey",
                "Effect": "Deny",
                "Action": list(STATE_KEY_ACTIONS),
                "Resource": key,
            },
        ]
        return {**access, "Statement": [*access["Statement"], *denials]}
