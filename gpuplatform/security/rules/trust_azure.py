"""Azure: federated credentials of managed identities and of applications."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpuplatform.guardrails import Unknown
from gpuplatform.guardrails.resources import props
from gpuplatform.security.expression import claims_matching_scope
from gpuplatform.security.finding import Case, Finding
from gpuplatform.security.issuer import kind_of
from gpuplatform.security.read import texts_at
from gpuplatform.security.rules.github import imitation, judge_scope
from gpuplatform.security.scope import claim_scope, has_wildcard

__all__ = ["READERS"]

# What Entra expects in each of its clouds
# (https://learn.microsoft.com/entra/workload-id/workload-identity-federation-create-trust).
_AUDIENCES: Final = frozenset(
    {"api://AzureADTokenExchange", "api://AzureADTokenExchangeUSGov", "api://AzureADTokenExchangeChina"}
)


def _credential(case: Case) -> Iterator[Finding]:
    source = case.raw.props
    issuer = props.text(source, "issuer")
    yield from _issuer(issuer, case)
    yield from _subject(issuer, case)
    audiences, unknown = texts_at(source, "audiences" if "audiences" in source else "audience")
    strange = [one for one in audiences if one not in _AUDIENCES]
    if strange or not (audiences or unknown):
        message = f"expects the audience {strange[0]!r}" if strange else "expects no audience"
        yield case.fail("oidc-audience", message, "audiences: [api://AzureADTokenExchange]")
    elif unknown:
        yield case.undecided("oidc-audience", unknown)


def _issuer(issuer: str | Unknown, case: Case) -> Iterator[Finding]:
    if isinstance(issuer, Unknown):
        yield case.undecided("oidc-issuer", issuer)
    elif not issuer.startswith("https://"):
        message = f"trusts the issuer {issuer!r}, whose keys are not fetched over https"
        yield case.fail("oidc-issuer", message, "an issuer is a URL with https://")
    elif kind_of(issuer, case.settings.github_issuers) == "imitation":
        yield imitation(issuer, case)


def _subject(issuer: str | Unknown, case: Case) -> Iterator[Finding]:
    source = case.raw.props
    expression = props.value(source, "claimsMatchingExpression")
    if isinstance(expression, dict):
        expression = props.text(expression, "value")
    if isinstance(expression, Unknown):
        yield case.undecided("oidc-subject", expression)
        return
    if isinstance(expression, str) and expression:
        scope = claims_matching_scope(expression)
        if scope is None:
            yield case.undecided("oidc-subject", f"the expression cannot be read: {expression}")
        elif isinstance(issuer, Unknown) or kind_of(issuer, case.settings.github_issuers) == "github":
            yield from judge_scope(scope, case)
        elif "matches '*'" in expression:
            yield case.fail("oidc-subject", "any subject matches", "name the subject exactly")
        return
    subject = props.text(source, "subject")
    if isinstance(subject, Unknown):
        yield case.undecided("oidc-subject", subject)
    elif not subject:
        yield case.fail("oidc-subject", "no subject is named", "name the subject exactly")
    elif (
        isinstance(issuer, str) and kind_of(issuer, case.settings.github_issuers) == "github"
    ) or subject.startswith(("repo:", "repository")):
        yield from judge_scope(claim_scope("sub", subject), case)
    elif has_wildcard(subject):
        message = f"the subject {subject!r} has a wildcard, which Entra compares literally"
        yield case.fail("oidc-subject", message, "name the subject exactly")


READERS: Final = {
    "azure-native:managedidentity:FederatedIdentityCredential": (_credential,),
    "azuread:index/applicationFederatedIdentityCredential:ApplicationFederatedIdentityCredential": (
        _credential,
    ),
    "azuread:index/applicationFlexibleFederatedIdentityCredential:ApplicationFlexibleFederatedIdentityCredential": (
        _credential,
    ),
}
