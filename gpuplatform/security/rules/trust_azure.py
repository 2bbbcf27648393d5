"""Azure: federated credentials of managed identities and of applications."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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

_WAY_OUT: Final = "name the subject exactly"


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
    expression = props.value(case.raw.props, "claimsMatchingExpression")
    if isinstance(expression, Mapping):
        expression = props.text(expression, "value")
    if isinstance(expression, Unknown):
        yield case.undecided("oidc-subject", expression)
    elif expression:
        yield from _expression(str(expression), issuer, case)
    else:
        yield from _exact(props.text(case.raw.props, "subject"), issuer, case)


def _expression(expression: str, issuer: str | Unknown, case: Case) -> Iterator[Finding]:
    scope = claims_matching_scope(expression)
    if scope is None:
        yield case.undecided("oidc-subject", f"the expression cannot be read: {expression}")
    elif isinstance(issuer, Unknown) or kind_of(issuer, case.settings.github_issuers) == "github":
        yield from judge_scope(scope, case)
    elif "matches '*'" in expression:
        yield case.fail("oidc-subject", "any subject matches", _WAY_OUT)


def _exact(subject: str | Unknown, issuer: str | Unknown, case: Case) -> Iterator[Finding]:
    """Entra compares literally; a wildcard would be the wish for more, and the next edit grants it."""
    if isinstance(subject, Unknown):
        yield case.undecided("oidc-subject", subject)
        return
    known = isinstance(issuer, str) and kind_of(issuer, case.settings.github_issuers) == "github"
    if not subject:
        yield case.fail("oidc-subject", "no subject is named", _WAY_OUT)
    elif known or subject.startswith(("repo:", "repository")):
        yield from judge_scope(claim_scope("sub", subject), case)
    elif has_wildcard(subject):
        message = f"the subject {subject!r} has a wildcard, which Entra compares literally"
        yield case.fail("oidc-subject", message, _WAY_OUT)


_APPLICATION: Final = "azuread:index/application"
_FLEXIBLE: Final = "FlexibleFederatedIdentityCredential"

READERS: Final = {
    "azure-native:managedidentity:FederatedIdentityCredential": (_credential,),
    f"{_APPLICATION}FederatedIdentityCredential:ApplicationFederatedIdentityCredential": (_credential,),
    f"{_APPLICATION}{_FLEXIBLE}:Application{_FLEXIBLE}": (_credential,),
}
