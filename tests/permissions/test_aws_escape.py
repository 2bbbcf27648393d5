"""AWS: what deploy gets out of a role that it makes, with whatever policy and trust it likes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from iam_evaluator import Iam

from gpuplatform.aws.policies import autoscaler_policy, fsx_driver_policy
from gpuplatform.aws.state_store import state_bucket
from gpuplatform.aws.storage_policies import object_access
from gpuplatform.errors import Refusal
from gpuplatform.permissions import aws
from gpuplatform.permissions.aws_boundary import STATE_BUCKET_ACTIONS, STATE_KEY_ACTIONS
from gpuplatform.permissions.aws_rows import TABLE

ACCOUNT = "123456789012"
REGION = "us-east-1"
TAGS = {"environment": "prod", "managed-by": "gpuplatform"}
SCOPE = aws.AwsScope(account=ACCOUNT, region=REGION, name="vision-prod", tags=TAGS)
OURS = {f"aws:ResourceTag/{key}": value for key, value in TAGS.items()}
EVERYWHERE = {"aws:RequestedRegion": REGION}
ANYTHING = {"Effect": "Allow", "Action": "*", "Resource": "*"}
BOUNDED = {"iam:PermissionsBoundary": aws.boundary_arn(SCOPE)}
ROLE = f"arn:aws:iam::{ACCOUNT}:role/vision-prod-us-east-1-mine"
BUCKET = f"arn:aws:s3:::{state_bucket('vision-prod', ACCOUNT, REGION)}"
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1"
OF_STATE = {"kms:ResourceAliases": "alias/vision-prod-state", **OURS, **EVERYWHERE}

DEPLOY = Iam(*aws.policies("deploy", frozenset(TABLE), SCOPE))


class Bounded:
    """A role of deploy's own: what its policy allows, as far as the boundary allows it too."""

    def __init__(self, *statements: Mapping[str, Any]) -> None:
        self._own = Iam({"Statement": list(statements)})
        self._boundary = Iam(aws.boundary(SCOPE))

    def allows(self, action: str, resource: str, **context: str) -> bool:
        sides = (self._own, self._boundary)
        return all(side.allows(action, resource, **context) for side in sides)


MADE = Bounded(ANYTHING)


def _arn(service: str, resource: str) -> str:
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{resource}"


def test_deploy_makes_such_a_role_and_writes_its_policy() -> None:
    assert DEPLOY.allows("iam:CreateRole", ROLE, **BOUNDED)
    assert DEPLOY.allows("iam:PutRolePolicy", ROLE, **BOUNDED)
    assert MADE.allows("s3:GetObject", "arn:aws:s3:::vision-prod-datasets-1a2b/x")


@pytest.mark.parametrize(
    "action", ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:ListBucket", *STATE_BUCKET_ACTIONS]
)
def test_nothing_of_the_state_is_in_its_reach(action: str) -> None:
    for resource in (BUCKET, f"{BUCKET}/.pulumi/stacks/x.json"):
        assert not MADE.allows(action, resource, **EVERYWHERE)


@pytest.mark.parametrize("alias", ["alias/vision-prod-state", "alias/speech-prod-state"])
@pytest.mark.parametrize("action", ["kms:Decrypt", "kms:GenerateDataKey", *STATE_KEY_ACTIONS])
def test_nor_the_keys_of_states(action: str, alias: str) -> None:
    context = {**OF_STATE, "kms:ResourceAliases": alias}
    assert not MADE.allows(action, KEY, **context)
    assert not MADE.allows(action, KEY, **context, **{"kms:ViaService": f"ec2.{REGION}.amazonaws.com"})


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        ("autoscaling:DeleteAutoScalingGroup", _arn("autoscaling", "autoScalingGroup:1:x")),
        ("autoscaling:SetDesiredCapacity", _arn("autoscaling", "autoScalingGroup:1:x")),
        ("ec2:AssignPrivateIpAddresses", _arn("ec2", "network-interface/eni-1")),
        ("ec2:AttachVolume", _arn("ec2", "instance/i-1")),
        ("ec2:AuthorizeSecurityGroupIngress", _arn("ec2", "security-group/sg-1")),
        ("ec2:CreateSnapshot", _arn("ec2", "volume/vol-1")),
        ("ec2:CreateTags", _arn("ec2", "instance/i-1")),
        ("ec2:CreateTags", _arn("ec2", "network-interface/eni-1")),
        ("ec2:DeleteVpc", _arn("ec2", "vpc/vpc-1")),
        ("ec2:DescribeInstanceAttribute", "*"),
        ("ec2:DetachVolume", _arn("ec2", "volume/vol-1")),
        ("ec2:ModifyInstanceAttribute", _arn("ec2", "instance/i-1")),
        ("ec2:ModifyNetworkInterfaceAttribute", _arn("ec2", "network-interface/eni-1")),
        ("ec2:RunInstances", _arn("ec2", "instance/i-1")),
        ("ec2:TerminateInstances", _arn("ec2", "instance/i-1")),
        ("ecr:DeleteRepository", _arn("ecr", "repository/x")),
        ("eks:AssociateAccessPolicy", _arn("eks", "access-entry/theirs/x")),
        ("eks:CreateAccessEntry", _arn("eks", "cluster/theirs")),
        ("eks:DeleteCluster", _arn("eks", "cluster/vision-prod")),
        ("elasticloadbalancing:DeleteLoadBalancer", _arn("elasticloadbalancing", "loadbalancer/x")),
        ("fsx:DeleteFileSystem", _arn("fsx", "file-system/fs-1")),
        ("kms:Decrypt", KEY),
        ("kms:PutKeyPolicy", KEY),
        ("logs:DeleteLogGroup", _arn("logs", "log-group:x")),
        ("s3:GetObject", "arn:aws:s3:::somebody-else-s/x"),
        ("s3:PutBucketPolicy", "arn:aws:s3:::vision-prod-datasets-1a2b"),
        ("sts:AssumeRole", "arn:aws:iam::123456789012:role/admin"),
    ],
)
def test_what_others_have_in_the_region_is_out_of_its_reach(action: str, resource: str) -> None:
    assert not MADE.allows(action, resource, **EVERYWHERE)


@pytest.mark.parametrize(
    "action",
    [
        "iam:AttachRolePolicy",
        "iam:CreatePolicyVersion",
        "iam:CreateRole",
        "iam:DeleteRolePermissionsBoundary",
        "iam:PassRole",
        "iam:PutRolePolicy",
        "iam:UpdateAssumeRolePolicy",
    ],
)
@pytest.mark.parametrize("resource", ["role/gpuplatform-ci/vision-prod-us-east-1-ci-deploy", "role/admin"])
def test_it_widens_nobody_s_rights(action: str, resource: str) -> None:
    assert not MADE.allows(action, f"arn:aws:iam::{ACCOUNT}:{resource}", **BOUNDED, **EVERYWHERE)


@pytest.mark.parametrize(
    ("document", "context"),
    [
        (object_access(["arn:aws:s3:::vision-prod-data-1"], [KEY]), OURS),
        (
            autoscaler_policy("vision-prod"),
            {
                "aws:ResourceTag/k8s.io/cluster-autoscaler/enabled": "true",
                "aws:ResourceTag/k8s.io/cluster-autoscaler/vision-prod": "owned",
            },
        ),
        (fsx_driver_policy(REGION), {}),
    ],
)
def test_what_the_stack_s_own_policies_allow_is_beneath_the_ceiling(
    document: dict[str, Any], context: dict[str, str]
) -> None:
    ours = Bounded(*document["Statement"])
    resources = {
        "s3:ListBucket": "arn:aws:s3:::vision-prod-data-1",
        "s3": "arn:aws:s3:::vision-prod-data-1/x",
        "kms": KEY,
        "autoscaling": _arn("autoscaling", "autoScalingGroup:1:autoScalingGroupName/eks-x"),
        "ec2": "*",
        "eks": _arn("eks", "nodegroup/vision-prod/x/y"),
        "fsx": f"arn:aws:fsx:{REGION}:{ACCOUNT}:file-system/fs-1",
    }
    for statement in document["Statement"]:
        actions = statement["Action"]
        for action in [actions] if isinstance(actions, str) else actions:
            resource = resources.get(action) or resources[action.partition(":")[0]]
            assert ours.allows(action, resource, **context, **EVERYWHERE), action


PLUGIN = {"aws:ResourceTag/node.k8s.amazonaws.com/instance_id": "i-1"}
DRIVER = {"aws:ResourceTag/ebs.csi.aws.com/cluster": "true"}
NODE = {"aws:ResourceTag/eks:cluster-name": "vision-prod"}
CLUSTER = "kubernetes.io/cluster/vision-prod"


@pytest.mark.parametrize(
    ("action", "resource", "context"),
    [
        ("ec2:AssignPrivateIpAddresses", "ec2:network-interface/eni-node", OURS),
        ("ec2:AttachNetworkInterface", "ec2:instance/i-1", NODE),
        ("ec2:AttachNetworkInterface", "ec2:network-interface/eni-1", PLUGIN),
        ("ec2:AttachVolume", "ec2:instance/i-1", NODE),
        ("ec2:AttachVolume", "ec2:volume/vol-1", DRIVER),
        ("ec2:CreateNetworkInterface", "ec2:subnet/subnet-1", {}),
        ("ec2:CreateTags", "ec2:network-interface/eni-1", PLUGIN),
        ("ec2:CreateTags", "ec2:volume/vol-1", {"ec2:CreateAction": "CreateVolume"}),
        ("ec2:CreateVolume", "ec2:volume/*", {"aws:RequestTag/ebs.csi.aws.com/cluster": "true"}),
        ("ec2:DeleteVolume", "ec2:volume/vol-1", DRIVER),
        ("ec2:DescribeInstances", "*", {}),
        (
            "ec2:AuthorizeSecurityGroupIngress",
            "ec2:security-group/sg",
            {f"aws:ResourceTag/{CLUSTER}": "owned"},
        ),
        ("ec2:CreateSecurityGroup", "ec2:vpc/vpc-1", {}),
        ("ecr:BatchGetImage", "ecr:repository/x", {}),
        ("eks-auth:AssumeRoleForPodIdentity", "eks:cluster/vision-prod", {}),
        ("eks:DescribeCluster", "eks:cluster/vision-prod", {}),
        (
            "elasticloadbalancing:CreateLoadBalancer",
            "elasticloadbalancing:loadbalancer/net/x/y",
            {f"aws:RequestTag/{CLUSTER}": "owned"},
        ),
        (
            "elasticloadbalancing:DeleteTargetGroup",
            "elasticloadbalancing:targetgroup/x/y",
            {f"aws:ResourceTag/{CLUSTER}": "owned"},
        ),
    ],
)
def test_nodes_and_add_ons_do_their_work(action: str, resource: str, context: dict[str, str]) -> None:
    service, _, rest = resource.partition(":")
    assert MADE.allows(action, _arn(service, rest) if rest else resource, **context, **EVERYWHERE)


def test_service_linked_roles_are_made_for_load_balancers_and_spot_instances_alone() -> None:
    role = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/x/y"
    for service, made in (("spot.amazonaws.com", True), ("organizations.amazonaws.com", False)):
        context = {"iam:AWSServiceName": service, **EVERYWHERE}
        assert MADE.allows("iam:CreateServiceLinkedRole", role, **context) is made


@pytest.mark.parametrize("region", ["ap-southeast-1", "us-gov-west-1"])
def test_the_ceiling_is_a_managed_policy_for_the_longest_name(region: str) -> None:
    scope = aws.AwsScope(
        account=ACCOUNT,
        region=region,
        name="a-name-of-twenty-chr-environment",
        tags={**TAGS, "environment": "twelve-chars"},
    )
    assert len(json.dumps(aws.boundary(scope), separators=(",", ":"))) <= 6144


def test_more_buckets_than_it_has_room_for_are_refused() -> None:
    buckets = tuple(f"a-bucket-of-somebody-s-own-choice-that-is-long-{number}" for number in range(60))
    with pytest.raises(Refusal, match="60 buckets"):
        aws.boundary(aws.AwsScope(account=ACCOUNT, region=REGION, name="x", buckets=buckets))


@pytest.mark.parametrize("action", STATE_BUCKET_ACTIONS)
def test_deploy_itself_only_reads_and_writes_the_state_s_objects(action: str) -> None:
    wide = Iam({"Statement": [ANYTHING]}, *aws.policies("deploy", frozenset(TABLE), SCOPE))
    for resource in (BUCKET, f"{BUCKET}/x"):
        assert not wide.allows(action, resource)
    assert wide.allows("s3:PutObject", f"{BUCKET}/x")
    assert wide.allows("s3:GetObject", f"{BUCKET}/x")


@pytest.mark.parametrize("action", STATE_KEY_ACTIONS)
def test_deploy_itself_only_uses_the_state_s_key(action: str) -> None:
    wide = Iam({"Statement": [ANYTHING]}, *aws.policies("deploy", frozenset(TABLE), SCOPE))
    assert not wide.allows(action, KEY, **OF_STATE)
    assert wide.allows("kms:Encrypt", KEY, **OF_STATE)
    assert wide.allows("kms:Decrypt", KEY, **OF_STATE)


@pytest.mark.parametrize(
    "action",
    [
        "iam:AttachRolePolicy",
        "iam:DeleteRole",
        "iam:DeleteRolePolicy",
        "iam:PutRolePermissionsBoundary",
        "iam:PutRolePolicy",
        "iam:UpdateAssumeRolePolicy",
        "iam:UpdateRole",
    ],
)
@pytest.mark.parametrize("name", ["vision-prod-admin", "vision-prod-us-east-1-theirs"])
def test_a_role_without_the_boundary_is_not_taken_over(action: str, name: str) -> None:
    role = f"arn:aws:iam::{ACCOUNT}:role/{name}"
    policy = {"iam:PolicyARN": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"}
    wide = Iam({"Statement": [ANYTHING]}, *aws.policies("deploy", frozenset(TABLE), SCOPE))
    for bound in ({}, {"iam:PermissionsBoundary": "arn:aws:iam::aws:policy/AdministratorAccess"}):
        assert not DEPLOY.allows(action, role, **policy, **OURS, **bound)
        assert not wide.allows(action, role, **policy, **OURS, **bound)


def test_of_the_stack_s_roles_trust_and_tags_can_change() -> None:
    assert DEPLOY.allows("iam:UpdateAssumeRolePolicy", ROLE, **BOUNDED)
    assert DEPLOY.allows("iam:DeleteRole", ROLE, **BOUNDED)
    assert DEPLOY.allows("iam:TagRole", ROLE, **OURS)
    assert DEPLOY.allows(
        "iam:TagRole", ROLE, **{f"aws:RequestTag/{key}": value for key, value in TAGS.items()}
    )
    theirs = {**OURS, "aws:ResourceTag/environment": "dev"}
    for action in ("iam:TagRole", "iam:UntagRole"):
        assert not DEPLOY.allows(action, ROLE, **theirs)
    assert not DEPLOY.allows("iam:PassRole", f"arn:aws:iam::{ACCOUNT}:role/vision-prod-admin")
