"""IAM roles: a name that fits, a trust, and only the policies that are needed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_aws import iam

from gpuplatform.aws.policies import managed_policy
from gpuplatform.component import Component
from gpuplatform.naming import fit
from gpuplatform.tags import Tags

__all__ = ["Role", "RoleMaker", "document"]


@dataclass(frozen=True, kw_only=True)
class Role:
    """A role and what must be attached before somebody relies on it.

    Attributes:
        arn: The role's ARN.
        ready: The role's policies: whatever uses the role depends on them, so that it never acts, and is
            never taken down, without its permissions.
    """

    arn: pulumi.Output[str]
    ready: Sequence[pulumi.Resource]


@dataclass(frozen=True, kw_only=True)
class RoleMaker:
    """Makes roles as children of one component.

    Attributes:
        owner: The component.
        prefix: Prefix of the logical names.
        name: Prefix of the physical names.
        region: Part of the physical names as well: IAM is global, and two environments of one name in two
            regions must not meet.
        tags: Tags of every role.
        path: Path of the roles and of policies of their own; part of their ARNs.
        boundary: ARN of the most that the roles can do, whatever their policies say; none where left out.
    """

    owner: Component
    prefix: str
    name: str
    region: str
    tags: Tags
    path: str = "/"
    boundary: str | None = None

    def make(
        self,
        part: str,
        trust: Mapping[str, Any] | pulumi.Output[Mapping[str, Any]],
        *,
        managed: Sequence[str] = (),
        documents: Sequence[Mapping[str, Any]] = (),
        inline: Mapping[str, Any] | pulumi.Output[Mapping[str, Any]] | None = None,
        session_seconds: int | None = None,
    ) -> Role:
        """One role.

        Args:
            part: What it is for; ends its names.
            trust: Who may assume it, from `gpuplatform.aws.policies`.
            managed: Names of AWS's own policies, with their path where they have one.
            documents: Policies of its own that are too large to be in the role; each becomes a managed one.
            inline: A policy of its own, in the role.
            session_seconds: The longest session; IAM's hour where left out.
        """
        logical = f"{self.prefix}-{part}"
        role = iam.Role(
            logical,
            name=fit("IAM role", self.name, self.region, part),
            assume_role_policy=document(trust),
            # Left out, it is the root; written out, it would be a change for every role that exists.
            path=self.path if self.path != "/" else None,
            max_session_duration=session_seconds,
            permissions_boundary=self.boundary,
            tags=self.tags.aws(),
            opts=self.owner.child(),
        )
        ready: list[pulumi.Resource] = [
            iam.RolePolicyAttachment(
                f"{logical}-{policy.rpartition('/')[2]}",
                role=role.name,
                policy_arn=managed_policy(self.region, policy),
                opts=self.owner.child(),
            )
            for policy in managed
        ]
        ready += [self._attach(role, part, number, text) for number, text in enumerate(documents, 1)]
        if inline is not None:
            ready.append(
                iam.RolePolicy(logical, role=role.name, policy=document(inline), opts=self.owner.child())
            )
        return Role(arn=role.arn, ready=ready)

    def _attach(self, role: iam.Role, part: str, number: int, text: Mapping[str, Any]) -> pulumi.Resource:
        logical = f"{self.prefix}-{part}-{number}"
        policy = iam.Policy(
            logical,
            name=fit("IAM policy", self.name, self.region, part, str(number)),
            path=self.path if self.path != "/" else None,
            policy=document(text),
            tags=self.tags.aws(),
            opts=self.owner.child(),
        )
        attachment: pulumi.Resource = iam.RolePolicyAttachment(
            logical, role=role.name, policy_arn=policy.arn, opts=self.owner.child()
        )
        return attachment


def document(policy: Mapping[str, Any] | pulumi.Output[Mapping[str, Any]]) -> pulumi.Input[str]:
    """A policy as IAM's APIs take it."""
    if isinstance(policy, pulumi.Output):
        return policy.apply(json.dumps)
    return json.dumps(policy)
