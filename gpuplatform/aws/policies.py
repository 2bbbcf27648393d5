"""IAM policy documents as plain data: who may assume a role, what a cluster's own may do; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuplatform.trust import ISSUER

__all__ = [
    "VERSION",
    "autoscaler_policy",
    "fsx_driver_policy",
    "github_trust",
    "managed_policy",
    "partition",
    "pod_identity_trust",
    "service_trust",
]

VERSION = "2012-10-17"
"""Of the policy language."""


def partition(region: str) -> str:
    """The partition of a region (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html)."""
    if region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov-") else "aws"


def managed_policy(region: str, name: str) -> str:
    """ARN of a policy that AWS keeps, such as `AmazonEKSClusterPolicy`, with its path where it has one."""
    return f"arn:{partition(region)}:iam::aws:policy/{name}"


def service_trust(service: str) -> dict[str, Any]:
    """Only this AWS service may assume the role."""
    return {
        "Version": VERSION,
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": f"{service}.amazonaws.com"},
                "Action": "sts:AssumeRole",
            }
        ],
    }


def pod_identity_trust(cluster_arn: str, namespace: str, service_account: str) -> dict[str, Any]:
    """Only pods of one service account in one cluster may assume the role.

    Without the conditions, whoever may create a Pod Identity association in any cluster of the account could
    hand the role to pods of their own (https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html; the
    tags: .../pod-id-abac.html).
    """
    return {
        "Version": VERSION,
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": "pods.eks.amazonaws.com"},
                "Action": ["sts:AssumeRole", "sts:TagSession"],
                "Condition": {
                    "StringEquals": {
                        "aws:RequestTag/eks-cluster-arn": cluster_arn,
                        "aws:RequestTag/kubernetes-namespace": namespace,
                        "aws:RequestTag/kubernetes-service-account": service_account,
                    }
                },
            }
        ],
    }


def github_trust(provider_arn: str, subjects: Sequence[str]) -> dict[str, Any]:
    """Only jobs with one of these exact subjects, in tokens made for AWS, may assume the role.

    `StringEquals` on both claims, in one statement: `StringLike` would let a repository of a longer name in,
    `ForAllValues` and `...IfExists` are true where the claim is missing, and a second statement without the
    condition would let everybody in (aws-actions/configure-aws-credentials#318). A list is an OR.
    """
    issuer = ISSUER.removeprefix("https://")
    return {
        "Version": VERSION,
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Federated": provider_arn},
                "Action": "sts:AssumeRoleWithWebIdentity",
                "Condition": {
                    "StringEquals": {f"{issuer}:aud": "sts.amazonaws.com", f"{issuer}:sub": list(subjects)}
                },
            }
        ],
    }


def fsx_driver_policy(region: str) -> dict[str, Any]:
    """What the FSx CSI driver may do: look.

    File systems are the stack's, and mounting one is no call to AWS; without any role the driver's controller
    finds no credentials. Deliberately less than AmazonFSxFullAccess, which the driver's documentation
    attaches: with it, whoever may write a StorageClass would create file systems past the budget.
    """
    return {
        "Version": VERSION,
        "Statement": [
            {
                "Effect": "Allow",
                "Action": "fsx:DescribeFileSystems",
                "Resource": f"arn:{partition(region)}:fsx:{region}:*:file-system/*",
            }
        ],
    }


def autoscaler_policy(cluster_name: str) -> dict[str, Any]:
    """What the Cluster Autoscaler needs, and no group of another cluster.

    Source: kubernetes/autoscaler, cluster-autoscaler/cloudprovider/aws/README.md. The describing actions know
    no resource-level permission; the two that change something are bound to the tags that EKS puts on the
    Auto Scaling groups of its managed node groups.
    """
    return {
        "Version": VERSION,
        "Statement": [
            {
                "Effect": "Allow",
                "Action": [
                    "autoscaling:DescribeAutoScalingGroups",
                    "autoscaling:DescribeAutoScalingInstances",
                    "autoscaling:DescribeLaunchConfigurations",
                    "autoscaling:DescribeScalingActivities",
                    "autoscaling:DescribeTags",
                    "ec2:DescribeImages",
                    "ec2:DescribeInstanceTypes",
                    "ec2:DescribeLaunchTemplateVersions",
                    "ec2:GetInstanceTypesFromInstanceRequirements",
                    "eks:DescribeNodegroup",
                ],
                "Resource": "*",
            },
            {
                "Effect": "Allow",
                "Action": [
                    "autoscaling:SetDesiredCapacity",
                    "autoscaling:TerminateInstanceInAutoScalingGroup",
                ],
                "Resource": "*",
                "Condition": {
                    "StringEquals": {
                        "aws:ResourceTag/k8s.io/cluster-autoscaler/enabled": "true",
                        f"aws:ResourceTag/k8s.io/cluster-autoscaler/{cluster_name}": "owned",
                    }
                },
            },
        ],
    }
