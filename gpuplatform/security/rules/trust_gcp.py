"""Google Cloud: providers of workload identity pools, and the members that roles are given to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from gpuplatform.guardrails import Unknown
from gpuplatform.guardrails.resources import props
from gpuplatform.security.expression import cel_scope
from gpuplatform.security.finding import Case, Finding
from gpuplatform.security.issuer import GITHUB, kind_of
from gpuplatform.security.read import mappings, on, texts_at
from gpuplatform.security.rules.github import imitation, judge_scope
from gpuplatform.security.scope import Reach, Scope, claim_scope

__all__ = ["READERS", "grants"]

_PUBLIC: Final = frozenset({"allUsers", "allAuthenticatedUsers"})
_POOL: Final = re.compile(
    r"principal(?:Set)?://iam\.googleapis\.com/projects/[^/]+/locations/[^/]+/workloadIdentityPools/(?P<pool>[^/]+)/(?P<what>.+)"
)
_CLAIMS: Final = frozenset(
    {"repository", "repository_id", "repository_owner", "repository_owner_id", "enterprise", "enterprise_id"}
)
# Narrowing only: what these let in depends on what the pool's provider lets in.
_DEPENDENT: Final = frozenset(
    {"environment", "ref", "job_workflow_ref", "workflow_ref", "workflow", "actor", "actor_id", "event_name"}
)


def _provider(case: Case) -> Iterator[Finding]:
    source = case.raw.props
    issuer = props.text(source, "oidc", "issuerUri")
    if on(source, "disabled") is True or issuer == "":
        return
    if isinstance(issuer, Unknown):
        yield case.undecided("oidc-issuer", issuer)
        return
    kind = kind_of(issuer, case.settings.github_issuers)
    if kind == "imitation":
        yield imitation(issuer, case)
        return
    if not issuer.startswith("https://"):
        yield case.fail("oidc-issuer", f"trusts the issuer {issuer!r}", "an issuer is a URL with https://")
        return
    condition = props.text(source, "attributeCondition")
    if isinstance(condition, Unknown):
        if kind in {"github", "shared"}:
            yield case.undecided("oidc-subject", condition)
    elif kind == "github":
        yield from _condition(condition, case)
    elif kind == "shared" and not condition.strip():
        message = f"everybody to whom {issuer} gives a token is in the pool: there is no attributeCondition"
        yield case.fail(
            "oidc-subject", message, "an attributeCondition that names your own organisation there"
        )


def _condition(condition: str, case: Case) -> Iterator[Finding]:
    mapping = props.mapping(case.raw.props, "attributeMapping")
    if isinstance(mapping, Unknown):
        mapping = {}
    scope = (
        cel_scope(condition, {key: str(value) for key, value in mapping.items()})
        if condition.strip()
        else Scope()
    )
    if scope is None:
        yield case.undecided("oidc-subject", f"the attributeCondition cannot be read: {condition}")
        return
    pool = props.text(case.raw.props, "workloadIdentityPoolId")
    if isinstance(pool, str) and pool:
        case.pools[pool] = case.pools[pool] | scope if pool in case.pools else scope
        case.mapped.setdefault(pool, {}).update({key: str(value) for key, value in mapping.items()})
    way_out = "attributeCondition: assertion.repository_id == 'ID', and bind members by attribute"
    if scope.reach is Reach.ANYONE:
        why = (
            f"nothing of {condition!r} keeps others out"
            if condition.strip()
            else "there is no attributeCondition"
        )
        message = f"every workflow on {GITHUB} is in the pool: {why}"
        yield case.fail("oidc-subject", message, way_out)
    elif scope.reach is Reach.OWNER and scope.by_name and not case.settings.owner_by_name:
        message = f"tells the owner by a name that others can take over once it is given up ({scope.why})"
        yield case.fail(
            "oidc-subject", message, "assertion.repository_owner_id == 'ID'; or set ownerByName to accept"
        )
    else:
        # Which repository, branch and environment may be left to the members: a pool by itself gives nothing.
        yield from judge_scope(replace(scope, reach=Reach.REPOSITORY, narrowed=True), case)


def grants(case: Case) -> Iterator[Finding]:
    """A role's members: `member`, `members`, or a whole policy."""
    source = case.raw.props
    members, unknown = texts_at(source, "members" if "members" in source else "member")
    data = props.text(source, "policyData")
    more = _of_policy(data) if isinstance(data, str) and data else data
    if isinstance(more, Unknown):
        unknown = more
    for member in dict.fromkeys((*members, *(more if isinstance(more, tuple) else ()))):
        yield from _member(member, case)
    if unknown is not None:
        yield case.undecided("public-access", unknown)


def _of_policy(data: str) -> tuple[str, ...] | Unknown:
    try:
        policy: Any = json.loads(data)
    except (ValueError, RecursionError):
        return Unknown("policyData (not JSON)")
    bindings, unknown = mappings(policy, "bindings")
    found = [texts_at(binding, "members") for binding in bindings]
    if hidden := unknown or next((one for _, one in found if one), None):
        return hidden
    return tuple(member for members, _ in found for member in members)


def _member(member: str, case: Case) -> Iterator[Finding]:
    if member in _PUBLIC:
        message = f"gives {props.text(case.raw.props, 'role') or 'a role'} to {member}"
        yield case.fail("public-access", message, "name members, groups or service accounts")
        return
    found = _POOL.fullmatch(member)
    if found is None:
        return
    what, pool = found["what"], found["pool"]
    way_out = (
        "bind principalSet://.../attribute.repository_id/ID, or a mapped attribute that names one subject"
    )
    if what.rstrip("/").endswith("*"):
        message = f"gives the role to everybody in the workload identity pool {pool} ({what})"
        yield case.fail("oidc-subject", message, way_out)
    elif what.startswith("subject/"):
        subject = what.removeprefix("subject/")
        claim = _claim_of("google.subject", "sub", pool, case)
        if claim is None:
            yield _made_up("google.subject", pool, case)
        elif claim != "sub" or subject.startswith(("repo:", "repository")):
            yield from _attribute(claim, subject, pool, case)
    elif what.startswith("attribute."):
        name, _, value = what.removeprefix("attribute.").partition("/")
        claim = _claim_of(f"attribute.{name}", name, pool, case)
        if claim is None:
            yield _made_up(f"attribute.{name}", pool, case)
        else:
            yield from _attribute(claim, value, pool, case)


def _made_up(attribute: str, pool: str, case: Case) -> Finding:
    expression = case.mapped[pool][attribute]
    return case.undecided("oidc-subject", f"{attribute} is made by an expression: {expression}")


def _claim_of(attribute: str, namesake: str, pool: str, case: Case) -> str | None:
    """The claim that an attribute holds: by the pool's own mapping, not by what it is called.

    Its namesake where the provider was not seen; None where an expression makes it.
    """
    mapping = case.mapped.get(pool)
    if mapping is None or attribute not in mapping:
        return namesake
    plain = _PLAIN.fullmatch(mapping[attribute].strip())
    return plain["claim"] if plain else None


_PLAIN: Final = re.compile(r"assertion\.(?P<claim>\w+)")


def _attribute(claim: str, value: str, pool: str, case: Case) -> Iterator[Finding]:
    """A claim's own attribute; what a pool calls otherwise is its provider's to judge."""
    provider = case.pools.get(pool)
    if claim == "sub":
        yield from judge_scope(claim_scope("sub", value), case)
    elif claim in _CLAIMS:
        scope = claim_scope(claim, value) & (provider or Scope())
        # A member cannot name a branch as well; the provider's condition, or a mapped attribute, can.
        if scope.reach is Reach.REPOSITORY:
            scope &= Scope(narrowed=True)
        yield from judge_scope(scope, case)
    elif claim in _DEPENDENT and provider is None:
        yield case.undecided(
            "oidc-subject", f"attribute.{claim} says nothing without the condition of pool {pool}"
        )
    elif claim in _DEPENDENT and provider is not None:
        yield from judge_scope(claim_scope(claim, value) & provider, case)


READERS: Final = {
    "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider": (_provider,),
}
