"""AWS. Source: hashicorp/terraform-provider-aws' `ForceNew` (internal/service/*/*.go), read in 2026."""

from __future__ import annotations

from typing import Final

from gpuplatform.replacement.rule import Replacement

__all__ = ["ALWAYS", "REPLACEMENTS"]

ALWAYS: Final = ("region",)
"""Every resource of pulumi-aws 7 has a region of its own; none can move."""

REPLACEMENTS: Final = (
    Replacement(
        "aws:ec2/vpc:Vpc",
        name="",
        replace=("cidrBlock", "ipv4IpamPoolId", "ipv4NetmaskLength"),
    ),
    Replacement(
        "aws:ec2/subnet:Subnet",
        name="",
        replace=("cidrBlock", "vpcId", "availabilityZone", "availabilityZoneId", "ipv6Native", "outpostArn"),
    ),
    Replacement(
        "aws:ec2/internetGateway:InternetGateway",
        name="",
    ),
    Replacement(
        "aws:ec2/eip:Eip",
        name="",
        replace=("domain", "networkBorderGroup", "publicIpv4Pool"),
    ),
    Replacement(
        "aws:ec2/natGateway:NatGateway",
        name="",
        replace=("allocationId", "subnetId", "connectivityType", "privateIp"),
    ),
    Replacement(
        "aws:ec2/routeTable:RouteTable",
        name="",
        replace=("vpcId",),
    ),
    Replacement(
        "aws:ec2/route:Route",
        name="",
        replace=(
            "routeTableId",
            "destinationCidrBlock",
            "destinationIpv6CidrBlock",
            "destinationPrefixListId",
        ),
    ),
    Replacement(
        "aws:ec2/routeTableAssociation:RouteTableAssociation",
        name="",
        replace=("subnetId", "gatewayId"),
    ),
    Replacement(
        "aws:ec2/securityGroup:SecurityGroup",
        replace=("description", "vpcId", "namePrefix"),
    ),
    Replacement(
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        name="",
        replace=("securityGroupId",),
    ),
    Replacement(
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
        name="",
        replace=("securityGroupId",),
    ),
    Replacement(
        "aws:ec2/securityGroupRule:SecurityGroupRule",
        name="",
        replace=("securityGroupId", "type", "protocol", "fromPort", "toPort", "cidrBlocks", "self"),
    ),
    Replacement(
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        name="",
        replace=("serviceName", "vpcId", "vpcEndpointType"),
    ),
    Replacement(
        "aws:ec2/launchTemplate:LaunchTemplate",
        replace=("namePrefix",),
        recomputed=("latestVersion",),
    ),
    Replacement(
        "aws:ec2/placementGroup:PlacementGroup",
        replace=("strategy", "partitionCount", "spreadLevel"),
    ),
    Replacement(
        "aws:iam/role:Role",
        replace=("path", "namePrefix"),
    ),
    Replacement(
        "aws:iam/policy:Policy",
        replace=("path", "description", "namePrefix"),
    ),
    Replacement(
        "aws:iam/rolePolicy:RolePolicy",
        replace=("role", "namePrefix"),
    ),
    Replacement(
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        name="",
        replace=("role", "policyArn"),
    ),
    Replacement(
        "aws:iam/instanceProfile:InstanceProfile",
        replace=("path", "namePrefix"),
    ),
    Replacement(
        "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
        name="",
        replace=("url",),
    ),
    Replacement(
        "aws:kms/key:Key",
        name="",
        replace=("customerMasterKeySpec", "keyUsage"),
    ),
    Replacement(
        "aws:kms/alias:Alias",
        replace=("namePrefix",),
    ),
    Replacement(
        "aws:cloudwatch/logGroup:LogGroup",
        replace=("namePrefix", "logGroupClass"),
    ),
    Replacement(
        "aws:eks/cluster:Cluster",
        replace=(
            "roleArn",
            "accessConfig.bootstrapClusterCreatorAdminPermissions",
            "bootstrapSelfManagedAddons",
            "kubernetesNetworkConfig.ipFamily",
            "kubernetesNetworkConfig.serviceIpv4Cidr",
            "outpostConfig",
            "remoteNetworkConfig",
        ),
    ),
    Replacement(
        "aws:eks/nodeGroup:NodeGroup",
        name="nodeGroupName",
        replace=(
            "amiType",
            "capacityType",
            "clusterName",
            "diskSize",
            "instanceTypes",
            "launchTemplate.id",
            "launchTemplate.name",
            "nodeGroupNamePrefix",
            "nodeRoleArn",
            "remoteAccess",
            "subnetIds",
        ),
    ),
    Replacement(
        "aws:eks/addon:Addon",
        name="",
        replace=("addonName", "clusterName"),
    ),
    Replacement(
        "aws:eks/accessEntry:AccessEntry",
        name="",
        replace=("clusterName", "principalArn", "type"),
    ),
    Replacement(
        "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
        name="",
        replace=("accessScope", "clusterName", "policyArn", "principalArn"),
    ),
    Replacement(
        "aws:eks/podIdentityAssociation:PodIdentityAssociation",
        name="",
        replace=("clusterName", "namespace", "serviceAccount"),
    ),
    Replacement(
        "aws:autoscaling/tag:Tag",
        name="",
        replace=("autoscalingGroupName", "tag.key"),
    ),
)
