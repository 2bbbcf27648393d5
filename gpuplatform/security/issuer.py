"""Whose tokens an issuer signs: GitHub's, an imitation's, a cluster's, everybody's, or one organisation's."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Collection
from typing import Final, Literal

__all__ = ["GITHUB", "Kind", "kind_of", "location"]

Kind = Literal["github", "imitation", "cluster", "shared", "own"]

GITHUB: Final = "token.actions.githubusercontent.com"

# GHE.com with data residence has an issuer per subdomain, an enterprise may have its own path, and an
# Enterprise Server its own host (https://docs.github.com/enterprise-cloud@latest/actions/reference/security/oidc).
_GITHUBS: Final = re.compile(
    rf"{re.escape(GITHUB)}(/[a-z0-9-]+)?|token\.actions\.[a-z0-9-]+\.ghe\.com|[^/]+/_services/token"
)
_CLUSTERS: Final = re.compile(
    r"oidc\.eks\.[a-z0-9-]+\.(amazonaws\.com(\.cn)?|api\.aws)/id/.+"
    r"|[a-z0-9-]+\.oic\.prod-aks\.azure\.com/.+"
    r"|container\.googleapis\.com/v1/projects/.+"
)
# One issuer, one set of keys, tokens for every customer: an issuer alone says nothing.
_SHARED: Final = re.compile(
    r"gitlab\.com|app\.terraform\.io|accounts\.google\.com|agent\.buildkite\.com|api\.pulumi\.com/oidc"
    r"|www\.facebook\.com|graph\.facebook\.com|www\.amazon\.com|cognito-identity\.amazonaws\.com|app\.harness\.io.*"
)
_DIGITS: Final = str.maketrans("0135", "oles")
_LIKE: Final = 0.85


def location(issuer: str) -> str:
    """An issuer without `https://`, its host in lower case, as AWS names it."""
    host, slash, path = issuer.strip().removeprefix("https://").partition("/")
    return f"{host.casefold()}{slash}{path}"


def kind_of(issuer: str, own_githubs: Collection[str] = ()) -> Kind:
    """Whose tokens `issuer` signs; with or without its scheme."""
    place = location(issuer)
    if place in {location(one) for one in own_githubs}:
        return "github"
    host = place.partition("/")[0]
    if host != GITHUB and not host.endswith(".ghe.com") and _resembles(host):
        return "imitation"
    if _GITHUBS.fullmatch(place):
        return "github"
    if host == GITHUB:
        return "imitation"  # a slash, a port or a query too many: not the issuer that GitHub writes
    if _CLUSTERS.fullmatch(place):
        return "cluster"
    return "shared" if _SHARED.fullmatch(place) else "own"


def _resembles(host: str) -> bool:
    """Whether a reader would take `host` for GitHub's: misspelt, other letters, another domain."""
    try:
        host = host.encode("ascii").decode("idna") if "xn--" in host else host
    except UnicodeError:
        return True
    plain = unicodedata.normalize("NFKD", host).encode("ascii", "replace").decode().translate(_DIGITS)
    if "githubusercontent" in plain or ("github" in plain and ("token" in plain or "actions" in plain)):
        return True
    return difflib.SequenceMatcher(None, plain, GITHUB).ratio() >= _LIKE
