"""OIDC-4 on Azure: what a federated credential lets in."""

from __future__ import annotations

import pytest

CREDENTIAL = "azure-native:managedidentity:FederatedIdentityCredential"
APPLICATION = "azuread:index/applicationFederatedIdentityCredential:ApplicationFederatedIdentityCredential"
FLEXIBLE = (
    "azuread:index/applicationFlexibleFederatedIdentityCredential:"
    "ApplicationFlexibleFederatedIdentityCredential"
)
ISSUER = "https://token.actions.githubusercontent.com"
AKS = "https://eastus.oic.prod-aks.azure.com/00000000-0000-0000-0000-000000000000/11111111/"
EXACT = "repo:acme/shop:environment:prod"
AUDIENCE = "api://AzureADTokenExchange"


def credential(subject=EXACT, *, issuer=ISSUER, audiences=(AUDIENCE,), **more):
    return {"issuer": issuer, "subject": subject, "audiences": list(audiences), **more}


def flexible(expression, issuer=ISSUER):
    value = {"value": expression, "languageVersion": 1}
    return {"issuer": issuer, "claimsMatchingExpression": value, "audiences": [AUDIENCE]}


HOSTILE = {
    "another subject's wildcard": (credential("repo:acme/*"), "oidc-subject"),
    "any subject": (credential("*"), "oidc-subject"),
    "every branch": (credential("repo:acme/shop:ref:refs/heads/*"), "oidc-subject"),
    "a pull request's ref": (credential("repo:acme/shop:ref:refs/pull/7/merge"), "oidc-subject"),
    "the whole repository": (credential("repo:acme/shop"), "oidc-subject"),
    "the environment alone": (credential("environment:prod"), "oidc-subject"),
    "somebody else's workflow": (
        credential("repo:acme/shop:job_workflow_ref:evil/ci/.github/workflows/x.yml@main"),
        "oidc-subject",
    ),
    "no subject": (credential(""), "oidc-subject"),
    "issuer over http": (credential(issuer="http://token.actions.githubusercontent.com"), "oidc-issuer"),
    "issuer with a slash": (credential(issuer=f"{ISSUER}/"), "oidc-issuer"),
    "issuer below another domain": (credential(issuer=f"{ISSUER}.evil.io"), "oidc-issuer"),
    "issuer misspelt": (credential(issuer="https://token.actions.githubusercontant.com"), "oidc-issuer"),
    "own audience": (credential(audiences=("sts.amazonaws.com",)), "oidc-audience"),
    "a second audience": (credential(audiences=(AUDIENCE, "https://github.com/acme")), "oidc-audience"),
    "no audience": (credential(audiences=()), "oidc-audience"),
    "an expression for an organisation": (flexible("claims['sub'] matches 'repo:acme/*'"), "oidc-subject"),
    "an expression for every branch": (
        flexible("claims['sub'] matches 'repo:acme/shop:ref:refs/heads/*'"),
        "oidc-subject",
    ),
    "an expression for a workflow": (
        flexible("claims['job_workflow_ref'] matches 'acme/ci/.github/workflows/*.yml@refs/heads/main'"),
        "oidc-subject",
    ),
    "an expression for anybody": (flexible("claims['sub'] matches '*'"), "oidc-subject"),
}
HARMLESS = {
    "an environment": credential(),
    "a numbered environment": credential("repo:acme@1234/shop@5678:environment:prod"),
    "a branch": credential("repo:acme/shop:ref:refs/heads/main"),
    "pull requests": credential("repo:acme/shop:pull_request"),
    "another cloud's audience": credential(audiences=("api://AzureADTokenExchangeUSGov",)),
    "a pod": credential("system:serviceaccount:vision:team", issuer=AKS),
    "Terraform Cloud": credential(
        "organization:acme:project:p:workspace:w:run_phase:apply", issuer="https://app.terraform.io"
    ),
    "an Enterprise Server": credential(issuer="https://github.acme.example/_services/token"),
    "an expression for release branches": flexible(
        "claims['sub'] matches 'repo:acme/shop:ref:refs/heads/release/*'"
    ),
    "an exact expression": flexible(f"claims['sub'] eq '{EXACT}'"),
    "an expression with own workflow": flexible(
        "claims['sub'] matches 'repo:acme/shop:ref:*' and "
        "claims['job_workflow_ref'] eq 'acme/ci/.github/workflows/deploy.yml@refs/heads/main'"
    ),
}


@pytest.mark.parametrize(
    "type_", [CREDENTIAL, f"{CREDENTIAL[:28]}/v20230131:FederatedIdentityCredential", APPLICATION]
)
@pytest.mark.parametrize("case", HOSTILE)
def test_oidc_4_a_hostile_credential_blocks(pack, case, type_):
    props, rule = HOSTILE[case]
    notes = pack.register(type_, props)
    assert rule in {note.rule for note in notes if note.mandatory}, notes


@pytest.mark.parametrize("type_", [CREDENTIAL, APPLICATION])
@pytest.mark.parametrize("case", HARMLESS)
def test_oidc_4_a_harmless_credential_says_nothing(pack, case, type_):
    assert pack.register(type_, HARMLESS[case]) == []
    assert pack.finish() == []


def test_an_application_s_flexible_credential_is_judged_too(pack):
    props = {"issuer": ISSUER, "audience": AUDIENCE}
    expression = "claims['sub'] matches 'repo:acme/*'"
    (note,) = pack.register(FLEXIBLE, {**props, "claimsMatchingExpression": expression})
    assert note.rule == "oidc-subject"
    expression = "claims['sub'] matches 'repo:acme/shop:ref:refs/tags/v*'"
    assert pack.register(FLEXIBLE, {**props, "claimsMatchingExpression": expression}) == []


def test_an_expression_that_cannot_be_read_is_no_pass(pack):
    assert pack.register(CREDENTIAL, flexible("claims['sub'] resembles 'repo:acme/shop'")) == []
    (note,) = pack.finish()
    assert "not evaluated: [oidc-subject]" in note.message
