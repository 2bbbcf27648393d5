"""What AWS's resource types ask for, by action of IAM.

Source of a row: `handlers.*.permissions` of the resource schema that CloudFormation publishes
(pulumi/pulumi-aws-native, aws-cloudformation-schema/, 2026-08-07), named by row, less what this product's
resources never set and with what the provider calls beyond it (pulumi/terraform-provider-aws,
internal/service/). Names were looked up in the Service Authorization Reference
(https://docs.aws.amazon.com/service-authorization/latest/reference/).

`#variant` after an action picks another narrowing of it: `gpuplatform.permissions.aws_scope`.
"""

from __future__ import annotations

from typing import Final

from gpuplatform.permissions.model import Row, Table

__all__ = ["TABLE"]

_EC2_TAGS: Final = "ec2:CreateTags ec2:DeleteTags"
_EKS_TAGS: Final = "eks:TagResource eks:UntagResource"
_HANDING_OVER: Final = "iam:PassRole iam:GetRole"


def _row(token: str, schema: str, *, read: str, create: str = "", update: str = "", delete: str = "") -> Row:
    """A row from lists as the schemas write them, separated by spaces."""
    return Row(
        type=f"aws:{token}",
        source=schema if schema.startswith(("https://", "internal/")) else f"{schema}.json",
        read=tuple(read.split()),
        create=tuple(create.split()),
        update=tuple(update.split()),
        delete=tuple(delete.split()),
    )


def _setting(part: str, read: str, write: str) -> Row:
    """A part of a bucket that the provider keeps as a resource of its own."""
    return _row(
        f"s3/bucket{part}:Bucket{part}",
        "aws-s3-bucket",
        read=f"s3:ListBucket {read}",
        create=write,
        update=write,
        delete=write,
    )


_CLUSTER: Final = (
    Row(
        type="pulumi:providers:aws",
        source="https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html",
        read=("sts:GetCallerIdentity",),
    ),
    # `aws eks get-token` signs a request and calls nothing; access entries say what the token may do. Not
    # eks:AccessKubernetesApi, which lets the console show a cluster's objects.
    Row(
        type="pulumi:providers:kubernetes",
        source="https://docs.aws.amazon.com/eks/latest/userguide/create-kubeconfig.html",
        read=("eks:DescribeCluster",),
    ),
    Row(
        type="kubernetes:",
        source="https://docs.aws.amazon.com/eks/latest/userguide/create-kubeconfig.html",
        read=("eks:DescribeCluster",),
    ),
    _row(
        "eks/cluster:Cluster",
        "aws-eks-cluster",
        read="eks:DescribeCluster eks:DescribeUpdate",
        create=f"eks:CreateCluster {_EKS_TAGS} {_HANDING_OVER} iam:ListAttachedRolePolicies "
        "iam:CreateServiceLinkedRole#eks ec2:DescribeSubnets ec2:DescribeVpcs ec2:DescribeSecurityGroups "
        "kms:DescribeKey kms:CreateGrant",
        update=f"eks:UpdateClusterConfig eks:UpdateClusterVersion {_EKS_TAGS} {_HANDING_OVER}",
        delete="eks:DeleteCluster",
    ),
    # EKS looks whether the caller may start what the launch template says, and create its tags
    # (https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-tagging).
    _row(
        "eks/nodeGroup:NodeGroup",
        "aws-eks-nodegroup",
        read="eks:DescribeNodegroup eks:DescribeUpdate",
        create=f"eks:CreateNodegroup {_EKS_TAGS} {_HANDING_OVER} iam:ListAttachedRolePolicies "
        "iam:CreateServiceLinkedRole#eks ec2:DescribeSubnets ec2:DescribeVpcs ec2:DescribeSecurityGroups "
        "ec2:DescribeRouteTables ec2:DescribeLaunchTemplates ec2:DescribeLaunchTemplateVersions "
        "ec2:RunInstances ec2:CreateTags",
        update=f"eks:UpdateNodegroupConfig eks:UpdateNodegroupVersion {_EKS_TAGS} {_HANDING_OVER} "
        "ec2:RunInstances ec2:CreateTags",
        delete="eks:DeleteNodegroup",
    ),
    _row(
        "eks/addon:Addon",
        "aws-eks-addon",
        read="eks:DescribeAddon eks:DescribeUpdate eks:DescribePodIdentityAssociation",
        create=f"eks:CreateAddon eks:CreatePodIdentityAssociation {_EKS_TAGS} {_HANDING_OVER}",
        update="eks:UpdateAddon eks:CreatePodIdentityAssociation eks:UpdatePodIdentityAssociation "
        f"eks:DeletePodIdentityAssociation {_EKS_TAGS} {_HANDING_OVER}",
        delete="eks:DeleteAddon eks:DeletePodIdentityAssociation",
    ),
    _row(
        "eks/accessEntry:AccessEntry",
        "aws-eks-accessentry",
        read="eks:DescribeAccessEntry",
        create=f"eks:CreateAccessEntry {_EKS_TAGS}",
        update=f"eks:UpdateAccessEntry {_EKS_TAGS}",
        delete="eks:DeleteAccessEntry",
    ),
    _row(
        "eks/accessPolicyAssociation:AccessPolicyAssociation",
        "aws-eks-accessentry",
        read="eks:ListAssociatedAccessPolicies",
        create="eks:AssociateAccessPolicy",
        update="eks:AssociateAccessPolicy",
        delete="eks:DisassociateAccessPolicy",
    ),
    _row(
        "eks/podIdentityAssociation:PodIdentityAssociation",
        "aws-eks-podidentityassociation",
        read="eks:DescribePodIdentityAssociation",
        create=f"eks:CreatePodIdentityAssociation {_EKS_TAGS} {_HANDING_OVER}",
        update=f"eks:UpdatePodIdentityAssociation {_EKS_TAGS} {_HANDING_OVER}",
        delete="eks:DeletePodIdentityAssociation",
    ),
    # Tags on the Auto Scaling groups that EKS makes.
    _row(
        "autoscaling/tag:Tag",
        "internal/service/autoscaling/tag.go",
        read="autoscaling:DescribeTags",
        create="autoscaling:CreateOrUpdateTags",
        update="autoscaling:CreateOrUpdateTags",
        delete="autoscaling:DeleteTags",
    ),
    _row(
        "cloudwatch/logGroup:LogGroup",
        "aws-logs-loggroup",
        read="logs:DescribeLogGroups logs:ListTagsForResource",
        create="logs:CreateLogGroup logs:PutRetentionPolicy logs:TagResource",
        update="logs:PutRetentionPolicy logs:DeleteRetentionPolicy logs:TagResource logs:UntagResource",
        delete="logs:DeleteLogGroup",
    ),
)

_NETWORK: Final = (
    _row(
        "ec2/vpc:Vpc",
        "aws-ec2-vpc",
        read="ec2:DescribeVpcs ec2:DescribeVpcAttribute ec2:DescribeNetworkAcls ec2:DescribeRouteTables "
        "ec2:DescribeSecurityGroups",
        create=f"ec2:CreateVpc ec2:ModifyVpcAttribute {_EC2_TAGS}",
        update=f"ec2:ModifyVpcAttribute {_EC2_TAGS}",
        delete="ec2:DeleteVpc",
    ),
    _row(
        "ec2/subnet:Subnet",
        "aws-ec2-subnet",
        read="ec2:DescribeSubnets",
        create=f"ec2:CreateSubnet ec2:ModifySubnetAttribute {_EC2_TAGS}",
        update=f"ec2:ModifySubnetAttribute {_EC2_TAGS}",
        # What still stands in it is looked for before it goes.
        delete="ec2:DeleteSubnet ec2:DescribeNetworkInterfaces",
    ),
    _row(
        "ec2/internetGateway:InternetGateway",
        "aws-ec2-internetgateway",
        read="ec2:DescribeInternetGateways",
        create=f"ec2:CreateInternetGateway ec2:AttachInternetGateway {_EC2_TAGS}",
        update=f"ec2:AttachInternetGateway ec2:DetachInternetGateway {_EC2_TAGS}",
        delete="ec2:DetachInternetGateway ec2:DeleteInternetGateway",
    ),
    _row(
        "ec2/natGateway:NatGateway",
        "aws-ec2-natgateway",
        read="ec2:DescribeNatGateways",
        create=f"ec2:CreateNatGateway {_EC2_TAGS}",
        update=_EC2_TAGS,
        delete="ec2:DeleteNatGateway",
    ),
    _row(
        "ec2/eip:Eip",
        "aws-ec2-eip",
        read="ec2:DescribeAddresses ec2:DescribeAddressesAttribute",
        create=f"ec2:AllocateAddress {_EC2_TAGS}",
        update=_EC2_TAGS,
        delete="ec2:DisassociateAddress ec2:ReleaseAddress",
    ),
    _row(
        "ec2/routeTable:RouteTable",
        "aws-ec2-routetable",
        read="ec2:DescribeRouteTables",
        create=f"ec2:CreateRouteTable {_EC2_TAGS}",
        update=_EC2_TAGS,
        delete="ec2:DisassociateRouteTable ec2:DeleteRouteTable",
    ),
    _row(
        "ec2/route:Route",
        "aws-ec2-route",
        read="ec2:DescribeRouteTables",
        create="ec2:CreateRoute",
        update="ec2:ReplaceRoute",
        delete="ec2:DeleteRoute",
    ),
    _row(
        "ec2/routeTableAssociation:RouteTableAssociation",
        "aws-ec2-subnetroutetableassociation",
        read="ec2:DescribeRouteTables",
        create="ec2:AssociateRouteTable",
        update="ec2:ReplaceRouteTableAssociation",
        delete="ec2:DisassociateRouteTable",
    ),
    _row(
        "ec2/securityGroup:SecurityGroup",
        "aws-ec2-securitygroup",
        read="ec2:DescribeSecurityGroups ec2:DescribeSecurityGroupRules",
        create="ec2:CreateSecurityGroup ec2:AuthorizeSecurityGroupIngress ec2:AuthorizeSecurityGroupEgress "
        f"ec2:RevokeSecurityGroupEgress {_EC2_TAGS}",
        update="ec2:AuthorizeSecurityGroupIngress ec2:AuthorizeSecurityGroupEgress "
        f"ec2:RevokeSecurityGroupIngress ec2:RevokeSecurityGroupEgress {_EC2_TAGS}",
        delete="ec2:DeleteSecurityGroup ec2:DescribeNetworkInterfaces",
    ),
    # AWS makes it with the VPC; the provider tags it, then takes its rules away.
    _row(
        "ec2/defaultSecurityGroup:DefaultSecurityGroup",
        "internal/service/ec2/vpc_default_security_group.go",
        read="ec2:DescribeSecurityGroups ec2:DescribeSecurityGroupRules",
        create=f"ec2:CreateTags#default {_EC2_TAGS} ec2:RevokeSecurityGroupIngress "
        "ec2:RevokeSecurityGroupEgress",
        update=f"{_EC2_TAGS} ec2:RevokeSecurityGroupIngress ec2:RevokeSecurityGroupEgress",
    ),
    *(
        _row(
            f"vpc/securityGroup{way}Rule:SecurityGroup{way}Rule",
            f"aws-ec2-securitygroup{way.lower()}",
            read="ec2:DescribeSecurityGroupRules",
            create=f"ec2:AuthorizeSecurityGroup{way} {_EC2_TAGS}",
            update=f"ec2:ModifySecurityGroupRules {_EC2_TAGS}",
            delete=f"ec2:RevokeSecurityGroup{way}",
        )
        for way in ("Ingress", "Egress")
    ),
    _row(
        "ec2/vpcEndpoint:VpcEndpoint",
        "aws-ec2-vpcendpoint",
        read="ec2:DescribeVpcEndpoints ec2:DescribePrefixLists",
        create=f"ec2:CreateVpcEndpoint {_EC2_TAGS}",
        update=f"ec2:ModifyVpcEndpoint {_EC2_TAGS}",
        delete="ec2:DeleteVpcEndpoints",
    ),
    _row(
        "ec2/launchTemplate:LaunchTemplate",
        "aws-ec2-launchtemplate",
        read="ec2:DescribeLaunchTemplates ec2:DescribeLaunchTemplateVersions",
        create=f"ec2:CreateLaunchTemplate {_EC2_TAGS}",
        update=f"ec2:CreateLaunchTemplateVersion ec2:ModifyLaunchTemplate {_EC2_TAGS}",
        delete="ec2:DeleteLaunchTemplate",
    ),
    _row(
        "ec2/placementGroup:PlacementGroup",
        "aws-ec2-placementgroup",
        read="ec2:DescribePlacementGroups",
        create=f"ec2:CreatePlacementGroup {_EC2_TAGS}",
        update=_EC2_TAGS,
        delete="ec2:DeletePlacementGroup",
    ),
)

_IDENTITY: Final = (
    _row(
        "iam/role:Role",
        "aws-iam-role",
        read="iam:GetRole iam:ListRolePolicies iam:ListAttachedRolePolicies",
        create="iam:CreateRole iam:TagRole",
        # Deliberately no `PutRolePermissionsBoundary`: it would take a role over that has none.
        update="iam:UpdateRole iam:UpdateAssumeRolePolicy iam:TagRole iam:UntagRole",
        delete="iam:DeleteRole iam:ListInstanceProfilesForRole",
    ),
    _row(
        "iam/rolePolicy:RolePolicy",
        "aws-iam-rolepolicy",
        read="iam:GetRolePolicy",
        create="iam:PutRolePolicy",
        update="iam:PutRolePolicy",
        delete="iam:DeleteRolePolicy",
    ),
    _row(
        "iam/rolePolicyAttachment:RolePolicyAttachment",
        "internal/service/iam/role_policy_attachment.go",
        read="iam:ListAttachedRolePolicies",
        create="iam:AttachRolePolicy",
        delete="iam:DetachRolePolicy",
    ),
    _row(
        "iam/policy:Policy",
        "aws-iam-managedpolicy",
        read="iam:GetPolicy iam:GetPolicyVersion iam:ListPolicyVersions",
        create="iam:CreatePolicy iam:TagPolicy",
        update="iam:CreatePolicyVersion iam:DeletePolicyVersion iam:TagPolicy iam:UntagPolicy",
        delete="iam:DeletePolicyVersion iam:DeletePolicy",
    ),
    _row(
        "iam/openIdConnectProvider:OpenIdConnectProvider",
        "aws-iam-oidcprovider",
        read="iam:GetOpenIDConnectProvider",
        create="iam:CreateOpenIDConnectProvider iam:TagOpenIDConnectProvider",
        update="iam:UpdateOpenIDConnectProviderThumbprint iam:AddClientIDToOpenIDConnectProvider "
        "iam:RemoveClientIDFromOpenIDConnectProvider iam:TagOpenIDConnectProvider "
        "iam:UntagOpenIDConnectProvider",
        delete="iam:DeleteOpenIDConnectProvider",
    ),
)

_STORAGE: Final = (
    # A key is never deleted at once: KMS keeps it for days, and CancelKeyDeletion is a person's.
    _row(
        "kms/key:Key",
        "aws-kms-key",
        read="kms:DescribeKey kms:GetKeyPolicy kms:GetKeyRotationStatus kms:ListResourceTags",
        create="kms:CreateKey kms:TagResource#new kms:EnableKeyRotation kms:PutKeyPolicy",
        update="kms:PutKeyPolicy kms:EnableKeyRotation kms:DisableKeyRotation kms:EnableKey kms:DisableKey "
        "kms:UpdateKeyDescription kms:TagResource kms:UntagResource",
        delete="kms:ScheduleKeyDeletion",
    ),
    _row(
        "kms/alias:Alias",
        "aws-kms-alias",
        read="kms:ListAliases",
        create="kms:CreateAlias",
        update="kms:UpdateAlias",
        delete="kms:DeleteAlias",
    ),
    # The provider reads all settings of a bucket, those of other resources as well. ListBucket is what
    # HeadBucket asks for: it shows objects' names, never what is in them.
    _row(
        "s3/bucket:Bucket",
        "aws-s3-bucket",
        read="s3:ListBucket s3:GetBucketLocation s3:GetBucketPolicy s3:GetBucketAcl s3:GetBucketCORS "
        "s3:GetBucketWebsite s3:GetBucketVersioning s3:GetAccelerateConfiguration "
        "s3:GetBucketRequestPayment s3:GetBucketLogging s3:GetLifecycleConfiguration "
        "s3:GetReplicationConfiguration s3:GetEncryptionConfiguration s3:GetBucketObjectLockConfiguration "
        "s3:GetBucketTagging s3:ListTagsForResource",
        create="s3:CreateBucket s3:PutBucketTagging s3:TagResource",
        update="s3:PutBucketTagging s3:TagResource s3:UntagResource",
        # Objects of the buckets that a teardown takes, and of no other: `AwsScope.emptied`.
        delete="s3:DeleteBucket s3:ListBucketVersions s3:DeleteObject s3:DeleteObjectVersion",
    ),
    _setting("PublicAccessBlock", "s3:GetBucketPublicAccessBlock", "s3:PutBucketPublicAccessBlock"),
    _setting("OwnershipControls", "s3:GetBucketOwnershipControls", "s3:PutBucketOwnershipControls"),
    _setting("Versioning", "s3:GetBucketVersioning", "s3:PutBucketVersioning"),
    _setting(
        "ServerSideEncryptionConfiguration", "s3:GetEncryptionConfiguration", "s3:PutEncryptionConfiguration"
    ),
    _setting("LifecycleConfiguration", "s3:GetLifecycleConfiguration", "s3:PutLifecycleConfiguration"),
    _row(
        "s3/bucketPolicy:BucketPolicy",
        "aws-s3-bucketpolicy",
        read="s3:ListBucket s3:GetBucketPolicy",
        create="s3:PutBucketPolicy",
        update="s3:PutBucketPolicy",
        delete="s3:DeleteBucketPolicy",
    ),
    _row(
        "fsx/lustreFileSystem:LustreFileSystem",
        "https://docs.aws.amazon.com/fsx/latest/LustreGuide/security_iam_id-based-policy-examples.html",
        read="fsx:DescribeFileSystems fsx:ListTagsForResource",
        create="fsx:CreateFileSystem fsx:TagResource#new iam:CreateServiceLinkedRole#fsx "
        "ec2:DescribeSubnets ec2:DescribeVpcs ec2:DescribeSecurityGroups ec2:DescribeRouteTables "
        "ec2:GetSecurityGroupsForVpc kms:DescribeKey kms:CreateGrant",
        update="fsx:UpdateFileSystem fsx:TagResource fsx:UntagResource",
        # Its last backup is a new resource with the file system's tags.
        delete="fsx:DeleteFileSystem fsx:CreateBackup fsx:TagResource#new",
    ),
    # FSx makes a service-linked role that reads and writes the bucket, in the caller's name
    # (https://docs.aws.amazon.com/fsx/latest/LustreGuide/setting-up.html#fsx-adding-permissions-s3).
    _row(
        "fsx/dataRepositoryAssociation:DataRepositoryAssociation",
        "aws-fsx-datarepositoryassociation",
        read="fsx:DescribeDataRepositoryAssociations fsx:ListTagsForResource",
        create="fsx:CreateDataRepositoryAssociation fsx:TagResource#new s3:ListBucket s3:GetBucketPolicy "
        "s3:PutBucketPolicy iam:CreateServiceLinkedRole#fsx iam:AttachRolePolicy#fsx iam:PutRolePolicy#fsx",
        update="fsx:UpdateDataRepositoryAssociation fsx:TagResource fsx:UntagResource",
        delete="fsx:DeleteDataRepositoryAssociation",
    ),
)

_MONEY: Final = (
    _row(
        "budgets/budget:Budget",
        "internal/service/budgets/budget.go",
        read="budgets:ViewBudget budgets:ListTagsForResource",
        create="budgets:ModifyBudget budgets:TagResource",
        update="budgets:ModifyBudget budgets:TagResource budgets:UntagResource",
        delete="budgets:ModifyBudget",
    ),
)

TABLE: Final[Table] = {row.type: row for row in (*_CLUSTER, *_NETWORK, *_IDENTITY, *_STORAGE, *_MONEY)}
