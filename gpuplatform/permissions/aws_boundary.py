"""AWS: what neither the deploying role nor one that it makes can ever do, and the most that the latter can.

Source of the actions: AWS's own policies of those roles and add-ons
(https://docs.aws.amazon.com/aws-managed-policy/latest/reference/), and where a statement says so, the program
that calls. A ceiling that says less than a policy takes from the role what is missing; it grants nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gpuplatform.permissions.aws_scope import BOUNDED, CI_PATH, AwsScope, attachable, boundary_arn

__all__ = ["STATE_BUCKET_ACTIONS", "STATE_KEY_ACTIONS", "ceiling", "denials", "state_denials"]

STATE_BUCKET_ACTIONS: Final = (
    "s3:BypassGovernanceRetention",
    "s3:DeleteBucket",
    "s3:DeleteBucketPolicy",
    "s3:DeleteObjectVersion",
    "s3:PutBucketAcl",
    "s3:PutBucketOwnershipControls",
    "s3:PutBucketPolicy",
    "s3:PutBucketPublicAccessBlock",
    "s3:PutBucketTagging",
    "s3:PutBucketVersioning",
    "s3:PutEncryptionConfiguration",
    "s3:PutLifecycleConfiguration",
    "s3:PutObjectAcl",
    "s3:PutReplicationConfiguration",
    "s3:TagResource",
    "s3:UntagResource",
)
"""What would open the state's bucket, or end its history; reading and writing objects is none of them."""

STATE_KEY_ACTIONS: Final = (
    "kms:CancelKeyDeletion",
    "kms:CreateAlias",
    "kms:CreateGrant",
    "kms:DeleteAlias",
    "kms:DisableKey",
    "kms:DisableKeyRotation",
    "kms:PutKeyPolicy",
    "kms:ReplicateKey",
    "kms:RetireGrant",
    "kms:RevokeGrant",
    "kms:ScheduleKeyDeletion",
    "kms:TagResource",
    "kms:UntagResource",
    "kms:UpdateAlias",
    "kms:UpdateKeyDescription",
)
"""What would give the key of the state away, or end it; encrypting and decrypting is none of them."""

_STATE_KEYS: Final = {"ForAnyValue:StringLike": {"kms:ResourceAliases": "alias/*-state"}}
"""Keys of states, of this environment and of others: no other key of the product's has an alias
(https://docs.aws.amazon.com/kms/latest/developerguide/alias-authorization.html)."""

_LOOKS: Final = (
    "autoscaling:Describe*",
    "ec2:Describe*",
    "ec2:GetInstanceTypesFromInstanceRequirements",
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:BatchImportUpstreamImage",
    "ecr:GetAuthorizationToken",
    "ecr:GetDownloadUrlForLayer",
    "eks:DescribeCluster",
    "eks:DescribeNodegroup",
    "elasticloadbalancing:Describe*",
    "fsx:DescribeFileSystems",
    "kms:DescribeKey",
)
"""All of EC2's: AWS's policies come to ask for more of them. Denied again is others' user data."""

_INTERFACES: Final = (
    "ec2:*NetworkInterface",
    "ec2:*PrivateIpAddresses",
    "ec2:CreateTags",
    "ec2:ModifyNetworkInterfaceAttribute",
)
_VOLUMES: Final = (
    "ec2:*Snapshot",
    "ec2:*Volume",
    "ec2:DeleteTags",
)
_THROUGH_EC2: Final = (
    "kms:CreateGrant",
    "kms:Decrypt",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncrypt*",
)
_OBJECTS: Final = (
    "s3:AbortMultipartUpload",
    "s3:DeleteObject",
    "s3:GetObject",
    "s3:ListBucket",
    "s3:PutObject",
)


def ceiling(scope: AwsScope) -> Iterator[dict[str, Any]]:
    """What clusters, nodes, add-ons and pods need at all, on what is the stack's where a tag or name tells.

    Args:
        scope: Where the stack's resources are.
    """
    region = {"aws:RequestedRegion": scope.region}
    owned = {f"kubernetes.io/cluster/{scope.name}": "owned"}
    # By the CSI driver on all that it makes, of whatever cluster (AmazonEBSCSIDriverPolicyV2).
    by_driver = {"ebs.csi.aws.com/cluster": "true"}
    # By the CNI plugin on all that it makes, likewise (aws/amazon-vpc-cni-k8s, pkg/awsutils, eniNodeTagKey);
    # a node's first interface has the stack's tags by its launch template.
    by_plugin = "node.k8s.amazonaws.com/instance_id"

    def ec2(*kinds: str) -> list[str]:
        # Any account, which is shorter: nobody else's resources are in reach of a policy here.
        return [f"arn:{scope.partition}:ec2:{scope.region}:*:{kind}/*" for kind in kinds]

    yield _allow(_LOOKS, ["*"], {"StringEquals": region})
    yield _allow(_INTERFACES, ec2("network-interface"), scope.tagged("ResourceTag"))
    yield _allow(_INTERFACES, ec2("network-interface"), {"Null": {f"aws:ResourceTag/{by_plugin}": "false"}})
    yield _allow(
        ("ec2:CreateNetworkInterface",),
        ec2("network-interface"),
        {"Null": {f"aws:RequestTag/{by_plugin}": "false"}},
    )
    # What the two above, and the driver, are given beside what they change.
    yield _allow(
        ("ec2:CreateNetworkInterface", "ec2:ModifyNetworkInterfaceAttribute"), ec2("security-group", "subnet")
    )
    # EKS tags the instances of managed node groups so (AmazonEBSCSIDriverEKSClusterScopedPolicy).
    yield _allow(
        (
            "ec2:AttachNetworkInterface",
            "ec2:AttachVolume",
            "ec2:DetachNetworkInterface",
            "ec2:DetachVolume",
            "ec2:ModifyNetworkInterfaceAttribute",
        ),
        ec2("instance"),
        _tags("ResourceTag", {"eks:cluster-name": scope.name}),
    )
    disks = ec2("snapshot", "volume")
    yield _allow(_VOLUMES, disks, _tags("ResourceTag", by_driver))
    yield _allow(("ec2:CreateSnapshot", "ec2:CreateVolume"), disks, _tags("RequestTag", by_driver))
    # The cloud controller of EKS, for Services of type LoadBalancer (kubernetes/cloud-provider-aws,
    # pkg/providers/v1/tags.go, buildTags): groups and load balancers with the cluster's tag.
    yield _allow(("ec2:CreateSecurityGroup",), ec2("vpc"))
    yield _allow(("ec2:CreateSecurityGroup",), ec2("security-group"), _tags("RequestTag", owned))
    yield _allow(
        (
            "ec2:AuthorizeSecurityGroupIngress",
            "ec2:DeleteSecurityGroup",
            "ec2:RevokeSecurityGroupIngress",
        ),
        ec2("security-group"),
        _tags("ResourceTag", owned),
    )
    for side in ("RequestTag", "ResourceTag"):
        yield _allow(("elasticloadbalancing:*",), ["*"], _tags(side, owned, region))
    # Of what comes into being at this moment, not of what others made.
    made = ["CreateNetworkInterface", "CreateSecurityGroup", "CreateSnapshot", "CreateVolume"]
    yield _allow(("ec2:CreateTags",), ec2("*"), {"StringEquals": {"ec2:CreateAction": made}})
    yield _allow(
        ("autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"),
        [scope.arn("autoscaling", "autoScalingGroup:*")],
        _tags("ResourceTag", {f"k8s.io/cluster-autoscaler/{scope.name}": "owned"}),
    )
    yield _allow(
        ("kms:Decrypt", "kms:GenerateDataKey"), [scope.arn("kms", "key/*")], scope.tagged("ResourceTag")
    )
    yield _allow(
        _THROUGH_EC2,
        ["*"],
        {"StringEquals": {"kms:ViaService": f"ec2.{scope.region}.amazonaws.com"}},
    )
    buckets = [
        scope.arn("s3", name, regional=False, account=False) for name in (f"{scope.name}-*", *scope.buckets)
    ]
    yield _allow(_OBJECTS, [*buckets, *(f"{bucket}/*" for bucket in buckets)])
    # Which nodes exchange for their pods' credentials; and where they are told who they are.
    yield _allow(("eks-auth:AssumeRoleForPodIdentity", "sts:GetCallerIdentity"), ["*"])
    linked = ["elasticloadbalancing.amazonaws.com", "spot.amazonaws.com"]
    yield _allow(("iam:CreateServiceLinkedRole",), ["*"], {"StringEquals": {"iam:AWSServiceName": linked}})
    # What is denied to the deploying role, and shorter, since none of it is needed: to be somebody else, to
    # change anybody's rights, and the state with its key altogether.
    yield {
        "Sid": "NobodysRights",
        "Effect": "Deny",
        "Action": "iam:*",
        "Resource": "*",
        # True as well where no service is named: of IAM, all but the roles above.
        "Condition": {"StringNotEquals": {"iam:AWSServiceName": linked}},
    }
    yield {
        "Sid": "NobodyElse",
        "Effect": "Deny",
        "Action": ["ec2:DescribeInstanceAttribute", "sts:AssumeRole"],
        "Resource": "*",
    }
    bucket = _state_bucket(scope)
    yield {"Sid": "NotTheState", "Effect": "Deny", "Action": "s3:*", "Resource": [bucket, f"{bucket}/*"]}
    yield {
        "Sid": "NotTheStatesKey",
        "Effect": "Deny",
        "Action": "kms:*",
        "Resource": "*",
        "Condition": _STATE_KEYS,
    }


def denials(scope: AwsScope) -> Iterator[dict[str, Any]]:
    """What no policy of the deploying role's can allow: to widen its own rights or anybody's.

    Args:
        scope: Where the stack's resources are.
    """
    roles = scope.arn("iam", f"role/{scope.name}-*", regional=False)
    own = [scope.arn("iam", f"{kind}{CI_PATH}*", regional=False) for kind in ("role", "policy")]
    yield {"Sid": "NotItsOwnRights", "Effect": "Deny", "Action": "iam:*", "Resource": own}
    # True as well where there is no boundary.
    unbound = {"StringNotEquals": {"iam:PermissionsBoundary": boundary_arn(scope)}}
    yield {
        "Sid": "NoRoleWithoutBoundary",
        "Effect": "Deny",
        "Action": "iam:CreateRole",
        "Resource": "*",
        "Condition": unbound,
    }
    yield {
        "Sid": "NoneTakenOver",
        "Effect": "Deny",
        "Action": sorted(f"iam:{name}" for name in BOUNDED),
        # Not those of services, which have none: only the service changes what they may do.
        "Resource": roles,
        "Condition": unbound,
    }
    yield {
        "Sid": "NoBoundaryChanged",
        "Effect": "Deny",
        "Action": ["iam:DeleteRolePermissionsBoundary", "iam:PutRolePermissionsBoundary"],
        "Resource": "*",
    }
    yield {
        "Sid": "NoOtherPolicyAttached",
        "Effect": "Deny",
        "Action": "iam:AttachRolePolicy",
        "Resource": roles,
        "Condition": {"ArnNotLike": {"iam:PolicyARN": list(attachable(scope))}},
    }
    yield {
        "Sid": "NobodyElse",
        "Effect": "Deny",
        "Action": [
            "iam:AddUserToGroup",
            "iam:AttachGroupPolicy",
            "iam:AttachUserPolicy",
            "iam:CreateAccessKey",
            "iam:CreateLoginProfile",
            "iam:CreateSAMLProvider",
            "iam:CreateUser",
            "iam:PutGroupPolicy",
            "iam:PutUserPolicy",
            "iam:UpdateLoginProfile",
            "iam:UpdateSAMLProvider",
            "sts:AssumeRole",
        ],
        "Resource": "*",
    }


def state_denials(scope: AwsScope) -> Iterator[dict[str, Any]]:
    """What the deploying role, which reads and writes the state, cannot do to its bucket and its key.

    Args:
        scope: Where the stack's resources are.
    """
    bucket = _state_bucket(scope)
    yield {
        "Sid": "NotTheStateItself",
        "Effect": "Deny",
        "Action": list(STATE_BUCKET_ACTIONS),
        "Resource": [bucket, f"{bucket}/*"],
    }
    yield {
        "Sid": "NotTheStatesKey",
        "Effect": "Deny",
        "Action": list(STATE_KEY_ACTIONS),
        "Resource": "*",
        "Condition": _STATE_KEYS,
    }
    yield {
        "Sid": "NotTheStatesAlias",
        "Effect": "Deny",
        "Action": ["kms:DeleteAlias", "kms:UpdateAlias"],
        "Resource": scope.arn("kms", "alias/*-state"),
    }


def _state_bucket(scope: AwsScope) -> str:
    return scope.arn("s3", scope.state_bucket, regional=False, account=False)


def _tags(side: str, tags: Mapping[str, str], more: Mapping[str, str] | None = None) -> dict[str, Any]:
    return {"StringEquals": {**{f"aws:{side}/{key}": value for key, value in tags.items()}, **(more or {})}}


def _allow(
    actions: Sequence[str], resources: list[str], condition: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    allowed: dict[str, Any] = {"Effect": "Allow", "Action": list(actions), "Resource": resources}
    return {**allowed, "Condition": dict(condition)} if condition else allowed
