from __future__ import annotations

import json

import pytest

from gpuplatform.aws import AwsCiIdentity, AwsCiIdentityArgs, AwsStateStore, AwsStateStoreArgs, ci_role_arn
from gpuplatform.config import Github
from gpuplatform.errors import Refusal
from gpuplatform.sandbox.sdk_types import check
from gpuplatform.trust import VARIABLES, trust

ACCOUNT = "123456789012"
PROVIDER = f"arn:aws:iam::{ACCOUNT}:oidc-provider/token.actions.githubusercontent.com"
CLAIM = "token.actions.githubusercontent.com"
LOOKS = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "eks:List", "Resource": "*"}]}
ACTS = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "eks:Tag", "Resource": "*"}]}


def arguments(tags, state, *, policies=None, trusted=None, **github):
    given = {"repository": "acme/vision", "environments": ("prod",)} | github
    return AwsCiIdentityArgs(
        name="vision-prod",
        region="us-east-1",
        trust=trusted or trust(Github.model_validate(given)),
        tags=tags,
        account=ACCOUNT,
        policies=policies or {"preview": (LOOKS,), "deploy": (LOOKS, ACTS)},
        state=state,
    )


def state_of(tags):
    args = AwsStateStoreArgs(name="vision-prod", region="us-east-1", tags=tags, account=ACCOUNT)
    return AwsStateStore("state", args)


@pytest.fixture
def ci(run, tags):
    def make(**changes):
        return run(lambda: AwsCiIdentity("ci", arguments(tags, state_of(tags), **changes)))

    return make


def role(recorded, which):
    return recorded.named_type("aws:iam/role:Role", f"ci-ci-{which}")


def condition(recorded, which):
    [statement] = json.loads(role(recorded, which).inputs["assumeRolePolicy"])["Statement"]
    assert statement["Action"] == "sts:AssumeRoleWithWebIdentity"
    assert statement["Principal"] == {"Federated": PROVIDER}
    return statement["Condition"]


@pytest.mark.parametrize(
    ("changes", "preview", "deploy"),
    [
        ({}, ["repo:acme/vision:pull_request"], ["repo:acme/vision:environment:prod"]),
        (
            {"owner_id": "1", "repository_id": "2"},
            ["repo:acme@1/vision@2:pull_request"],
            ["repo:acme@1/vision@2:environment:prod"],
        ),
        (
            {"owner_id": "1", "repository_id": "2", "subjects": "both"},
            ["repo:acme/vision:pull_request", "repo:acme@1/vision@2:pull_request"],
            ["repo:acme/vision:environment:prod", "repo:acme@1/vision@2:environment:prod"],
        ),
    ],
)
def test_oidc_1_both_forms_of_subject_are_exact_values(ci, changes, preview, deploy):
    recorded = ci(**changes)
    assert condition(recorded, "preview")["StringEquals"][f"{CLAIM}:sub"] == preview
    assert condition(recorded, "deploy")["StringEquals"][f"{CLAIM}:sub"] == deploy


def test_oidc_3_deployments_are_trusted_by_environment_and_never_by_branch(ci):
    subjects = condition(ci(environments=("prod", "staging")), "deploy")["StringEquals"][f"{CLAIM}:sub"]
    assert subjects == ["repo:acme/vision:environment:prod", "repo:acme/vision:environment:staging"]
    assert not [subject for subject in subjects if ":ref:" in subject]


def test_oidc_4_the_audience_and_the_subject_are_compared_whole_in_one_statement(ci):
    recorded = ci()
    for which in ("preview", "deploy"):
        found = condition(recorded, which)
        assert set(found) == {"StringEquals"}
        assert set(found["StringEquals"]) == {f"{CLAIM}:aud", f"{CLAIM}:sub"}
        assert found["StringEquals"][f"{CLAIM}:aud"] == "sts.amazonaws.com"
        assert "*" not in json.dumps(found)


def test_oidc_8_a_session_is_as_long_as_a_deployment_may_take(ci):
    recorded = ci(session_minutes=180)
    assert role(recorded, "deploy").inputs["maxSessionDuration"] == 10_800
    assert role(recorded, "preview").inputs["maxSessionDuration"] == 3600
    assert role(ci(), "deploy").inputs["maxSessionDuration"] == 7200


@pytest.mark.parametrize("minutes", [59, 721])
def test_oidc_8_a_session_that_aws_has_not_is_refused(ci, minutes):
    from dataclasses import replace

    known = trust(Github.model_validate({"repository": "acme/vision", "environments": ("prod",)}))
    with pytest.raises(Refusal) as caught:
        ci(trusted=replace(known, session_minutes=minutes))
    assert caught.value.where == "identity.github.session_minutes"


def test_oidc_9_the_accounts_provider_has_no_thumbprint_and_outlives_the_environment(ci):
    [provider] = ci().of_type("aws:iam/openIdConnectProvider:OpenIdConnectProvider")
    assert provider.inputs["url"] == f"https://{CLAIM}"
    assert provider.inputs["clientIdLists"] == ["sts.amazonaws.com"]
    assert "thumbprintLists" not in provider.inputs
    assert provider.protect


def test_oidc_9_where_the_account_trusts_github_already_no_provider_is_made(ci):
    recorded = ci(create_provider=False)
    assert recorded.of_type("aws:iam/openIdConnectProvider:OpenIdConnectProvider") == ()
    assert condition(recorded, "deploy")


def test_each_role_has_its_own_policies_and_no_other(ci):
    recorded = ci()
    attached = {}
    for attachment in recorded.of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment"):
        attached.setdefault(attachment.name.rpartition("-")[0], []).append(attachment.name)
    assert attached == {
        "ci-ci-preview": ["ci-ci-preview-1"],
        "ci-ci-deploy": ["ci-ci-deploy-1", "ci-ci-deploy-2"],
    }
    texts = {r.name: json.loads(r.inputs["policy"]) for r in recorded.of_type("aws:iam/policy:Policy")}
    assert texts == {"ci-ci-preview-1": LOOKS, "ci-ci-deploy-1": LOOKS, "ci-ci-deploy-2": ACTS}


@pytest.mark.parametrize("policies", [{"preview": (LOOKS,)}, {"preview": (LOOKS,), "deploy": (ACTS,) * 11}])
def test_a_role_without_rights_or_with_too_many_policies_is_refused(ci, policies):
    with pytest.raises(Refusal) as caught:
        ci(policies=policies)
    assert caught.value.where == "permissions.deploy"


def inline(recorded, which):
    policy = recorded.named_type("aws:iam/rolePolicy:RolePolicy", f"ci-ci-{which}").inputs["policy"]
    return {s["Sid"]: s for s in json.loads(policy)["Statement"]}


def test_a_preview_reads_the_state_and_writes_nothing(ci):
    allowed = [s for s in inline(ci(), "preview").values() if s["Effect"] == "Allow"]
    actions = {action for s in allowed for action in s["Action"]}
    assert actions == {"s3:ListBucket", "s3:GetObject", "kms:Decrypt"}


def test_a_deployment_reads_and_writes_the_state_and_its_secrets_but_no_version_of_it(ci):
    allowed = [s for s in inline(ci(), "deploy").values() if s["Effect"] == "Allow"]
    actions = {action for s in allowed for action in s["Action"]}
    assert {"s3:PutObject", "s3:DeleteObject", "kms:Encrypt", "kms:Decrypt", "kms:GenerateDataKey"} <= actions
    assert not [action for action in actions if "Version" in action or "*" in action]


@pytest.mark.parametrize("which", ["preview", "deploy"])
def test_no_role_can_widen_its_own_rights_or_touch_the_states_history(ci, which):
    recorded = ci()
    found = inline(recorded, which)
    rights = found["NotItsOwnRights"]
    assert (rights["Effect"], rights["Action"]) == ("Deny", "iam:*")
    for resource in (role(recorded, "preview"), role(recorded, "deploy")):
        assert resource.inputs["path"] == "/gpuplatform-ci/"
    for policy in recorded.of_type("aws:iam/policy:Policy"):
        assert policy.inputs["path"] == "/gpuplatform-ci/"
    assert rights["Resource"] == [
        f"arn:aws:iam::{ACCOUNT}:role/gpuplatform-ci/*",
        f"arn:aws:iam::{ACCOUNT}:policy/gpuplatform-ci/*",
        PROVIDER,
    ]
    assert {"s3:DeleteObjectVersion", "s3:PutBucketOwnershipControls"} <= set(
        found["NotTheStateItself"]["Action"]
    )
    denied = set(found["NotTheStatesKey"]["Action"])
    assert {"kms:CreateGrant", "kms:DisableKey", "kms:PutKeyPolicy", "kms:ScheduleKeyDeletion"} <= denied
    assert not denied & {"kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"}


def test_the_deploying_role_is_known_before_it_exists(ci):
    recorded = ci()
    [component] = [r.urn for r in recorded.resources if r.type == "gpuplatform:index:AwsCiIdentity"]
    outputs = recorded.outputs[component]
    assert outputs["deploy"] == ci_role_arn(ACCOUNT, "us-east-1", "vision-prod", "deploy")
    assert outputs["preview"] == ci_role_arn(ACCOUNT, "us-east-1", "vision-prod", "preview")
    assert outputs["deploy"].endswith(":role/gpuplatform-ci/vision-prod-us-east-1-ci-deploy")


def test_a_workflow_finds_its_variables(ci):
    recorded = ci()
    [component] = [r.urn for r in recorded.resources if r.type == "gpuplatform:index:AwsCiIdentity"]
    assert set(recorded.outputs[component]["variables"]) == set(VARIABLES["aws"]) - {"BACKEND_URL"}


def test_no_long_lived_key_is_made(ci):
    assert not [r.name for r in ci().resources if "accessKey" in r.type or "iam/user" in r.type]


def test_every_input_is_one_of_the_sdk_s(ci):
    problems = {r.name: found for r in ci().resources if r.custom and (found := check(r.type, r.inputs))}
    assert problems == {}
