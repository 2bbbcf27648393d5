"""IAM, keys and log groups. IAM is stored, never evaluated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.aws.common import (
    KEY,
    ROLE,
    digits,
)
from gpuplatform.sandbox.cloud.rule import (
    Call,
    CloudError,
    NameRule,
    Reference,
    Rule,
)
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES"]


_NO_ROLE = "NoSuchEntity: The role with name {value} cannot be found."

_IAM_NAME = r"[\w+=,.@-]"


_SESSION = (3600, 43200)
"""Seconds: what IAM allows of a role's longest session."""


POLICY = "aws:iam/policy:Policy"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
INLINE = "aws:iam/rolePolicy:RolePolicy"

_LARGEST_POLICY, _LARGEST_INLINE, _MOST_POLICIES = 6144, 10_240, 10
"""Characters of a managed policy, and of all of a role's own together, without white space; managed policies
of a role (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html)."""

_WINDOW = (7, 30)
"""Days between the deletion of a key and its end. Nothing simulates them: a key has a random ID, and what is
left of it has no name that another could want."""


def _json_problem(call: Call, path: str) -> Iterator[Problem]:
    document = call.get(path)
    if isinstance(document, str):
        try:
            json.loads(document)
        except ValueError as error:
            yield Problem(path, f"contains an invalid JSON policy: {error}")


def _check_role(call: Call) -> Iterator[Problem]:
    yield from _json_problem(call, "assumeRolePolicy")
    longest = call.get("maxSessionDuration")
    if longest is not None and not _SESSION[0] <= longest <= _SESSION[1]:
        yield Problem("maxSessionDuration", f"{longest:g} s is not between 3600 and 43200")


def _check_policy(call: Call) -> Iterator[Problem]:
    yield from _json_problem(call, "policy")


def _length(policy: Any) -> int:
    return len("".join(policy.split())) if isinstance(policy, str) else 0


def _create_policy(call: Call) -> None:
    if _length(call.get("policy")) > _LARGEST_POLICY:
        raise CloudError(f"LimitExceeded: Cannot exceed quota for PolicySize: {_LARGEST_POLICY}")


def _create_inline(call: Call) -> None:
    role = call.get("role", "")
    others = sum(_length(wire.plain(p.inputs).get("policy")) for p in call.world.linked(ROLE, role, INLINE))
    if others + _length(call.get("policy")) > _LARGEST_INLINE:
        raise CloudError(
            f"LimitExceeded: Maximum policy size of {_LARGEST_INLINE} bytes exceeded for role {role}"
        )


def _create_attachment(call: Call) -> None:
    if len(call.world.linked(ROLE, call.get("role", ""), ATTACHMENT)) >= _MOST_POLICIES:
        raise CloudError(f"LimitExceeded: Cannot exceed quota for PoliciesPerRole: {_MOST_POLICIES}")


def _check_key(call: Call) -> Iterator[Problem]:
    yield from _json_problem(call, "policy")
    days = call.get("deletionWindowInDays")
    if isinstance(days, int | float) and not _WINDOW[0] <= days <= _WINDOW[1]:
        yield Problem(
            "deletionWindowInDays", f"expected to be in the range ({_WINDOW[0]} - {_WINDOW[1]}), got {days:g}"
        )


def _iam(call: Call, kind: str) -> dict[str, Any]:
    path = call.get("path") or "/"
    return {"arn": f"arn:aws:iam::{call.account.owner}:{kind}{path}{call.name}", "path": path}


def _role_outputs(call: Call) -> dict[str, Any]:
    unique = wire.digest(call.id, length=17).upper()
    return _iam(call, "role") | {
        "uniqueId": f"AROA{unique}",
        "createDate": call.created,
        "maxSessionDuration": call.get("maxSessionDuration", 3600),
    }


def _oidc_arn(call: Call) -> str:
    host = str(call.get("url", "")).removeprefix("https://")
    return f"arn:aws:iam::{call.account.owner}:oidc-provider/{host}"


def _key_id(call: Call) -> str:
    text = digits(call, length=32)
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _key_outputs(call: Call) -> dict[str, Any]:
    return {"keyId": call.id, "arn": f"arn:aws:kms:{call.region}:{call.account.owner}:key/{call.id}"}


RULES = (
    Rule(
        ROLE,
        names=NameRule(rf"{_IAM_NAME}{{1,64}}", "1 to 64 of letters, digits and + = , . @ - _"),
        check=_check_role,
        outputs=_role_outputs,
    ),
    Rule(
        POLICY,
        names=NameRule(rf"{_IAM_NAME}{{1,128}}", "1 to 128 of letters, digits and + = , . @ - _"),
        check=_check_policy,
        create=_create_policy,
        id=lambda call: _iam(call, "policy")["arn"],
        outputs=lambda call: _iam(call, "policy"),
    ),
    Rule(
        INLINE,
        create=_create_inline,
        references=(
            Reference(
                "role", ROLE, _NO_ROLE, "DeleteConflict: Cannot delete entity, must delete policies first."
            ),
        ),
        check=_check_policy,
        id=lambda call: f"{call.get('role')}:{call.name}",
    ),
    Rule(
        ATTACHMENT,
        create=_create_attachment,
        references=(
            Reference(
                "role",
                ROLE,
                _NO_ROLE,
                "DeleteConflict: Cannot delete entity, must detach all policies first.",
            ),
            Reference(
                "policyArn",
                POLICY,
                "NoSuchEntity: Policy {value} does not exist or is not attachable.",
                "DeleteConflict: Cannot delete a policy attached to entities.",
                unless=r"^arn:aws[a-z-]*:iam::aws:policy/",
            ),
        ),
        id=lambda call: f"{call.get('role')}/{call.get('policyArn')}",
    ),
    Rule(
        "aws:iam/instanceProfile:InstanceProfile",
        references=(
            Reference(
                "role", ROLE, _NO_ROLE, "DeleteConflict: must remove roles from instance profile first."
            ),
        ),
        outputs=lambda call: _iam(call, "instance-profile"),
    ),
    Rule(
        "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
        id=_oidc_arn,
        outputs=lambda call: {"arn": call.id, "thumbprintLists": call.get("thumbprintLists", [])},
    ),
    Rule(KEY, check=_check_key, id=_key_id, outputs=_key_outputs),
    Rule(
        "aws:kms/alias:Alias",
        prefix="alias/",
        names=NameRule(r"alias/[A-Za-z0-9/_-]{1,250}", "alias/ and letters, digits and / _ -"),
        references=(
            Reference("targetKeyId", KEY, "NotFoundException: Invalid keyId '{value}'", cascades=True),
        ),
    ),
    Rule(
        "aws:cloudwatch/logGroup:LogGroup",
        names=NameRule(r"[.\-_/#A-Za-z0-9]{1,512}", "1 to 512 of letters, digits and . - _ / #"),
    ),
)
