"""AWS's documents: how large, how narrow, and that nobody gets out of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from iam_evaluator import Iam, as_list
from samples import STACKS, config_of, recording_of

from gpuplatform.config import Aws
from gpuplatform.errors import Refusal
from gpuplatform.permissions import ROLES, aws
from gpuplatform.permissions.aws_rows import TABLE

ACCOUNT = "123456789012"
TAGS = {"environment": "prod", "managed-by": "gpuplatform"}
SCOPE = aws.AwsScope(account=ACCOUNT, region="us-east-1", name="vision-prod", tags=TAGS)
EVERYTHING = frozenset(TABLE)
BOUNDARY = aws.boundary_arn(SCOPE)
OURS = {f"aws:ResourceTag/{key}": value for key, value in TAGS.items()}
ASKED = {f"aws:RequestTag/{key}": value for key, value in TAGS.items()}
READ = re.compile(r"[a-z0-9-]+:(Describe|Get|List|View)\w+")


def _iam(resource: str) -> str:
    return f"arn:aws:iam::{ACCOUNT}:{resource}"


def _ec2(resource: str) -> str:
    return f"arn:aws:ec2:us-east-1:{ACCOUNT}:{resource}"


DEPLOY = Iam(*aws.policies("deploy", EVERYTHING, SCOPE))
PREVIEW = Iam(*aws.policies("preview", EVERYTHING, SCOPE))
CI_ROLES = [_iam(f"role/gpuplatform-ci/vision-prod-us-east-1-ci-{role}") for role in ROLES]
OURS_ROLE = _iam("role/vision-prod-us-east-1-nodes")


def _allow_statements() -> Iterator[dict[str, Any]]:
    for role in ROLES:
        for document in aws.policies(role, EVERYTHING, SCOPE):
            yield from (one for one in document["Statement"] if one["Effect"] == "Allow")


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", ["vision-prod", "a-name-of-twenty-chr-environment"])
@pytest.mark.parametrize("buckets", [0, 20])
def test_documents_fit_a_role(role: str, name: str, buckets: int) -> None:
    named = tuple(
        f"a-bucket-of-somebody-s-own-choice-that-is-quite-long-{number}" for number in range(buckets)
    )
    scope = aws.AwsScope(
        account=ACCOUNT, region="ap-southeast-1", name=name, tags=TAGS, buckets=named, emptied=named
    )
    documents = aws.policies(role, EVERYTHING, scope)
    assert 0 < len(documents) <= 10
    for document in documents:
        assert len(re.sub(r"\s", "", json.dumps(document))) <= 6144
        assert document["Version"] == "2012-10-17"
        assert json.loads(json.dumps(document)) == document


def test_what_no_role_can_hold_is_refused() -> None:
    named = tuple(f"{'long' * 14}-{number}" for number in range(900))
    scope = aws.AwsScope(account=ACCOUNT, region="us-east-1", name="x", buckets=named)
    with pytest.raises(Refusal) as refused:
        aws.policies("deploy", EVERYTHING, scope)
    assert "at most 10" in refused.value.rule
    assert refused.value.way_out


def test_splitting_loses_no_action() -> None:
    named = tuple(f"{'long' * 12}-{number}" for number in range(60))
    scope = aws.AwsScope(account=ACCOUNT, region="us-east-1", name="x", buckets=named)
    evaluated = Iam(*aws.policies("deploy", EVERYTHING, scope))
    wanted = {action.partition("#")[0] for row in TABLE.values() for action in row.granted("deploy")}
    wanted -= {"s3:DeleteObject", "s3:DeleteObjectVersion", "s3:ListBucketVersions"}
    found = {one for statement in evaluated.statements for one in as_list(statement["Action"])}
    assert wanted <= found
    assert evaluated.allows("s3:PutBucketPolicy", f"arn:aws:s3:::{named[-1]}")


def test_no_action_is_a_wildcard_without_a_reason() -> None:
    used = set()
    documents = [
        *(each for role in ROLES for each in aws.policies(role, EVERYTHING, SCOPE)),
        aws.boundary(SCOPE),
    ]
    for document in documents:
        for statement in document["Statement"]:
            used |= {action for action in as_list(statement["Action"]) if "*" in action or "?" in action}
            assert "NotAction" not in statement
            assert "NotResource" not in statement
    assert used == aws.WILDCARDS.keys()
    assert all(len(reason) > 20 for reason in aws.WILDCARDS.values())


def test_the_roles_themselves_are_allowed_no_wildcard() -> None:
    assert [action for one in _allow_statements() for action in one["Action"] if "*" in action] == []


def test_no_change_is_allowed_on_everything_without_a_reason() -> None:
    wide = {
        action
        for one in _allow_statements()
        if "*" in one["Resource"]
        for action in one["Action"]
        if not READ.fullmatch(action)
    }
    assert wide == aws.RESOURCE_WIDE.keys()
    assert all(len(reason) > 20 for reason in aws.RESOURCE_WIDE.values())


NAMED = ("vision-prod", "oidc.eks.us-east-1.amazonaws.com", "aws-service-role/")
UNCONDITIONED = {"security-group-rule/*": "a rule has no tags before it exists; its group is checked"}


def test_every_change_is_bound_to_names_or_tags_or_the_moment_of_creation() -> None:
    for one in _allow_statements():
        if all(READ.fullmatch(action) for action in one["Action"]):
            continue
        for resource in one["Resource"]:
            named = any(name in resource for name in NAMED)
            known = any(resource.endswith(ending) for ending in UNCONDITIONED)
            assert named or known or one.get("Condition"), (one["Action"], resource)


def test_every_read_without_a_name_is_of_the_region() -> None:
    unnamed = [one for one in _allow_statements() if one["Resource"] == ["*"]]
    assert unnamed
    for one in unnamed:
        if all(READ.fullmatch(action) for action in one["Action"]) and one["Action"] != [
            "sts:GetCallerIdentity"
        ]:
            assert one["Condition"] == {"StringEquals": {"aws:RequestedRegion": "us-east-1"}}


def test_a_preview_changes_nothing() -> None:
    for one in PREVIEW.statements:
        assert one["Effect"] == "Allow"
        assert [action for action in one["Action"] if not READ.fullmatch(action)] == []


@pytest.mark.parametrize("ci_role", CI_ROLES)
@pytest.mark.parametrize(
    "action",
    [
        "iam:AttachRolePolicy",
        "iam:DeleteRole",
        "iam:DeleteRolePolicy",
        "iam:DetachRolePolicy",
        "iam:PassRole",
        "iam:PutRolePermissionsBoundary",
        "iam:PutRolePolicy",
        "iam:TagRole",
        "iam:UpdateAssumeRolePolicy",
        "iam:UpdateRole",
    ],
)
def test_the_pipeline_cannot_change_its_own_roles(action: str, ci_role: str) -> None:
    context = {
        "iam:PermissionsBoundary": BOUNDARY,
        "iam:PolicyARN": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy",
        "iam:PassedToService": "ec2.amazonaws.com",
    }
    assert not DEPLOY.allows(action, ci_role, **context)
    assert not PREVIEW.allows(action, ci_role, **context)
    denied = Iam({"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}, *_deploy())
    assert not denied.allows(action, ci_role, **context), "denied whatever else is allowed"


def _deploy() -> tuple[dict[str, Any], ...]:
    return aws.policies("deploy", EVERYTHING, SCOPE)


@pytest.mark.parametrize(
    "action",
    ["iam:CreatePolicyVersion", "iam:SetDefaultPolicyVersion", "iam:DeletePolicy", "iam:DeletePolicyVersion"],
)
@pytest.mark.parametrize("policy", ["vision-prod-us-east-1-ci-deploy-1", "vision-prod-us-east-1-boundary"])
def test_nor_the_policies_on_them_nor_the_boundary(action: str, policy: str) -> None:
    assert not DEPLOY.allows(action, _iam(f"policy/gpuplatform-ci/{policy}"))


def test_the_pipeline_s_roles_are_where_this_says_they_are() -> None:
    from gpuplatform.aws import ci_role_arn

    assert [ci_role_arn(ACCOUNT, "us-east-1", "vision-prod", role) for role in ROLES] == CI_ROLES


def test_the_boundary_is_where_the_pipeline_cannot_reach_it() -> None:
    assert _iam("policy/gpuplatform-ci/vision-prod-us-east-1-boundary") == BOUNDARY


def test_a_role_is_made_with_the_boundary_only() -> None:
    assert DEPLOY.allows("iam:CreateRole", OURS_ROLE, **{"iam:PermissionsBoundary": BOUNDARY})
    assert not DEPLOY.allows("iam:CreateRole", OURS_ROLE)
    other = "arn:aws:iam::aws:policy/AdministratorAccess"
    assert not DEPLOY.allows("iam:CreateRole", OURS_ROLE, **{"iam:PermissionsBoundary": other})
    assert not DEPLOY.allows(
        "iam:DeleteRolePermissionsBoundary", OURS_ROLE, **{"iam:PermissionsBoundary": BOUNDARY}
    )
    assert not DEPLOY.allows(
        "iam:PutRolePermissionsBoundary", OURS_ROLE, **{"iam:PermissionsBoundary": other}
    )


@pytest.mark.parametrize("action", ["iam:PutRolePolicy", "iam:AttachRolePolicy"])
def test_a_role_without_the_boundary_gets_no_policy(action: str) -> None:
    policy = {"iam:PolicyARN": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"}
    assert DEPLOY.allows(action, OURS_ROLE, **policy, **{"iam:PermissionsBoundary": BOUNDARY})
    assert not DEPLOY.allows(action, OURS_ROLE, **policy)


@pytest.mark.parametrize(
    "policy",
    ["AdministratorAccess", "PowerUserAccess", "IAMFullAccess", "AmazonS3FullAccess", "job-function/Billing"],
)
def test_nobody_is_made_an_administrator(policy: str) -> None:
    arn = {"iam:PolicyARN": f"arn:aws:iam::aws:policy/{policy}", "iam:PermissionsBoundary": BOUNDARY}
    assert not DEPLOY.allows("iam:AttachRolePolicy", OURS_ROLE, **arn)
    denied = Iam({"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}, *_deploy())
    assert not denied.allows("iam:AttachRolePolicy", OURS_ROLE, **arn)


def test_a_role_of_the_stack_s_own_can_never_give_rights() -> None:
    ceiling = Iam(aws.boundary(SCOPE))
    region = {"aws:RequestedRegion": "us-east-1"}
    plugin = {"aws:RequestTag/node.k8s.amazonaws.com/instance_id": "i-1"}
    assert ceiling.allows("ec2:CreateNetworkInterface", _ec2("network-interface/eni-1"), **plugin)
    assert not ceiling.allows(
        "ec2:RunInstances", _ec2("instance/i-1"), **{"aws:RequestedRegion": "eu-west-1"}
    )
    for action in (
        "iam:PassRole",
        "iam:CreateRole",
        "iam:PutRolePolicy",
        "iam:CreateAccessKey",
        "sts:AssumeRole",
    ):
        assert not ceiling.allows(action, _iam("role/vision-prod-us-east-1-nodes"), **region)
    assert ceiling.allows("s3:GetObject", "arn:aws:s3:::vision-prod-datasets-1/x")
    assert not ceiling.allows("s3:GetObject", "arn:aws:s3:::somebody-else-s/x")
    assert not ceiling.allows("organizations:LeaveOrganization", "*", **region)
    assert len(json.dumps(aws.boundary(SCOPE))) <= 6144


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        ("iam:CreateAccessKey", "user/somebody"),
        ("iam:CreateUser", "user/somebody"),
        ("iam:PutUserPolicy", "user/somebody"),
        ("iam:CreateRole", "role/somebody-else-s"),
        ("iam:UpdateAssumeRolePolicy", "role/admin"),
        ("iam:PutRolePolicy", "role/admin"),
        ("iam:CreateSAMLProvider", "saml-provider/x"),
        ("iam:CreateOpenIDConnectProvider", "oidc-provider/token.actions.githubusercontent.com"),
        ("iam:AddClientIDToOpenIDConnectProvider", "oidc-provider/token.actions.githubusercontent.com"),
        ("iam:DeleteOpenIDConnectProvider", "oidc-provider/token.actions.githubusercontent.com"),
        ("sts:AssumeRole", "role/vision-prod-us-east-1-nodes"),
        ("sts:AssumeRole", "role/OrganizationAccountAccessRole"),
    ],
)
def test_who_may_come_in_is_not_the_pipeline_s_to_say(action: str, resource: str) -> None:
    assert not DEPLOY.allows(action, _iam(resource), **{"iam:PermissionsBoundary": BOUNDARY})


@pytest.mark.parametrize(
    ("service", "handed"),
    [
        ("eks.amazonaws.com", True),
        ("ec2.amazonaws.com", True),
        ("pods.eks.amazonaws.com", True),
        ("lambda.amazonaws.com", False),
        ("cloudformation.amazonaws.com", False),
        ("", False),
    ],
)
def test_roles_are_handed_to_named_services_only(service: str, handed: bool) -> None:
    to = {"iam:PassedToService": service} if service else {}
    assert DEPLOY.allows("iam:PassRole", OURS_ROLE, **to) is handed
    assert not DEPLOY.allows("iam:PassRole", _iam("role/admin"), **to)


def test_service_linked_roles_are_those_of_named_services() -> None:
    for service, made in (("eks.amazonaws.com", True), ("organizations.amazonaws.com", False)):
        role = _iam(f"role/aws-service-role/{service}/AWSServiceRole")
        assert DEPLOY.allows("iam:CreateServiceLinkedRole", role, **{"iam:AWSServiceName": service}) is made


def test_only_what_has_the_stack_s_tags_is_changed() -> None:
    group = _ec2("security-group/sg-1")
    assert DEPLOY.allows("ec2:DeleteSecurityGroup", group, **OURS)
    assert not DEPLOY.allows("ec2:DeleteSecurityGroup", group)
    other = {**OURS, "aws:ResourceTag/environment": "dev"}
    assert not DEPLOY.allows("ec2:DeleteSecurityGroup", group, **other)
    assert not DEPLOY.allows("ec2:DeleteVpc", _ec2("vpc/vpc-1"), **other)


def test_what_is_made_gets_the_stack_s_tags() -> None:
    assert DEPLOY.allows("ec2:CreateVpc", _ec2("vpc/*"), **ASKED)
    assert not DEPLOY.allows("ec2:CreateVpc", _ec2("vpc/*"))
    assert not DEPLOY.allows("kms:CreateKey", "*")


def test_a_subnet_is_not_made_in_somebody_else_s_network() -> None:
    # All that a request touches is checked, and all sees the request's tags.
    assert DEPLOY.allows("ec2:CreateSubnet", _ec2("subnet/*"), **ASKED)
    assert DEPLOY.allows("ec2:CreateSubnet", _ec2("vpc/vpc-ours"), **ASKED, **OURS)
    assert not DEPLOY.allows("ec2:CreateSubnet", _ec2("vpc/vpc-theirs"), **ASKED)


def test_nothing_is_taken_over_by_tagging_it() -> None:
    tagging = {**ASKED, "aws:ResourceTag/environment": "dev", "aws:ResourceTag/managed-by": "gpuplatform"}
    for kind in ("vpc/vpc-1", "security-group/sg-1", "instance/i-1", "subnet/subnet-1"):
        assert not DEPLOY.allows("ec2:CreateTags", _ec2(kind), **tagging)
    assert not DEPLOY.allows("ec2:CreateTags", _ec2("vpc/vpc-untagged"), **ASKED)
    assert DEPLOY.allows("ec2:CreateTags", _ec2("vpc/vpc-new"), **ASKED, **{"ec2:CreateAction": "CreateVpc"})
    # A VPC's own security group comes without tags, so one without any can be taken: nothing else can.
    assert DEPLOY.allows("ec2:CreateTags", _ec2("security-group/sg-default"), **ASKED)
    key = f"arn:aws:kms:us-east-1:{ACCOUNT}:key/1"
    assert not DEPLOY.allows("kms:TagResource", key, **ASKED, **{"kms:ResourceAliases": "alias/theirs"})


def test_a_cluster_of_another_name_is_out_of_reach() -> None:
    cluster = f"arn:aws:eks:us-east-1:{ACCOUNT}:cluster/"
    assert DEPLOY.allows("eks:DeleteCluster", f"{cluster}vision-prod")
    assert not DEPLOY.allows("eks:DeleteCluster", f"{cluster}vision-prod2")
    assert not DEPLOY.allows("eks:DeleteNodegroup", f"arn:aws:eks:us-east-1:{ACCOUNT}:nodegroup/other/x/y")


def test_objects_are_deleted_where_a_teardown_takes_them_only() -> None:
    objects = "arn:aws:s3:::vision-prod-scratch-1a2b/x"
    assert not DEPLOY.allows("s3:DeleteObjectVersion", objects)
    emptied = Iam(
        *aws.policies(
            "deploy",
            EVERYTHING,
            aws.AwsScope(
                account=ACCOUNT, region="us-east-1", name="vision-prod", emptied=("vision-prod-scratch-*",)
            ),
        )
    )
    assert emptied.allows("s3:DeleteObjectVersion", objects)
    assert not emptied.allows("s3:DeleteObjectVersion", "arn:aws:s3:::vision-prod-datasets-1a2b/x")
    assert not emptied.allows("s3:GetObject", objects)


def test_the_state_s_key_keeps_its_name() -> None:
    alias = f"arn:aws:kms:us-east-1:{ACCOUNT}:alias/vision-prod-state"
    for action in ("kms:UpdateAlias", "kms:DeleteAlias"):
        assert not DEPLOY.allows(action, alias)
        assert DEPLOY.allows(action, alias.replace("-state", "-datasets"))


def test_the_partition_is_the_region_s() -> None:
    scope = aws.AwsScope(account=ACCOUNT, region="us-gov-west-1", name="vision-prod")
    arns = json.dumps(aws.policies("deploy", EVERYTHING, scope))
    assert "arn:aws-us-gov:iam" in arns
    assert "arn:aws:" not in arns


@pytest.mark.parametrize("stack", [stack for stack in STACKS if stack.startswith("aws")])
def test_a_sample_stack_s_names_are_within_its_scope(stack: str) -> None:
    config = config_of(stack)
    assert isinstance(config.cloud, Aws)
    scope = aws.scope_of(config)
    deploy = Iam(*aws.policies("deploy", {one.type for one in recording_of(stack).resources}, scope))
    bounded = {"iam:PermissionsBoundary": aws.boundary_arn(scope)}
    names = 0
    for resource in recording_of(stack).resources:
        where = f"{config.cloud.region}:{config.cloud.account}"
        match resource.type:
            case "aws:iam/role:Role":
                arn = f"arn:aws:iam::{config.cloud.account}:role/{resource.inputs['name']}"
                assert deploy.allows("iam:CreateRole", arn, **bounded)
            case "aws:cloudwatch/logGroup:LogGroup":
                arn = f"arn:aws:logs:{where}:log-group:{resource.inputs['name']}"
                assert deploy.allows("logs:CreateLogGroup", arn)
            case "aws:eks/cluster:Cluster":
                assert deploy.allows(
                    "eks:CreateCluster", f"arn:aws:eks:{where}:cluster/{resource.inputs['name']}"
                )
            case _ if "tags" in resource.inputs and resource.type.startswith("aws:"):
                assert scope.tags.items() <= resource.inputs["tags"].items(), resource.name
            case _:
                continue
        names += 1
    assert names > 10


def test_a_scope_of_another_cloud_is_a_program_s_mistake() -> None:
    with pytest.raises(TypeError, match="azure"):
        aws.scope_of(config_of("azure-dev"))
