"""OIDC-4 on AWS: what a role's trust policy lets in. Hostile ones block, harmless ones say nothing."""

from __future__ import annotations

import json

import pytest

ROLE = "aws:iam/role:Role"
HOST = "token.actions.githubusercontent.com"
ARN = f"arn:aws:iam::123456789012:oidc-provider/{HOST}"
EKS = "oidc.eks.us-east-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B716D3041E"
AUD = {f"{HOST}:aud": "sts.amazonaws.com"}
EXACT = "repo:acme/shop:environment:prod"
NUMBERED = "repo:acme@1234/shop@5678:environment:prod"


def statement(condition, *, provider=ARN, action="sts:AssumeRoleWithWebIdentity", **more):
    made = {"Effect": "Allow", "Principal": {"Federated": provider}, "Action": action, **more}
    return made if condition is None else {**made, "Condition": condition}


def policy(*statements):
    return {"Version": "2012-10-17", "Statement": list(statements)}


def github(operator, sub, **more):
    """One statement: the subject by `operator`, the audience by StringEquals."""
    condition = {operator: {f"{HOST}:sub": sub}}
    condition.setdefault("StringEquals", {}).update(AUD)
    return policy(statement(condition, **more))


def claims(**values):
    return policy(
        statement({"StringEquals": {**AUD, **{f"{HOST}:{key}": one for key, one in values.items()}}})
    )


def elsewhere(issuer, condition):
    return policy(statement(condition, provider=f"arn:aws:iam::123456789012:oidc-provider/{issuer}"))


FINE = statement({"StringEquals": {**AUD, f"{HOST}:sub": EXACT}})

HOSTILE = {
    "no condition at all": (policy(statement(None)), "oidc-subject"),
    "audience only": (policy(statement({"StringEquals": AUD})), "oidc-subject"),
    "any subject": (github("StringLike", "*"), "oidc-subject"),
    "any repository": (github("StringLike", "repo:*"), "oidc-subject"),
    "any repository of a branch": (github("StringLike", "repo:*/*:ref:refs/heads/main"), "oidc-subject"),
    "a whole organisation": (github("StringLike", "repo:acme/*"), "oidc-subject"),
    "a whole organisation's main branches": (
        github("StringLike", "repo:acme/*:ref:refs/heads/main"),
        "oidc-subject",
    ),
    "organisations that begin alike": (
        github("StringLike", "repo:acme*/shop:environment:prod"),
        "oidc-subject",
    ),
    "repositories that begin alike": (
        github("StringLike", "repo:acme/shop*:environment:prod"),
        "oidc-subject",
    ),
    "one letter open in the owner": (github("StringLike", "repo:acm?/shop:environment:prod"), "oidc-subject"),
    "a numbered organisation": (github("StringLike", "repo:acme@1234/*"), "oidc-subject"),
    "a numbered organisation's repository by any number": (
        github("StringLike", "repo:acme@1234/shop@*:environment:prod"),
        "oidc-subject",
    ),
    "every context of a repository": (github("StringLike", "repo:acme/shop:*"), "oidc-subject"),
    "every context of a numbered repository": (github("StringLike", "repo:acme@1/shop@2:*"), "oidc-subject"),
    "every branch": (github("StringLike", "repo:acme/shop:ref:refs/heads/*"), "oidc-subject"),
    "every tag": (github("StringLike", "repo:acme/shop:ref:refs/tags/*"), "oidc-subject"),
    "every environment": (github("StringLike", "repo:acme/shop:environment:*"), "oidc-subject"),
    "environments that begin alike": (
        github("StringLike", "repo:acme/shop:environment:prod*"),
        "oidc-subject",
    ),
    "pull requests' merge refs": (
        github("StringLike", "repo:acme/shop:ref:refs/pull/*/merge"),
        "oidc-subject",
    ),
    "one pull request's ref": (
        github("StringEquals", "repo:acme/shop:ref:refs/pull/7/merge"),
        "oidc-subject",
    ),
    "a policy variable": (
        github("StringLike", "repo:${aws:PrincipalTag/org}/shop:environment:prod"),
        "oidc-subject",
    ),
    "one good and one bad in a list": (github("StringLike", [EXACT, "repo:acme/*"]), "oidc-subject"),
    "ForAllValues": (github("ForAllValues:StringLike", "repo:acme/shop:environment:prod"), "oidc-subject"),
    "ForAllValues equals": (github("ForAllValues:StringEquals", EXACT), "oidc-subject"),
    "IfExists": (github("StringEqualsIfExists", EXACT), "oidc-subject"),
    "like, IfExists": (github("StringLikeIfExists", EXACT), "oidc-subject"),
    "everybody but one": (github("StringNotEquals", "repo:evil/repo:environment:prod"), "oidc-subject"),
    "everybody who is not like one": (github("StringNotLike", "repo:evil/*"), "oidc-subject"),
    "only that there is a subject": (
        policy(statement({"Null": {f"{HOST}:sub": "false"}, "StringEquals": AUD})),
        "oidc-subject",
    ),
    "missing audience": (policy(statement({"StringEquals": {f"{HOST}:sub": EXACT}})), "oidc-audience"),
    "audience with a wildcard": (
        policy(statement({"StringEquals": {f"{HOST}:sub": EXACT}, "StringLike": {f"{HOST}:aud": "*"}})),
        "oidc-audience",
    ),
    "audience by ForAllValues": (
        policy(
            statement(
                {
                    "StringEquals": {f"{HOST}:sub": EXACT},
                    "ForAllValues:StringEquals": {f"{HOST}:aud": "sts.amazonaws.com"},
                }
            )
        ),
        "oidc-audience",
    ),
    "a second statement without condition": (policy(FINE, statement(None)), "oidc-subject"),
    "a second statement for the organisation": (
        policy(FINE, statement({"StringLike": {f"{HOST}:sub": "repo:acme/*"}, "StringEquals": AUD})),
        "oidc-subject",
    ),
    "the actor": (claims(actor="octocat"), "oidc-subject"),
    "the actor's number": (claims(actor_id="583231"), "oidc-subject"),
    "a branch of any repository": (claims(ref="refs/heads/main"), "oidc-subject"),
    "an environment of any repository": (claims(environment="prod"), "oidc-subject"),
    "a workflow's name": (claims(workflow="deploy"), "oidc-subject"),
    "a reusable workflow alone": (
        claims(job_workflow_ref="acme/ci/.github/workflows/deploy.yml@refs/heads/main"),
        "oidc-subject",
    ),
    "the owner's number alone": (claims(repository_owner_id="1234"), "oidc-subject"),
    "the repository and nothing of it": (claims(repository="acme/shop"), "oidc-subject"),
    "the repository and the actor": (claims(repository="acme/shop", actor="octocat"), "oidc-subject"),
    "somebody else's reusable workflow": (
        github(
            "StringEquals", "repo:acme/shop:job_workflow_ref:evil/ci/.github/workflows/x.yml@refs/heads/main"
        ),
        "oidc-subject",
    ),
    "free text before the repository": (
        github("StringEquals", "workflow:x:repo:acme/shop:environment:prod"),
        "oidc-subject",
    ),
    "a subject that begins with the environment": (
        github("StringLike", "environment:prod:*"),
        "oidc-subject",
    ),
    "only one number of two": (
        github("StringEquals", "repo:acme@1234/shop:environment:prod"),
        "oidc-subject",
    ),
    "a subject without context": (github("StringEquals", "repo:acme/shop"), "oidc-subject"),
    "an issuer below another domain": (
        elsewhere(f"{HOST}.evil.io", {"StringEquals": {"x": "y"}}),
        "oidc-issuer",
    ),
    "an issuer misspelt": (
        elsewhere("token.actions.githubusercontent.co", {"StringEquals": {"x": "y"}}),
        "oidc-issuer",
    ),
    "an issuer with a digit": (elsewhere("token.actions.g1thubusercontent.com", {}), "oidc-issuer"),
    "an issuer in another alphabet": (
        elsewhere("token.actions.githubusercontent.com".replace("i", "\u0456"), {}),
        "oidc-issuer",
    ),
    "an issuer with a hyphen": (elsewhere("token-actions.githubusercontent.com", {}), "oidc-issuer"),
    "an issuer of the name": (elsewhere("github-actions-token.example.com", {}), "oidc-issuer"),
    "all actions": (policy(statement(None, action="sts:*")), "oidc-subject"),
    "every action": (policy(statement({"StringEquals": AUD}, action="*")), "oidc-subject"),
    "a list of actions": (
        policy(statement({"StringEquals": AUD}, action=["sts:TagSession", "sts:AssumeRoleWithWebIdentity"])),
        "oidc-subject",
    ),
    "not this action": (
        policy({"Effect": "Allow", "Principal": {"Federated": ARN}, "NotAction": "iam:*"}),
        "oidc-subject",
    ),
    "a statement that is no list": ({"Statement": statement({"StringEquals": AUD})}, "oidc-subject"),
    "an enterprise's own issuer": (
        elsewhere(f"{HOST}/acme-inc", {"StringEquals": {f"{HOST}/acme-inc:aud": "sts.amazonaws.com"}}),
        "oidc-subject",
    ),
    "an Enterprise Server's any repository": (
        elsewhere(
            "github.acme.example/_services/token",
            {"StringLike": {"github.acme.example/_services/token:sub": "repo:*"}},
        ),
        "oidc-subject",
    ),
    "every pod of a cluster": (
        elsewhere(EKS, {"StringEquals": {f"{EKS}:aud": "sts.amazonaws.com"}}),
        "oidc-subject",
    ),
    "every service account of a cluster": (
        elsewhere(EKS, {"StringLike": {f"{EKS}:sub": "system:serviceaccount:*:*"}}),
        "oidc-subject",
    ),
    "a log-in to any identity pool": (
        policy(
            statement(
                {"ForAnyValue:StringLike": {"cognito-identity.amazonaws.com:amr": "unauthenticated"}},
                provider="cognito-identity.amazonaws.com",
            )
        ),
        "oidc-subject",
    ),
    "any address that Google has verified": (
        policy(
            statement(
                {"StringEquals": {"accounts.google.com:email_verified": "true"}},
                provider="accounts.google.com",
            )
        ),
        "oidc-subject",
    ),
    "the main branch of anybody on GitLab": (
        elsewhere("gitlab.com", {"StringEquals": {"gitlab.com:ref": "main"}}),
        "oidc-subject",
    ),
    "every project on GitLab": (
        elsewhere("gitlab.com", {"StringLike": {"gitlab.com:sub": "project_path:*"}}),
        "oidc-subject",
    ),
    "any Terraform organisation": (
        elsewhere("app.terraform.io", {"StringEquals": {"app.terraform.io:aud": "aws.workload.identity"}}),
        "oidc-subject",
    ),
    "anybody with an AWS account": (
        policy({"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}),
        "trust-principal",
    ),
    "anybody but one": (
        policy(
            {"Effect": "Allow", "NotPrincipal": {"AWS": "arn:aws:iam::1:root"}, "Action": "sts:AssumeRole"}
        ),
        "trust-principal",
    ),
    "anybody with an external ID": (
        policy(
            {
                "Effect": "Allow",
                "Principal": "*",
                "Action": "sts:AssumeRole",
                "Condition": {"StringEquals": {"sts:ExternalId": "42"}},
            }
        ),
        "trust-principal",
    ),
}

HARMLESS = {
    "an environment": github("StringEquals", EXACT),
    "a numbered environment": github("StringEquals", NUMBERED),
    "both forms": github("StringEquals", [EXACT, NUMBERED]),
    "a branch": github("StringEquals", "repo:acme/shop:ref:refs/heads/main"),
    "a tag": github("StringEquals", "repo:acme/shop:ref:refs/tags/v1.2.3"),
    "pull requests": github("StringEquals", "repo:acme/shop:pull_request"),
    "numbered pull requests": github("StringEquals", "repo:acme@1/shop@2:pull_request"),
    "exactly, by StringLike": github("StringLike", EXACT),
    "release tags": github("StringLike", "repo:acme/shop:ref:refs/tags/v*"),
    "release branches": github("StringLike", "repo:acme/shop:ref:refs/heads/release/*"),
    "without regard to case": github("StringEqualsIgnoreCase", EXACT),
    "ForAnyValue": github("ForAnyValue:StringEquals", [EXACT]),
    "a list": github("StringEquals", [EXACT, "repo:acme/infra:ref:refs/heads/main"]),
    "a repository's odd name": github("StringEquals", "repo:acme-inc/shop.front_end-2:environment:prod eu"),
    "two statements": policy(FINE, statement({"StringEquals": {**AUD, f"{HOST}:sub": NUMBERED}})),
    "wide subject, exact repository and environment": policy(
        statement(
            {
                "StringLike": {f"{HOST}:sub": "repo:acme/*"},
                "StringEquals": {**AUD, f"{HOST}:repository": "acme/shop", f"{HOST}:environment": "prod"},
            }
        )
    ),
    "repository's number and branch": claims(repository_id="5678", ref="refs/heads/main"),
    "own reusable workflow": github(
        "StringEquals", "repo:acme/shop:job_workflow_ref:acme/ci/.github/workflows/deploy.yml@refs/heads/main"
    ),
    "subject and the actor as well": policy(
        statement({"StringEquals": {**AUD, f"{HOST}:sub": EXACT, f"{HOST}:actor": "octocat"}})
    ),
    "custom subject by numbers": github(
        "StringEquals", "repository_owner_id:1234:repository_id:5678:environment:prod"
    ),
    "audience of one's own": policy(
        statement({"StringEquals": {f"{HOST}:sub": EXACT, f"{HOST}:aud": "https://github.com/acme"}})
    ),
    "key in other letters": policy(
        statement({"StringEquals": {f"{HOST}:SUB".replace("token", "Token"): EXACT, **AUD}})
    ),
    "a statement that is no list": {"Statement": FINE},
    "denied": policy(FINE, {**statement(None), "Effect": "Deny"}),
    "an enterprise's own issuer": elsewhere(
        f"{HOST}/acme-inc",
        {
            "StringEquals": {
                f"{HOST}/acme-inc:aud": "sts.amazonaws.com",
                f"{HOST}/acme-inc:sub": EXACT,
            }
        },
    ),
    "an Enterprise Server": elsewhere(
        "github.acme.example/_services/token",
        {
            "StringEquals": {
                "github.acme.example/_services/token:sub": EXACT,
                "github.acme.example/_services/token:aud": "sts.amazonaws.com",
            }
        },
    ),
    "data residence": elsewhere(
        "token.actions.acme.ghe.com",
        {
            "StringEquals": {
                "token.actions.acme.ghe.com:sub": EXACT,
                "token.actions.acme.ghe.com:aud": "sts.amazonaws.com",
            }
        },
    ),
    "a pod's service account": elsewhere(
        EKS,
        {
            "StringEquals": {
                f"{EKS}:sub": "system:serviceaccount:kube-system:ebs-csi-controller-sa",
                f"{EKS}:aud": "sts.amazonaws.com",
            }
        },
    ),
    "a namespace's service accounts": elsewhere(
        EKS, {"StringLike": {f"{EKS}:sub": "system:serviceaccount:vision:*"}}
    ),
    "a pod without audience": elsewhere(EKS, {"StringEquals": {f"{EKS}:sub": "system:serviceaccount:a:b"}}),
    "a GitLab project": elsewhere(
        "gitlab.com", {"StringLike": {"gitlab.com:sub": "project_path:acme/shop:ref_type:branch:ref:*"}}
    ),
    "a Terraform workspace": elsewhere(
        "app.terraform.io",
        {"StringLike": {"app.terraform.io:sub": "organization:acme:project:p:workspace:w:run_phase:*"}},
    ),
    "a company's own issuer": elsewhere(
        "login.acme.example", {"StringEquals": {"login.acme.example:aud": "0oa1234"}}
    ),
    "Cognito": policy(
        statement(
            {"StringEquals": {"cognito-identity.amazonaws.com:aud": "us-east-1:12345678"}},
            provider="cognito-identity.amazonaws.com",
        )
    ),
    "SAML": policy(
        statement(
            {"StringEquals": {"SAML:aud": "https://signin.aws.amazon.com/saml"}},
            provider="arn:aws:iam::123456789012:saml-provider/okta",
            action="sts:AssumeRoleWithSAML",
        )
    ),
    "a service": policy(
        {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ),
    "pod identity": policy(
        {
            "Effect": "Allow",
            "Principal": {"Service": "pods.eks.amazonaws.com"},
            "Action": ["sts:AssumeRole", "sts:TagSession"],
        }
    ),
    "an account": policy(
        {
            "Effect": "Allow",
            "Principal": {"AWS": "arn:aws:iam::123456789012:root"},
            "Action": "sts:AssumeRole",
        }
    ),
    "an organisation": policy(
        {
            "Effect": "Allow",
            "Principal": {"AWS": "*"},
            "Action": "sts:AssumeRole",
            "Condition": {"StringEquals": {"aws:PrincipalOrgID": "o-acme"}},
        }
    ),
    "roles of a name in the organisation": policy(
        {
            "Effect": "Allow",
            "Principal": {"AWS": "*"},
            "Action": "sts:AssumeRole",
            "Condition": {"ArnLike": {"aws:PrincipalArn": "arn:aws:iam::123456789012:role/deploy-*"}},
        }
    ),
}


@pytest.mark.parametrize("form", ["json", "object"])
@pytest.mark.parametrize("case", HOSTILE)
def test_oidc_4_a_hostile_trust_policy_blocks(pack, case, form):
    document, rule = HOSTILE[case]
    notes = pack.register(ROLE, {"assumeRolePolicy": json.dumps(document) if form == "json" else document})
    assert rule in {note.rule for note in notes if note.mandatory}, notes
    assert all(". " in note.message for note in notes), "each says the way out"


@pytest.mark.parametrize("form", ["json", "object"])
@pytest.mark.parametrize("case", HARMLESS)
def test_oidc_4_a_harmless_trust_policy_says_nothing(pack, case, form):
    document = HARMLESS[case]
    assert (
        pack.register(ROLE, {"assumeRolePolicy": json.dumps(document) if form == "json" else document}) == []
    )
    assert pack.finish() == []


def test_there_are_at_least_forty_of_each():
    assert len(HOSTILE) >= 40
    assert len(HARMLESS) >= 40


def test_cloud_control_s_role_is_judged_too(pack):
    (note,) = pack.register(
        "aws-native:iam:Role", {"assumeRolePolicyDocument": github("StringLike", "repo:*")}
    )
    assert note.rule == "oidc-subject"


def test_an_account_s_provider_that_imitates_github_blocks(pack):
    type_ = "aws:iam/openIdConnectProvider:OpenIdConnectProvider"
    (note,) = pack.register(type_, {"url": f"https://{HOST}.evil.io"})
    assert note.rule == "oidc-issuer"
    assert pack.register(type_, {"url": f"https://{HOST}"}) == []
    assert pack.register(type_, {"url": f"https://{EKS}"}) == []


@pytest.mark.parametrize(
    "sub", ["repo:acme/shop:*", "repo:acme/shop:ref:refs/heads/*", "repo:acme@1/shop@2:*"]
)
def test_a_whole_repository_is_accepted_where_operations_say_so(pack, sub):
    pack.configure(wholeRepository="accept")
    assert pack.register(ROLE, {"assumeRolePolicy": github("StringLike", sub)}) == []
    (note,) = pack.register(ROLE, {"assumeRolePolicy": github("StringLike", "repo:acme/*")})
    assert note.mandatory


def test_a_repository_of_an_owner_off_the_list_blocks(pack):
    pack.configure(githubOwners=["ACME"])
    assert pack.register(ROLE, {"assumeRolePolicy": github("StringEquals", [EXACT, NUMBERED])}) == []
    (note,) = pack.register(
        ROLE, {"assumeRolePolicy": github("StringEquals", "repo:evil/shop:environment:prod")}
    )
    assert "allowed owners: ACME" in note.message
    mixed = github("StringEquals", [EXACT, "repo:evil/shop:environment:prod"])
    (note,) = pack.register(ROLE, {"assumeRolePolicy": mixed})
    assert "evil" in note.message
    numbers = github("StringEquals", "repository_id:5678:environment:prod")
    assert pack.register(ROLE, {"assumeRolePolicy": numbers}) == []
    (note,) = pack.finish()
    assert "not evaluated: [oidc-subject]" in note.message


def test_a_server_of_one_s_own_that_looks_like_github_is_accepted_by_name(pack):
    issuer = "github-actions-token.acme.example"
    document = elsewhere(
        issuer, {"StringEquals": {f"{issuer}:sub": EXACT, f"{issuer}:aud": "sts.amazonaws.com"}}
    )
    assert pack.register(ROLE, {"assumeRolePolicy": document})
    pack.configure(githubIssuers=[f"https://{issuer}"])
    assert pack.register(ROLE, {"assumeRolePolicy": document}) == []


@pytest.mark.parametrize("document", ["{", "[]", "5", {"Statements": []}, {"Version": "2012-10-17"}])
def test_a_trust_policy_that_cannot_be_read_is_no_pass(pack, document):
    assert pack.register(ROLE, {"assumeRolePolicy": document}) == []
    (note,) = pack.finish()
    assert "not evaluated: [oidc-subject] r: assumeRolePolicy (" in note.message


def test_elements_in_small_letters_are_read_too(pack):
    document = {
        "statement": [
            {"effect": "Allow", "principal": {"federated": ARN}, "action": "sts:AssumeRoleWithWebIdentity"}
        ]
    }
    assert {note.rule for note in pack.register(ROLE, {"assumeRolePolicy": document})} == {
        "oidc-subject",
        "oidc-audience",
    }
