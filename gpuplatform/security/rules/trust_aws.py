"""AWS: who may assume a role, by its trust policy; and the account's providers of such identities."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Final

from gpuplatform.guardrails import Unknown
from gpuplatform.guardrails.resources import props
from gpuplatform.security.finding import Case, Finding
from gpuplatform.security.iam import Condition, Statement, anyone_may, statements
from gpuplatform.security.issuer import kind_of, location
from gpuplatform.security.rules.github import WAY_OUT, imitation, judge_scope, scope_is_narrow
from gpuplatform.security.scope import ANYONE, Reach, Scope, claim_scope, has_wildcard

__all__ = ["READERS"]

_PROVIDER: Final = "oidc-provider/"
_ASSUME: Final = "sts:AssumeRole"
_WEB_IDENTITY: Final = "sts:AssumeRoleWithWebIdentity"
_CLAIMS: Final = (":sub", ":aud", ":repository", ":repository_id", ":job_workflow_ref")
_BEST: Final = Scope(reach=Reach.REPOSITORY, narrowed=True)


def _role(case: Case) -> Iterator[Finding]:
    yield from _document(case, "assumeRolePolicy")


def _native_role(case: Case) -> Iterator[Finding]:
    yield from _document(case, "assumeRolePolicyDocument")


def _document(case: Case, key: str) -> Iterator[Finding]:
    found = statements(props.value(case.raw.props, key) or {})
    if isinstance(found, Unknown):
        yield case.undecided("oidc-subject", Unknown(found.field.replace("the policy document", key)))
        return
    for statement in found:
        if statement.allows:
            yield from _anybody(statement, case)
            yield from _federated(statement, case)


def _anybody(statement: Statement, case: Case) -> Iterator[Finding]:
    if not statement.does(_ASSUME) or not statement.for_anyone:
        return
    if anyone_may(statement) is True:
        message = "anybody with an AWS account may assume the role: its principal is *"
        yield case.fail("trust-principal", message, "name the account, or a condition on aws:PrincipalOrgID")
    elif isinstance(anyone_may(statement), Unknown):
        yield case.undecided("trust-principal", Unknown("a Condition of the trust policy"))


def _federated(statement: Statement, case: Case) -> Iterator[Finding]:
    if not statement.does(_WEB_IDENTITY):
        return
    for issuer in _issuers(statement):
        kind = kind_of(issuer, case.settings.github_issuers)
        conditions = [
            (one.key.removeprefix(f"{issuer.casefold()}:"), one)
            for one in statement.conditions
            if one.key.startswith(f"{issuer.casefold()}:") or (one.unknown and not one.key)
        ]
        if kind == "imitation":
            yield imitation(issuer, case)
        elif kind == "github":
            yield from _github(conditions, case)
        elif kind == "cluster":
            yield from _cluster(conditions, case)
        else:
            yield from _other(issuer, kind == "shared", conditions, case)
    if "federated" in statement.unknown and not _issuers(statement):
        if any(one.counts for one in statement.conditions):
            yield case.undecided("oidc-issuer", Unknown("Principal.Federated"))
        else:
            message = "everybody whom the identity provider knows may assume the role: it has no condition"
            yield case.fail("oidc-subject", message, WAY_OUT)


def _issuers(statement: Statement) -> tuple[str, ...]:
    """By the principal; where only the update will tell it, by the keys of the conditions."""
    named = []
    for principal in statement.principals.get("federated", ()):
        if _PROVIDER in principal:
            named.append(location(principal.partition(_PROVIDER)[2]))
        elif ":saml-provider/" not in principal and principal != "*":
            named.append(location(principal))
        elif principal == "*":
            named.append("*")
    if not named and statement.unknown:
        keys = [one.key for one in statement.conditions]
        named = [
            key.rpartition(":")[0] for key in keys if key.endswith(_CLAIMS) and not key.startswith("saml:")
        ]
    return tuple(dict.fromkeys(named))


def _github(conditions: list[tuple[str, Condition]], case: Case) -> Iterator[Finding]:
    defeated = [one for key, one in conditions if key == "sub" and not one.counts]
    least = reduce(Scope.__and__, (_entry(key, one, hopeful=False) for key, one in conditions), ANYONE)
    most = reduce(Scope.__and__, (_entry(key, one, hopeful=True) for key, one in conditions), ANYONE)
    if scope_is_narrow(least, case):
        pass
    elif scope_is_narrow(most, case):
        yield case.undecided("oidc-subject", Unknown("a value of the trust policy's Condition"))
    elif defeated and least.reach is Reach.ANYONE:
        message = "the condition on the subject does not count: it also holds without one, or for all others"
        yield case.fail("oidc-subject", message, "use StringEquals, without ForAllValues: or IfExists")
    else:
        yield from judge_scope(most, case)
    yield from _audience(conditions, case)


def _entry(key: str, condition: Condition, *, hopeful: bool) -> Scope:
    """Whom one condition lets in, each unknown at its best or at its worst."""
    if not condition.counts:
        return ANYONE
    if not condition.key:
        return _BEST if hopeful else ANYONE
    scopes = [claim_scope(key, value) for value in condition.values]
    if condition.unknown:
        scopes.append(_BEST if hopeful and (scopes or key != "aud") else ANYONE)
    return reduce(Scope.__or__, scopes) if scopes else ANYONE


def _audience(conditions: list[tuple[str, Condition]], case: Case) -> Iterator[Finding]:
    way_out = "StringEquals on the audience: sts.amazonaws.com"
    entries = [one for key, one in conditions if key == "aud" and one.counts]
    exact = [one for one in entries if one.values and not any(map(has_wildcard, one.values))]
    if any(not one.unknown for one in exact):
        return
    if any(one.unknown for key, one in conditions if key == "aud" or not one.key):
        yield case.undecided("oidc-audience", Unknown("the audience in the trust policy's Condition"))
    elif entries:
        yield case.fail("oidc-audience", "accepts a token made for any audience: it has a wildcard", way_out)
    else:
        yield case.fail(
            "oidc-audience", "accepts a token made for any audience: there is no condition on it", way_out
        )


def _cluster(conditions: list[tuple[str, Condition]], case: Case) -> Iterator[Finding]:
    """A cluster's own issuer: tokens of its service accounts.

    The audience is left to the provider's client IDs, which AWS checks first
    (https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_providers_create_oidc.html).
    """
    way_out = "name it as system:serviceaccount:NAMESPACE:NAME"
    subjects = [one for key, one in conditions if key == "sub" and one.counts]
    known = [one for one in subjects if one.values and not one.unknown]
    if any(all(_in_a_namespace(value) for value in one.values) for one in known):
        return
    if any(one.unknown for key, one in conditions if key == "sub" or not one.key):
        yield case.undecided("oidc-subject", Unknown("the service account in the trust policy's Condition"))
        return
    yield case.fail(
        "oidc-subject", "every pod of the cluster may assume the role: no service account is named", way_out
    )


def _in_a_namespace(subject: str) -> bool:
    parts = subject.split(":")
    whole = 4
    return (
        len(parts) == whole
        and parts[:2] == ["system", "serviceaccount"]
        and parts[2] != ""
        and not has_wildcard(parts[2])
    )


def _other(
    issuer: str,
    shared: bool,
    conditions: list[tuple[str, Condition]],
    case: Case,
) -> Iterator[Finding]:
    """Another issuer: its claims are its own, so only that one of them is checked can be asked for."""
    telling = _TELLING.get(issuer, _ANY_ACCOUNT) if shared else None
    counted = [one for key, one in conditions if one.counts and (telling is None or key in telling)]
    if any(one.values and not any(_hollow(value) for value in one.values) for one in counted):
        return
    if any(one.unknown for one in counted):
        yield case.undecided("oidc-subject", Unknown(f"a condition on {issuer}"))
        return
    message = f"everybody to whom {issuer} gives a token may assume the role"
    yield case.fail("oidc-subject", message, f"a condition on {issuer}:sub that names who may")


_ANY_ACCOUNT: Final = frozenset({"sub"})
_TELLING: Final = {
    # An identity pool of one's own; `amr` tells whether somebody logged in, to any pool in the world.
    "cognito-identity.amazonaws.com": frozenset({"aud"}),
    "accounts.google.com": frozenset({"aud", "oaud", "azp", "sub", "email"}),
    "www.amazon.com": frozenset({"app_id", "aud", "user_id"}),
    "graph.facebook.com": frozenset({"app_id", "aud", "id"}),
    "www.facebook.com": frozenset({"app_id", "aud", "sub"}),
    "gitlab.com": frozenset({"sub", "project_path", "project_id", "namespace_path", "namespace_id"}),
}
"""By an issuer that serves everybody: the claims that tell one customer from another
(https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_iam-condition-keys.html#condition-keys-wif).
"""


def _hollow(value: str) -> bool:
    """Whether a pattern fixes nothing but its own grammar, such as `project_path:*`."""
    head = value.split("*", maxsplit=1)[0].split("?", maxsplit=1)[0].split("${", maxsplit=1)[0]
    return has_wildcard(value) and head.rpartition(":")[2].strip("/") == "" and head.count(":") <= 1


def _provider(case: Case) -> Iterator[Finding]:
    url = props.text(case.raw.props, "url")
    if isinstance(url, Unknown):
        yield case.undecided("oidc-issuer", url)
    elif url and kind_of(url, case.settings.github_issuers) == "imitation":
        yield imitation(url, case)


READERS: Final = {
    "aws:iam/role:Role": (_role,),
    "aws-native:iam:Role": (_native_role,),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": (_provider,),
}
