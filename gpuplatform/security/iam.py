"""AWS policy documents: statements, principals and conditions, read as IAM reads them.

Operators: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html.
`ForAllValues:` and `...IfExists` also hold where the key is missing, and a negated operator lets in
everything else, so none of them counts as a restriction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from gpuplatform.guardrails import UNKNOWN_MARKS, Unknown
from gpuplatform.security.read import to_everyone

__all__ = ["Condition", "Statement", "anyone_may", "statements"]

_OPERATORS: Final = frozenset(
    {"stringequals", "stringequalsignorecase", "stringlike", "arnequals", "arnlike", "ipaddress"}
)
# Keys that tie a request to an account, an organisation, a network or a resource
# (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html). What S3 calls
# "not public" is the same list (https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html).
_TIES: Final = frozenset(
    {
        "aws:principalarn",
        "aws:principalaccount",
        "aws:principalorgid",
        "aws:principalorgpaths",
        "aws:principalisawsservice",
        "aws:principalservicename",
        "aws:sourcearn",
        "aws:sourceaccount",
        "aws:sourceorgid",
        "aws:sourceorgpaths",
        "aws:sourceowner",
        "aws:sourceip",
        "aws:sourcevpc",
        "aws:sourcevpce",
        "aws:userid",
        "elasticfilesystem:accessedviamounttarget",
        "kms:calleraccount",
        "s3:dataaccesspointaccount",
        "s3:dataaccesspointarn",
        "lambda:functionurlauthtype",
    }
)


_FLAGS: Final = frozenset({"aws:principalisawsservice", "elasticfilesystem:accessedviamounttarget"})
"""Keys that are true or false and tell who asks, all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One entry of a Condition block: the key must be like one of the values.

    Attributes:
        key: In lower case.
        values: The values that are known.
        counts: Whether the operator keeps out what does not match, the key's absence included.
        unknown: Whether values, the key or the operator are not known.
    """

    key: str
    values: tuple[str, ...]
    counts: bool
    unknown: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement.

    Attributes:
        allows: Whether its effect is Allow.
        actions: In lower case; empty where it says NotAction.
        principals: By kind in lower case, such as `federated`; `*` under each where anybody is meant.
        conditions: What must hold, all of it.
        unknown: What of it is not known; empty where all is.
    """

    allows: bool
    actions: tuple[str, ...]
    principals: Mapping[str, tuple[str, ...]]
    conditions: tuple[Condition, ...]
    unknown: str = ""

    def does(self, action: str) -> bool:
        """Whether it is about `action`."""
        return not self.actions or any(fnmatchcase(action.casefold(), one) for one in self.actions)

    @property
    def for_anyone(self) -> bool:
        """Whether anybody with an AWS account, or without one, is a principal."""
        return "*" in self.principals.get("aws", ())


def statements(document: Any) -> tuple[Statement, ...] | Unknown:
    """A document's statements: JSON text or an object, one statement or a list of them."""
    if isinstance(document, Unknown):
        return Unknown("the policy document")
    if isinstance(document, str):
        if document in UNKNOWN_MARKS:
            return Unknown("the policy document")
        try:
            document = json.loads(document)
        except (ValueError, RecursionError):
            return Unknown("the policy document (not JSON)")
    if not isinstance(document, Mapping):
        return Unknown("the policy document (of an unexpected shape)")
    found = _get(document, "Statement")
    if found is None and document:
        return Unknown("the policy document (without a Statement)")
    if _unknown(found):
        return Unknown("the policy's Statement")
    return tuple(_statement(one) for one in _list(found))


def anyone_may(statement: Statement) -> bool | Unknown:
    """Whether the statement lets in anybody, no condition tying the request to somebody."""
    if not statement.allows or not statement.for_anyone:
        return Unknown("the policy's Principal") if statement.allows and statement.unknown else False
    if any(one.key in _TIES and one.counts and _ties(one) for one in statement.conditions):
        return False
    return Unknown("a Condition") if any(one.unknown for one in statement.conditions) else True


def _ties(condition: Condition) -> bool:
    """Whether the values are somebody; an unknown one beside them leaves that open."""
    if condition.unknown or not condition.values:
        return False
    return all(_names_somebody(condition.key, value) for value in condition.values)


_ACCOUNT: Final = re.compile(r"\d{12}")
_ARN: Final = re.compile(r"arn:[^:]+:[^:]+:[^:]*:(?P<account>[^:]*):(?P<resource>.+)")
_OWN: Final = frozenset({"${aws:ResourceAccount}", "${aws:ResourceOrgID}"})
"""Policy variables that name the resource's own account and organisation."""
_EXACT: Final = {
    "aws:principalorgid": re.compile(r"o-[a-z0-9]+"),
    "aws:sourceorgid": re.compile(r"o-[a-z0-9]+"),
    "aws:principalorgpaths": re.compile(r"o-[a-z0-9]+/.*"),
    "aws:sourceorgpaths": re.compile(r"o-[a-z0-9]+/.*"),
    "aws:sourcevpc": re.compile(r"vpc-[0-9a-f]+"),
    "aws:sourcevpce": re.compile(r"vpce-[0-9a-f]+"),
    "aws:principalservicename": re.compile(r"[a-z0-9.-]+\.amazonaws\.com(\.cn)?"),
    "aws:principalisawsservice": re.compile("true"),
    "elasticfilesystem:accessedviamounttarget": re.compile("true"),
    "lambda:functionurlauthtype": re.compile("AWS_IAM"),
    "aws:userid": re.compile(r"[A-Z0-9]+(:.*)?"),
}
"""What a value must be to tie a request to somebody, a wildcard standing only where nobody is told by it."""


def _names_somebody(key: str, value: str) -> bool:
    """Whether a value keeps others out: `o-*` is every organisation, `arn:aws:iam::*:role/*` everybody."""
    if value in _OWN:
        return True
    if key in _EXACT:
        return _EXACT[key].fullmatch(value) is not None
    if key.endswith("account") or key == "aws:sourceowner":
        return _ACCOUNT.fullmatch(value) is not None
    if key.endswith("arn"):
        found = _ARN.fullmatch(value)
        if found is None:
            return False
        account, resource = found["account"], found["resource"]
        # A bucket's ARN has no account, and its name is one in the world.
        return _ACCOUNT.fullmatch(account) is not None or (
            account == "" and not resource.startswith(("*", "?"))
        )
    return value.strip("*?") != "" and not to_everyone(value)


def _statement(source: Any) -> Statement:
    if not isinstance(source, Mapping):
        return Statement(allows=True, actions=(), principals={}, conditions=(), unknown="a statement")
    principals, unknown = _principals(source)
    actions = [str(one).casefold() for one in _list(_get(source, "Action"))]
    if any(_unknown(one) for one in actions):
        actions = []
    return Statement(
        allows=str(_get(source, "Effect")).casefold() != "deny",
        actions=tuple(actions),
        principals=principals,
        conditions=tuple(_conditions(_get(source, "Condition"))),
        unknown=unknown,
    )


def _principals(source: Mapping[str, Any]) -> tuple[Mapping[str, tuple[str, ...]], str]:
    if _get(source, "NotPrincipal") is not None:
        return dict.fromkeys(("aws", "federated"), ("*",)), ""
    principal = _get(source, "Principal")
    if principal == "*" or (isinstance(principal, list) and "*" in principal):
        return dict.fromkeys(("aws", "federated"), ("*",)), ""
    if not isinstance(principal, Mapping):
        return {}, "Principal" if _unknown(principal) else ""
    known = {
        str(kind).casefold(): tuple(str(one) for one in _list(values) if not _unknown(one))
        for kind, values in principal.items()
    }
    hidden = next(
        (str(kind).casefold() for kind, values in principal.items() if any(map(_unknown, _list(values)))), ""
    )
    return known, f"Principal.{hidden}" if hidden else ""


def _conditions(block: Any) -> Iterator[Condition]:
    if _unknown(block):
        yield Condition(key="", values=(), counts=True, unknown=True)
    if not isinstance(block, Mapping):
        return
    for operator, pairs in block.items():
        bare = str(operator).casefold().removeprefix("foranyvalue:")
        if not isinstance(pairs, Mapping):
            yield Condition(key="", values=(), counts=bare in _OPERATORS, unknown=True)
            continue
        for key, values in pairs.items():
            listed = _list(values)
            yield Condition(
                key=str(key).casefold(),
                values=tuple(_text(one) for one in listed if not _unknown(one)),
                counts=bare in _OPERATORS or (bare == "bool" and str(key).casefold() in _FLAGS),
                unknown=any(map(_unknown, listed)),
            )


def _text(value: Any) -> str:
    return str(value).casefold() if isinstance(value, bool) else str(value)


def _get(source: Mapping[str, Any], key: str) -> Any:
    """IAM's elements, which a typed SDK may spell with a small letter."""
    return source.get(key, source.get(f"{key[:1].lower()}{key[1:]}"))


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _unknown(value: Any) -> bool:
    return isinstance(value, str) and value in UNKNOWN_MARKS
