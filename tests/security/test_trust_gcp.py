"""OIDC-4 and OIDC-5 on Google Cloud: who is in a pool, and what its members are given."""

from __future__ import annotations

import json

import pytest

PROVIDER = "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider"
MEMBER = "gcp:serviceaccount/iAMMember:IAMMember"
BINDING = "gcp:serviceaccount/iAMBinding:IAMBinding"
POLICY = "gcp:serviceaccount/iAMPolicy:IAMPolicy"
ISSUER = "https://token.actions.githubusercontent.com"
POOL = "iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/ci"
MAPPING = {
    "google.subject": "assertion.repository_id + ':' + assertion.environment",
    "attribute.repository": "assertion.repository",
    "attribute.owner": "assertion.repository_owner_id",
    "attribute.environment": "assertion.environment",
}


def provider(condition=None, *, issuer=ISSUER, **more):
    made = {
        "workloadIdentityPoolId": "ci",
        "oidc": {"issuerUri": issuer},
        "attributeMapping": MAPPING,
        **more,
    }
    return made if condition is None else {**made, "attributeCondition": condition}


def member(what, kind="principalSet"):
    return {"role": "roles/iam.workloadIdentityUser", "member": f"{kind}://{POOL}/{what}"}


HOSTILE_PROVIDERS = {
    "no condition": provider(),
    "an empty condition": provider("  "),
    "true": provider("true"),
    "anybody's environment": provider("assertion.environment == 'prod'"),
    "anybody's branch": provider("assertion.ref == 'refs/heads/main'"),
    "an actor": provider("assertion.actor == 'octocat'"),
    "a reusable workflow": provider(
        "assertion.job_workflow_ref == 'acme/ci/.github/workflows/deploy.yml@refs/heads/main'"
    ),
    "an owner by name": provider("assertion.repository_owner == 'acme'"),
    "an owner by name, in brackets": provider("(assertion['repository_owner'] == \"acme\")"),
    "owners by name": provider("assertion.repository_owner in ['acme', 'acme-labs']"),
    "everybody but one": provider("assertion.repository_owner_id != '1234'"),
    "not one": provider("!(assertion.repository == 'evil/repo')"),
    "or": provider("assertion.repository == 'acme/shop' || assertion.actor == 'octocat'"),
    "or, hidden": provider("assertion.repository_id == '5678' && true || assertion.ref == 'refs/heads/main'"),
    "names that begin alike": provider("assertion.repository.startsWith('acme')"),
    "a subject that begins with any": provider("assertion.sub.startsWith('repo:')"),
    "names that end alike": provider("assertion.repository.endsWith('/shop')"),
    "names that contain": provider("assertion.repository.contains('acme')"),
    "an expression that is not anchored": provider("assertion.repository.matches('acme/shop')"),
    "an expression with alternatives": provider("assertion.repository.matches('^acme/shop|x$')"),
    "an expression for any": provider("assertion.sub.matches('^repo:.*$')"),
    "a comparison turned round": provider("(assertion.repository == 'acme/shop') == false"),
    "false is not nobody when negated": provider("!false"),
    "the owner behind a comment": provider("true // assertion.repository == 'acme/shop'"),
    "that there is a claim": provider("has(assertion.repository)"),
    "a claim with itself": provider("assertion.repository == assertion.repository"),
    "an attribute that is not mapped": provider("attribute.repo == 'acme/shop'"),
    "somebody else's workflow": provider(
        "assertion.repository == 'acme/shop' && "
        "assertion.job_workflow_ref == 'evil/ci/.github/workflows/x.yml@refs/heads/main'"
    ),
    "an issuer that imitates": provider("assertion.repository_id == '5678'", issuer=f"{ISSUER}.evil.io"),
    "an issuer over http": provider("assertion.repository_id == '5678'", issuer="http://login.acme.example"),
    "everybody on GitLab": provider(issuer="https://gitlab.com"),
}
HARMLESS_PROVIDERS = {
    "a repository": provider("assertion.repository == 'acme/shop'"),
    "a repository by number": provider('assertion.repository_id == "5678"'),
    "an owner by number": provider("assertion.repository_owner_id == '1234'"),
    "a mapped attribute": provider("attribute.repository == 'acme/shop'"),
    "a mapped owner": provider("attribute.owner == '1234'"),
    "repositories": provider("assertion.repository in ['acme/shop', 'acme/infra']"),
    "the other way round": provider("'acme/shop' == assertion.repository"),
    "and": provider("assertion.repository_owner_id == '1234' && assertion.ref == 'refs/heads/main'"),
    "and or": provider(
        "assertion.repository == 'acme/shop' && "
        "(assertion.ref == 'refs/heads/main' || assertion.environment == 'prod')"
    ),
    "owner by name and number": provider(
        "assertion.repository_owner == 'acme' && assertion.repository_owner_id == '1234'"
    ),
    "a subject": provider("assertion.sub == 'repo:acme/shop:environment:prod'"),
    "subjects": provider(
        "assertion.sub in ['repo:acme/shop:pull_request', 'repo:acme@1/shop@2:pull_request']"
    ),
    "a subject that begins with the repository": provider("assertion.sub.startsWith('repo:acme/shop:')"),
    "an anchored expression": provider("assertion.repository.matches('^acme/shop$')"),
    "a string that is raw": provider("assertion.sub.matches(r'^repo:acme/shop:environment:prod$')"),
    "or false": provider("assertion.repository == 'acme/shop' || false"),
    "a number as text": provider("string(assertion.repository_id) == '5678'"),
    "with a comment": provider("assertion.repository == 'acme/shop' // not https://evil.io"),
    "small letters": provider("assertion.repository.lowerAscii() == 'acme/shop'"),
    "GitLab with a condition": provider("assertion.namespace_id == '42'", issuer="https://gitlab.com"),
    "a cluster": provider(issuer="https://oidc.eks.us-east-1.amazonaws.com/id/ABC"),
    "a company's own": provider(issuer="https://login.acme.example"),
    "not GitHub but AWS": {"workloadIdentityPoolId": "ci", "aws": {"accountId": "123456789012"}},
    "disabled": provider(disabled=True),
}
HOSTILE_MEMBERS = {
    "the whole pool": member("*"),
    "an organisation's repositories": member("attribute.repository/acme/*"),
    "an owner": member("attribute.repository_owner/acme"),
    "an owner's number": member("attribute.repository_owner_id/1234"),
    "a subject of every context": member("subject/repo:acme/shop:ref:refs/heads/*", kind="principal"),
    "a subject that is a whole repository": member("subject/repo:acme/shop", kind="principal"),
}
HARMLESS_MEMBERS = {
    "a repository": member("attribute.repository/acme/shop"),
    "a repository's number": member("attribute.repository_id/5678"),
    "a subject": member("subject/repo:acme/shop:environment:prod", kind="principal"),
    "a numbered subject": member("subject/repo:acme@1/shop@2:environment:prod", kind="principal"),
    "a bounded subject": member("subject/5678:prod", kind="principal"),
    "a mapped attribute": member("attribute.ci_subject/5678:prod"),
    "a pod": {
        "role": "roles/storage.objectUser",
        "member": "principal://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/"
        "p.svc.id.goog/subject/ns/vision/sa/team",
    },
    "a service account": {"role": "roles/viewer", "member": "serviceAccount:ci@p.iam.gserviceaccount.com"},
    "a pod's classic name": {"role": "roles/viewer", "member": "serviceAccount:p.svc.id.goog[vision/team]"},
    "a group": {"role": "roles/viewer", "member": "group:team@acme.example"},
}


@pytest.mark.parametrize("case", HOSTILE_PROVIDERS)
def test_oidc_5_a_provider_that_lets_others_in_blocks(pack, case):
    notes = pack.register(PROVIDER, HOSTILE_PROVIDERS[case])
    assert [note.mandatory for note in notes] == [True], notes
    assert notes[0].rule in {"oidc-subject", "oidc-issuer"}


@pytest.mark.parametrize("case", HARMLESS_PROVIDERS)
def test_oidc_5_a_harmless_provider_says_nothing(pack, case):
    assert pack.register(PROVIDER, HARMLESS_PROVIDERS[case]) == []
    assert pack.finish() == []


@pytest.mark.parametrize("case", HOSTILE_MEMBERS)
def test_oidc_5_a_member_that_is_too_many_blocks(pack, case):
    props = HOSTILE_MEMBERS[case]
    assert [note.rule for note in pack.register(MEMBER, props)] == ["oidc-subject"]
    several = {"role": props["role"], "members": ["group:a@acme.example", props["member"]]}
    assert [note.rule for note in pack.register(BINDING, several)] == ["oidc-subject"]
    document = json.dumps({"bindings": [{"role": props["role"], "members": [props["member"]]}]})
    assert [note.rule for note in pack.register(POLICY, {"policyData": document})] == ["oidc-subject"]


@pytest.mark.parametrize("case", HARMLESS_MEMBERS)
@pytest.mark.parametrize(
    "type_", [MEMBER, "gcp:storage/bucketIAMMember:BucketIAMMember", "gcp:projects/iAMMember:IAMMember"]
)
def test_oidc_5_a_harmless_member_says_nothing(pack, case, type_):
    assert pack.register(type_, HARMLESS_MEMBERS[case]) == []
    assert pack.finish() == []


@pytest.mark.parametrize(
    ("condition", "blocks"),
    [
        ("assertion.repository_id == '5678'", False),
        ("assertion.repository == 'acme/shop'", False),
        ("assertion.repository_owner_id == '1234'", True),
    ],
)
def test_what_an_environment_s_member_lets_in_is_told_by_the_pool_s_provider(pack, condition, blocks):
    assert pack.register(PROVIDER, provider(condition)) == []
    notes = pack.register(MEMBER, member("attribute.environment/prod"))
    assert [note.mandatory for note in notes] == [True] * blocks


def test_an_environment_s_member_of_a_pool_out_of_sight_is_no_pass(pack):
    assert pack.register(MEMBER, member("attribute.environment/prod")) == []
    (note,) = pack.finish()
    assert "not evaluated: [oidc-subject]" in note.message
    assert "pool ci" in note.message


def test_an_owner_by_name_is_accepted_where_operations_say_so(pack):
    pack.configure(ownerByName="accept")
    assert pack.register(PROVIDER, provider("assertion.repository_owner == 'acme'")) == []
    (note,) = pack.register(PROVIDER, provider("assertion.repository_owner != 'acme'"))
    assert note.mandatory


def test_a_provider_of_an_owner_off_the_list_blocks(pack):
    pack.configure(githubOwners=["acme"])
    assert pack.register(PROVIDER, provider("assertion.repository == 'acme/shop'")) == []
    (note,) = pack.register(PROVIDER, provider("assertion.repository == 'evil/shop'"))
    assert "evil" in note.message


@pytest.mark.parametrize("condition", ["assertion.repository == ", "a ? b : c", "x.map(y, z) == 'q'", "@"])
def test_a_condition_that_cannot_be_read_is_no_pass(pack, condition):
    notes = pack.register(PROVIDER, provider(condition))
    notes += pack.finish()
    assert [note.rule for note in notes] == ["oidc-subject"]


def test_a_policy_that_cannot_be_read_is_no_pass(pack):
    assert pack.register(POLICY, {"policyData": "{"}) == []
    (note,) = pack.finish()
    assert "not evaluated: [public-access]" in note.message


GUARDED = {"attributeCondition": "assertion.repository_owner_id == '1'", "workloadIdentityPoolId": "ci"}


@pytest.mark.parametrize(
    ("mapping", "member"),
    [
        ({"attribute.env": "assertion.environment"}, "attribute.env/prod"),
        ({"attribute.repository": "assertion.workflow"}, "attribute.repository/acme/shop"),
        ({"google.subject": "assertion.actor"}, "subject/somebody"),
    ],
)
def test_oidc_4_a_member_is_judged_by_what_its_attribute_holds(pack, mapping, member):
    """A claim that anybody sets is no more under another's name."""
    provider = {"oidc": {"issuerUri": "https://token.actions.githubusercontent.com"}, **GUARDED}
    pack.register(
        "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
        {**provider, "attributeMapping": {"google.subject": "assertion.sub", **mapping}},
    )
    kind = "principal" if member.startswith("subject") else "principalSet"
    path = "projects/1/locations/global/workloadIdentityPools/ci"
    notes = pack.register(
        "gcp:storage/bucketIAMMember:BucketIAMMember",
        {"role": "r", "member": f"{kind}://iam.googleapis.com/{path}/{member}"},
    )
    assert notes
    assert {note.rule for note in notes} == {"oidc-subject"}


def test_an_attribute_that_an_expression_makes_is_never_a_pass(pack):
    provider = {"oidc": {"issuerUri": "https://token.actions.githubusercontent.com"}, **GUARDED}
    pack.register(
        "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
        {**provider, "attributeMapping": {"attribute.who": "assertion.repository.extract('{owner}/')"}},
    )
    pool = "principalSet://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/ci"
    notes = pack.register(
        "gcp:storage/bucketIAMMember:BucketIAMMember", {"role": "r", "member": f"{pool}/attribute.who/acme"}
    )
    notes += pack.finish()  # what could not be evaluated is said at the end
    assert any("is made by an expression" in note.message for note in notes)
