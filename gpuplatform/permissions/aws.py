"""AWS: the policy documents of the pipeline's roles, and the boundary of the roles that a stack makes."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from gpuplatform.config import Aws, Platform
from gpuplatform.errors import Refusal
from gpuplatform.permissions.aws_boundary import ceiling, denials, state_denials
from gpuplatform.permissions.aws_rows import TABLE
from gpuplatform.permissions.aws_scope import CI_PATH, AwsScope, boundary_arn, grants
from gpuplatform.permissions.buckets import own_buckets
from gpuplatform.permissions.model import Role, rows_of

__all__ = [
    "CI_PATH",
    "RESOURCE_WIDE",
    "WILDCARDS",
    "AwsScope",
    "boundary",
    "boundary_arn",
    "policies",
    "scope_of",
]

POLICY_CHARACTERS: Final = 6144
POLICIES_PER_ROLE: Final = 10
"""Of a managed policy, whitespace apart, and of the policies on a role
(https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html)."""

_CEILING: Final = "a boundary: a ceiling that grants nothing"

WILDCARDS: Final[dict[str, str]] = {
    "autoscaling:Describe*": _CEILING,
    "ec2:*NetworkInterface": f"{_CEILING}, on what has the stack's tags or the plugin's",
    "ec2:*PrivateIpAddresses": f"{_CEILING}, on what has the stack's tags or the plugin's",
    "ec2:*Snapshot": f"{_CEILING}, on what has the driver's tag",
    "ec2:*Volume": f"{_CEILING}, on what has the driver's tag",
    "ec2:Describe*": _CEILING,
    "elasticloadbalancing:*": f"{_CEILING}, on what has the cluster's tag",
    "elasticloadbalancing:Describe*": _CEILING,
    "iam:*": "denied: of the deploying role on the pipeline's own, of a stack's role altogether",
    "kms:*": "denied on keys of states, never allowed",
    "kms:ReEncrypt*": f"{_CEILING}, through EC2 alone",
    "s3:*": "denied on the bucket of the state, never allowed",
}
"""Actions with a `*` that a document may have, with the reason."""

RESOURCE_WIDE: Final[dict[str, str]] = {
    "kms:CreateKey": "a key has no name before it exists; it must ask for the stack's tags",
    "kms:TagResource": "likewise, and for keys without an alias alone; on others it is bound to their tags",
}
"""Actions that change something and are allowed on `*`, with the reason."""


def scope_of(config: Platform) -> AwsScope:
    """Where a stack's resources are, and what they are named.

    Args:
        config: The stack's configuration.

    Raises:
        TypeError: The configuration is of another cloud.
    """
    if not isinstance(config.cloud, Aws):
        raise TypeError(f"{config.cloud.provider} has no AWS account")
    buckets = own_buckets(config)
    return AwsScope(
        account=config.cloud.account,
        region=config.cloud.region,
        name=config.physical_name,
        # The two that no later change of the configuration moves: what carries them stays in reach.
        tags={"environment": config.environment, "managed-by": "gpuplatform"},
        buckets=buckets.named,
        emptied=buckets.emptied,
    )


def policies(role: Role, types: Collection[str], scope: AwsScope) -> tuple[dict[str, Any], ...]:
    """The documents of `role`, each small enough for a managed policy.

    Args:
        role: Who acts.
        types: Type tokens that the stack's offline plan registers.
        scope: Where its resources are.

    Raises:
        Refusal: A type has no row, or all of them ask for more than a role can have.
    """
    rows = rows_of(TABLE, types, "aws")
    wanted = {action for row in rows for action in row.granted(role)}
    statements = list(_statements(wanted, scope))
    if role == "deploy":
        statements += [*denials(scope), *state_denials(scope)]
    documents = tuple(_documents(statements))
    if len(documents) > POLICIES_PER_ROLE:
        raise Refusal(
            f"the {role} role would need {len(documents)} policies",
            where="gpuplatform.permissions.aws",
            rule=f"AWS attaches at most {POLICIES_PER_ROLE} to a role",
            way_out="split the environment into stacks, each with its own roles",
        )
    return documents


def boundary(scope: AwsScope) -> dict[str, Any]:
    """The most that a role of the stack's own can ever do, whatever its policies say.

    What clusters, nodes, add-ons and pods need at all; nothing of IAM but the service-linked roles of load
    balancers and spot instances, so none of these roles makes another or becomes one. And what is denied to
    the deploying role is denied to them: whoever writes their policies gets nothing by it that they have not.

    Args:
        scope: Where the stack's resources are.

    Raises:
        Refusal: It would name more buckets than it has room for.
    """
    document = _document(list(ceiling(scope)))
    if characters(document) > POLICY_CHARACTERS:
        raise Refusal(
            f"{len(scope.buckets)} buckets with names of their own",
            where="storage",
            rule=f"a permissions boundary of AWS has at most {POLICY_CHARACTERS} characters",
            way_out="leave `bucket` out of some: names that are made up need no mention",
        )
    return document


def _statements(actions: Collection[str], scope: AwsScope) -> Iterator[dict[str, Any]]:
    """One statement for all actions that are narrowed alike."""
    grouped: dict[str, tuple[dict[str, Any], set[str]]] = {}
    for action in sorted(actions):
        for grant in grants(action, scope):
            body: dict[str, Any] = {"Resource": list(grant.resources)}
            if grant.condition:
                body["Condition"] = dict(grant.condition)
            key = json.dumps(body, sort_keys=True)
            grouped.setdefault(key, (body, set()))[1].add(action.partition("#")[0])
    for body, together in grouped.values():
        yield {"Effect": "Allow", "Action": sorted(together), **body}


def _documents(statements: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The statements in as few documents as their order allows."""
    page: list[dict[str, Any]] = []
    for statement in _pieces(statements):
        if page and characters(_document([*page, statement])) > POLICY_CHARACTERS:
            yield _document(page)
            page = []
        page.append(statement)
    if page:
        yield _document(page)


def _pieces(statements: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The statements, those that no document holds split by their actions."""
    for statement in statements:
        actions = statement["Action"]
        if characters(_document([statement])) <= POLICY_CHARACTERS or len(actions) < 2:  # noqa: PLR2004
            yield statement
            continue
        half = len(actions) // 2
        yield from _pieces({**statement, "Action": part} for part in (actions[:half], actions[half:]))


def _document(statements: list[dict[str, Any]]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": statements}


def characters(document: Mapping[str, Any]) -> int:
    """How much of its limit a document uses: IAM does not count whitespace."""
    return len(json.dumps(document, separators=(",", ":")))
