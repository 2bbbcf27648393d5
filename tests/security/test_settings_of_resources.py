"""Exposure, ports, API servers, encryption, keys and protection: hostile ones block, harmless say nothing."""

from __future__ import annotations

import json

import pytest

BUCKET = "aws:s3/bucket:Bucket"
BUCKET_POLICY = "aws:s3/bucketPolicy:BucketPolicy"
BLOCK = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
GROUP = "aws:ec2/securityGroup:SecurityGroup"
GROUP_RULE = "aws:ec2/securityGroupRule:SecurityGroupRule"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
EKS = "aws:eks/cluster:Cluster"
RDS = "aws:rds/instance:Instance"
ACCOUNT = "azure-native:storage:StorageAccount"
CONTAINER = "azure-native:storage:BlobContainer"
NSG = "azure-native:network:NetworkSecurityGroup"
NSG_RULE = "azure-native:network/v20230901:SecurityRule"
SQL_FIREWALL = "azure-native:sql:FirewallRule"
AKS = "azure-native:containerservice:ManagedCluster"
REGISTRY = "azure-native:containerregistry:Registry"
GCS = "gcp:storage/bucket:Bucket"
GCS_MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"
FIREWALL = "gcp:compute/firewall:Firewall"
GKE = "gcp:container/cluster:Cluster"
CLOUD_SQL = "gcp:sql/databaseInstance:DatabaseInstance"
FLAGS = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")
NOWHERE = "0.0.0.0"  # noqa: S104 - a setting, not a socket
DEV = {"tags": {"Environment": "Dev"}}


def allow(principal="*", effect="Allow", **condition):
    made = {"Effect": effect, "Principal": principal, "Action": "s3:GetObject", "Resource": "*"}
    document = {
        "Version": "2012-10-17",
        "Statement": [{**made, "Condition": condition} if condition else made],
    }
    return {"policy": json.dumps(document)}


def ingress(first, last, *cidrs, protocol="tcp"):
    return {"ingress": [{"protocol": protocol, "fromPort": first, "toPort": last, "cidrBlocks": list(cidrs)}]}


def nsg(source, ports, **more):
    rule = {"access": "Allow", "direction": "Inbound", "protocol": "Tcp", "sourceAddressPrefix": source}
    return {"securityRules": [{**rule, "destinationPortRange": ports, **more}]}


def firewall(ports, *sources, protocol="tcp", **more):
    allows = {"protocol": protocol, **({"ports": ports} if ports else {})}
    return {"allows": [allows], "sourceRanges": list(sources), **more}


def eks(**vpc):
    key = {"provider": {"keyArn": "arn:aws:kms:us-east-1:1:key/a"}, "resources": ["secrets"]}
    return {"version": "1.35", "encryptionConfig": key, "vpcConfig": {"subnetIds": ["a", "b"], **vpc}}


def account(**more):
    return {"kind": "StorageV2", "allowBlobPublicAccess": False, "allowSharedKeyAccess": False, **DEV, **more}


def aks(**profile):
    return {"disableLocalAccounts": True, "apiServerAccessProfile": profile}


def gke(*cidrs, **more):
    blocks = [{"cidrBlock": cidr} for cidr in cidrs]
    return {"masterAuthorizedNetworksConfig": {"cidrBlocks": blocks, **more}}


def database(**more):
    return {"storageEncrypted": True, "skipFinalSnapshot": False, **more}


HOSTILE = [
    (BUCKET, {"acl": "public-read"}, "public-access"),
    (BUCKET, {"acl": "public-read-write"}, "public-access"),
    (BUCKET, allow(), "public-access"),
    (
        BUCKET,
        {"grants": [{"type": "Group", "uri": "http://acs.amazonaws.com/groups/global/AllUsers"}]},
        "public-access",
    ),
    ("aws:s3/bucketAcl:BucketAcl", {"acl": "authenticated-read"}, "public-access"),
    (
        "aws:s3/bucketAcl:BucketAcl",
        {
            "accessControlPolicy": {
                "grants": [{"grantee": {"uri": "http://acs.amazonaws.com/groups/global/AuthenticatedUsers"}}]
            }
        },
        "public-access",
    ),
    (BUCKET_POLICY, allow(), "public-access"),
    (BUCKET_POLICY, allow({"AWS": "*"}), "public-access"),
    (BUCKET_POLICY, allow({"AWS": ["arn:aws:iam::1:root", "*"]}), "public-access"),
    (BUCKET_POLICY, allow(StringLike={"aws:Referer": "https://acme.example/*"}), "public-access"),
    (BUCKET_POLICY, allow(IpAddress={"aws:SourceIp": "0.0.0.0/0"}), "public-access"),
    (BUCKET_POLICY, allow(StringEqualsIfExists={"aws:PrincipalOrgID": "o-acme"}), "public-access"),
    (BUCKET_POLICY, allow(StringNotEquals={"aws:PrincipalAccount": "1"}), "public-access"),
    (BUCKET_POLICY, allow(StringLike={"aws:PrincipalArn": "*"}), "public-access"),
    (BLOCK, {**dict.fromkeys(FLAGS, True), "blockPublicPolicy": False}, "public-access"),
    (BLOCK, {"blockPublicAcls": True}, "public-access"),
    ("aws:sqs/queuePolicy:QueuePolicy", allow(), "public-access"),
    ("aws:kms/key:Key", allow({"AWS": "*"}), "public-access"),
    (
        "aws:lambda/permission:Permission",
        {"principal": "*", "action": "lambda:InvokeFunction"},
        "public-access",
    ),
    ("aws:lambda/functionUrl:FunctionUrl", {"authorizationType": "NONE"}, "public-access"),
    (RDS, database(publiclyAccessible=True), "public-access"),
    (ACCOUNT, account(allowBlobPublicAccess=True), "public-access"),
    (CONTAINER, {"publicAccess": "Container"}, "public-access"),
    (CONTAINER, {"publicAccess": "Blob"}, "public-access"),
    (SQL_FIREWALL, {"startIpAddress": NOWHERE, "endIpAddress": "255.255.255.255"}, "public-access"),
    (SQL_FIREWALL, {"startIpAddress": NOWHERE, "endIpAddress": NOWHERE}, "public-access"),
    (SQL_FIREWALL, {"startIpAddress": "0.0.0.1", "endIpAddress": "255.255.255.255"}, "public-access"),
    (SQL_FIREWALL, {"startIpAddress": "1.0.0.0", "endIpAddress": "223.255.255.255"}, "public-access"),
    ("azure-native:redis:FirewallRule", {"startIP": NOWHERE, "endIP": "255.255.255.255"}, "public-access"),
    (BUCKET_POLICY, allow(["*"]), "public-access"),
    (BUCKET_POLICY, allow(StringLike={"aws:PrincipalOrgID": "o-*"}), "public-access"),
    (BUCKET_POLICY, allow(StringLike={"aws:PrincipalArn": "arn:aws:iam::*:role/*"}), "public-access"),
    (BUCKET_POLICY, allow(StringLike={"aws:SourceAccount": "????????????"}), "public-access"),
    (BUCKET_POLICY, allow(StringLike={"aws:userid": "*:*"}), "public-access"),
    (BUCKET_POLICY, allow(StringLike={"aws:SourceVpce": "vpce-*"}), "public-access"),
    (BUCKET_POLICY, allow(ArnLike={"aws:SourceArn": "arn:aws:sns:*:*:*"}), "public-access"),
    (BUCKET_POLICY, allow(StringEquals={"lambda:FunctionUrlAuthType": "NONE"}), "public-access"),
    ("aws:opensearch/domainPolicy:DomainPolicy", {"accessPolicies": allow()["policy"]}, "public-access"),
    ("aws:cloudwatch/eventBusPolicy:EventBusPolicy", allow(), "public-access"),
    ("gcp:compute/firewall:Firewall", {"allows": [{"protocol": "tcp", "ports": ["22"]}]}, "open-port"),
    (REGISTRY, {"anonymousPullEnabled": True}, "public-access"),
    (GCS_MEMBER, {"role": "roles/storage.objectViewer", "member": "allUsers"}, "public-access"),
    (
        "gcp:storage/bucketIAMBinding:BucketIAMBinding",
        {"role": "r", "members": ["allAuthenticatedUsers"]},
        "public-access",
    ),
    (
        "gcp:cloudrun/iamMember:IamMember",
        {"role": "roles/run.invoker", "member": "allUsers"},
        "public-access",
    ),
    (
        "gcp:storage/bucketAccessControl:BucketAccessControl",
        {"entity": "allUsers", "role": "READER"},
        "public-access",
    ),
    ("gcp:storage/bucketACL:BucketACL", {"roleEntities": ["READER:allUsers"]}, "public-access"),
    ("gcp:storage/bucketACL:BucketACL", {"predefinedAcl": "publicRead"}, "public-access"),
    (
        CLOUD_SQL,
        {"settings": {"ipConfiguration": {"authorizedNetworks": [{"value": "0.0.0.0/0"}]}}},
        "public-access",
    ),
    (GROUP, ingress(22, 22, "0.0.0.0/0"), "open-port"),
    (GROUP, ingress(0, 0, "0.0.0.0/0", protocol="-1"), "open-port"),
    (GROUP, ingress(0, 65535, "10.0.0.0/8", "0.0.0.0/0"), "open-port"),
    (GROUP, ingress(3000, 4000, "0.0.0.0/1", "128.0.0.0/1"), "open-port"),
    (
        GROUP,
        {"ingress": [{"protocol": "tcp", "fromPort": 22, "toPort": 22, "ipv6CidrBlocks": ["::/0"]}]},
        "open-port",
    ),
    (
        GROUP_RULE,
        {"type": "ingress", "protocol": "tcp", "fromPort": 3389, "toPort": 3389, "cidrBlocks": ["0.0.0.0/0"]},
        "open-port",
    ),
    (INGRESS, {"ipProtocol": "-1", "cidrIpv4": "0.0.0.0/0"}, "open-port"),
    (INGRESS, {"ipProtocol": "tcp", "fromPort": 988, "toPort": 988, "cidrIpv4": "0.0.0.0/0"}, "open-port"),
    (NSG, nsg("*", "22"), "open-port"),
    (NSG, nsg("Internet", "*"), "open-port"),
    (NSG, nsg("0.0.0.0/0", "3000-4000"), "open-port"),
    (
        NSG_RULE,
        nsg(None, None)["securityRules"][0]
        | {"sourceAddressPrefixes": ["10.0.0.0/8", "*"], "destinationPortRanges": ["443", "3389"]},
        "open-port",
    ),
    (FIREWALL, firewall(["22"], "0.0.0.0/0"), "open-port"),
    (FIREWALL, firewall([], "0.0.0.0/0", protocol="all"), "open-port"),
    (FIREWALL, firewall(["1-65535"], "0.0.0.0/0"), "open-port"),
    (EKS, eks(), "open-api-server"),
    (EKS, eks(endpointPublicAccess=True, publicAccessCidrs=["0.0.0.0/0"]), "open-api-server"),
    (EKS, eks(publicAccessCidrs=["10.0.0.0/8", "0.0.0.0/1", "128.0.0.0/1"]), "open-api-server"),
    (AKS, aks(), "open-api-server"),
    (AKS, aks(enablePrivateCluster=False, authorizedIPRanges=["0.0.0.0/0"]), "open-api-server"),
    (GKE, {}, "open-api-server"),
    (GKE, gke("0.0.0.0/0"), "open-api-server"),
    (GKE, gke("10.0.0.0/8", gcpPublicCidrsAccessEnabled=True), "open-api-server"),
    ("aws:ebs/volume:Volume", {"size": 10, **DEV}, "encryption"),
    (
        TEMPLATE,
        {"blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": 100}}]},
        "encryption",
    ),
    (
        TEMPLATE,
        {"blockDeviceMappings": [{"ebs": {"encrypted": "true"}}, {"ebs": {"encrypted": "false"}}]},
        "encryption",
    ),
    ("aws:ec2/instance:Instance", {"rootBlockDevice": {"volumeSize": 8}}, "encryption"),
    (EKS, {**eks(endpointPublicAccess=False), "version": "1.27", "encryptionConfig": None}, "encryption"),
    (RDS, {"skipFinalSnapshot": False}, "encryption"),
    ("aws:rds/cluster:Cluster", {"storageEncrypted": False}, "encryption"),
    ("aws:efs/fileSystem:FileSystem", DEV, "encryption"),
    ("aws:elasticache/replicationGroup:ReplicationGroup", {"engine": "redis"}, "encryption"),
    ("aws:opensearch/domain:Domain", {"encryptAtRest": {"enabled": False}}, "encryption"),
    ("aws:redshift/cluster:Cluster", {"encrypted": "false"}, "encryption"),
    (ACCOUNT, account(enableHttpsTrafficOnly=False), "encryption"),
    ("azure-native:sql:TransparentDataEncryption", {"state": "Disabled"}, "encryption"),
    ("aws:iam/accessKey:AccessKey", {"user": "ci"}, "long-lived-key"),
    ("aws:iam/userLoginProfile:UserLoginProfile", {"user": "jane"}, "long-lived-key"),
    ("gcp:serviceaccount/key:Key", {"serviceAccountId": "ci"}, "long-lived-key"),
    ("gcp:storage/hmacKey:HmacKey", {"serviceAccountEmail": "ci"}, "long-lived-key"),
    ("azuread:index/applicationPassword:ApplicationPassword", {"applicationId": "a"}, "long-lived-key"),
    (ACCOUNT, {"allowBlobPublicAccess": False, **DEV}, "long-lived-key"),
    (ACCOUNT, account(allowSharedKeyAccess=True), "long-lived-key"),
    (AKS, {**aks(enablePrivateCluster=True), "disableLocalAccounts": False}, "long-lived-key"),
    (AKS, {"apiServerAccessProfile": {"enablePrivateCluster": True}}, "long-lived-key"),
    (REGISTRY, {"adminUserEnabled": True}, "long-lived-key"),
    (
        GKE,
        {**gke("10.0.0.0/8"), "masterAuth": {"clientCertificateConfig": {"issueClientCertificate": True}}},
        "long-lived-key",
    ),
    ("kubernetes:core/v1:Secret", {"type": "kubernetes.io/service-account-token"}, "long-lived-key"),
    ("pulumi:providers:aws", {"accessKey": "AKIA", "secretKey": "s"}, "long-lived-key"),
    ("pulumi:providers:azure-native", {"clientSecret": "s"}, "long-lived-key"),
    (
        "pulumi:providers:gcp",
        {"credentials": '{"type": "service_account", "private_key": "k"}'},
        "long-lived-key",
    ),
    (BUCKET, {"forceDestroy": True}, "unprotected"),
    (RDS, database(skipFinalSnapshot=True), "unprotected"),
    (RDS, database(skipFinalSnapshot=True, tags={"environment": "prod"}), "unprotected"),
    ("aws:dynamodb/table:Table", {"tags": {"env": "production"}}, "unprotected"),
    ("aws:efs/fileSystem:FileSystem", {"encrypted": True}, "unprotected"),
    ("aws:fsx/lustreFileSystem:LustreFileSystem", {"storageCapacity": 1200}, "unprotected"),
    (ACCOUNT, {**account(), "tags": {"environment": "prod"}}, "unprotected"),
    ("azure-native:storagecache:AmlFilesystem", {}, "unprotected"),
    (GCS, {"forceDestroy": True, "labels": {"environment": "prod"}}, "unprotected"),
    (CLOUD_SQL, {"deletionProtection": False}, "unprotected"),
    ("gcp:filestore/instance:Instance", {}, "unprotected"),
]

HARMLESS = [
    (BUCKET, {}),
    (BUCKET, {"acl": "private", "policy": ""}),
    (BUCKET, {"acl": "log-delivery-write"}),
    (BUCKET, {"forceDestroy": True, **DEV}),
    (BUCKET_POLICY, allow({"AWS": "arn:aws:iam::123456789012:root"})),
    (BUCKET_POLICY, allow({"Service": "cloudtrail.amazonaws.com"})),
    (BUCKET_POLICY, allow(effect="Deny", Bool={"aws:SecureTransport": "false"})),
    (BUCKET_POLICY, allow(StringEquals={"aws:PrincipalOrgID": "o-acme"})),
    (BUCKET_POLICY, allow(StringEquals={"aws:SourceVpce": "vpce-1"})),
    (BUCKET_POLICY, allow(IpAddress={"aws:SourceIp": ["198.51.100.0/24"]})),
    (BLOCK, dict.fromkeys(FLAGS, True)),
    ("aws:sns/topicPolicy:TopicPolicy", allow(ArnEquals={"aws:SourceArn": "arn:aws:s3:::acme"})),
    ("aws:kms/key:Key", {"enableKeyRotation": True}),
    ("aws:kms/key:Key", allow({"AWS": "arn:aws:iam::123456789012:root"})),
    ("aws:lambda/permission:Permission", {"principal": "s3.amazonaws.com"}),
    ("aws:lambda/permission:Permission", {"principal": "*", "principalOrgId": "o-acme"}),
    ("aws:lambda/functionUrl:FunctionUrl", {"authorizationType": "AWS_IAM"}),
    (CONTAINER, {"publicAccess": "None"}),
    (CONTAINER, {}),
    (SQL_FIREWALL, {"startIpAddress": "198.51.100.1", "endIpAddress": "198.51.100.9"}),
    (SQL_FIREWALL, {"startIpAddress": "10.0.0.0", "endIpAddress": "10.255.255.255"}),
    (
        "aws:efs/fileSystemPolicy:FileSystemPolicy",
        allow(Bool={"elasticfilesystem:AccessedViaMountTarget": "true"}),
    ),
    (BUCKET_POLICY, allow(Bool={"aws:PrincipalIsAWSService": "true"})),
    (BUCKET_POLICY, allow(StringEquals={"aws:PrincipalServiceName": "delivery.logs.amazonaws.com"})),
    (BUCKET_POLICY, allow(StringLike={"aws:PrincipalArn": "arn:aws:iam::123456789012:role/*"})),
    (BUCKET_POLICY, allow(StringLike={"aws:userid": "AROAEXAMPLE:*"})),
    (BUCKET_POLICY, allow(StringEquals={"aws:PrincipalOrgID": "${aws:ResourceOrgID}"})),
    (BUCKET_POLICY, allow(ArnLike={"aws:SourceArn": "arn:aws:*:us-east-1:123456789012:*"})),
    (
        "gcp:compute/firewall:Firewall",
        {"sourceTags": ["bastion"], "allows": [{"protocol": "tcp", "ports": ["22"]}]},
    ),
    (GCS_MEMBER, {"role": "roles/storage.objectViewer", "member": "group:data@acme.example"}),
    (GCS, {"uniformBucketLevelAccess": True}),
    (GCS, {"forceDestroy": True, "labels": {"environment": "dev"}}),
    (CLOUD_SQL, {"settings": {"ipConfiguration": {"authorizedNetworks": [{"value": "198.51.100.0/24"}]}}}),
    (GROUP, ingress(443, 443, "0.0.0.0/0")),
    (GROUP, ingress(80, 80, "0.0.0.0/0")),
    (GROUP, ingress(22, 22, "10.0.0.0/8")),
    (GROUP, ingress(22, 22, "198.51.100.0/24")),
    (GROUP, ingress(-1, -1, "0.0.0.0/0", protocol="icmp")),
    (GROUP, {"ingress": [{"protocol": "-1", "self": True, "fromPort": 0, "toPort": 0}]}),
    (GROUP, {"egress": [{"protocol": "-1", "cidrBlocks": ["0.0.0.0/0"], "fromPort": 0, "toPort": 0}]}),
    (GROUP_RULE, {"type": "egress", "protocol": "-1", "cidrBlocks": ["0.0.0.0/0"]}),
    (INGRESS, {"ipProtocol": "-1", "referencedSecurityGroupId": "sg-1"}),
    ("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", {"vpcId": "vpc-1"}),
    (NSG, nsg("Internet", "443")),
    (NSG, nsg("10.0.0.0/8", "*")),
    (NSG, nsg("AzureLoadBalancer", "*")),
    (NSG, nsg("*", "*", access="Deny")),
    (NSG, nsg("*", "*", direction="Outbound")),
    (FIREWALL, firewall(["443"], "0.0.0.0/0")),
    (FIREWALL, firewall([], "0.0.0.0/0", protocol="icmp")),
    (FIREWALL, firewall(["22"], "35.235.240.0/20")),
    (FIREWALL, firewall(["22"], "0.0.0.0/0", direction="EGRESS")),
    (EKS, eks(endpointPublicAccess=False, endpointPrivateAccess=True)),
    (EKS, eks(endpointPublicAccess=True, publicAccessCidrs=["198.51.100.0/24"])),
    (AKS, aks(enablePrivateCluster=True)),
    (AKS, aks(authorizedIPRanges=["198.51.100.0/24"])),
    (GKE, gke("198.51.100.0/24")),
    (GKE, gke()),
    (GKE, {"privateClusterConfig": {"enablePrivateNodes": True, "enablePrivateEndpoint": True}}),
    (GKE, {"controlPlaneEndpointsConfig": {"ipEndpointsConfig": {"enabled": False}}}),
    ("aws:ebs/volume:Volume", {"encrypted": True, **DEV}),
    ("aws:ebs/volume:Volume", {"snapshotId": "snap-1", **DEV}),
    (TEMPLATE, {"blockDeviceMappings": [{"ebs": {"encrypted": "true"}}, {"virtualName": "ephemeral0"}]}),
    (TEMPLATE, {"imageId": "ami-1"}),
    ("aws:ec2/instance:Instance", {"instanceType": "t3.micro"}),
    ("aws:rds/clusterInstance:ClusterInstance", {"clusterIdentifier": "c"}),
    (RDS, {"replicateSourceDb": "main"}),
    (RDS, database()),
    (RDS, database(skipFinalSnapshot=True, deletionProtection=True)),
    (RDS, database(skipFinalSnapshot=True, **DEV)),
    ("aws:efs/fileSystem:FileSystem", {"encrypted": True, **DEV}),
    ("aws:fsx/lustreFileSystem:LustreFileSystem", {"storageCapacity": 1200, **DEV}),
    ("aws:elasticache/replicationGroup:ReplicationGroup", {"engine": "valkey"}),
    ("aws:dynamodb/table:Table", {"deletionProtectionEnabled": True}),
    ("azure-native:compute:Disk", {"diskSizeGB": 10, **DEV}),
    (ACCOUNT, account()),
    (ACCOUNT, account(kind="FileStorage", enableHttpsTrafficOnly=False)),
    (CLOUD_SQL, {}),
    ("gcp:compute/disk:Disk", {"size": 10, "labels": {"env": "sandbox"}}),
    ("gcp:filestore/instance:Instance", {"deletionProtectionEnabled": True}),
    ("aws:iam/user:User", {"name": "jane"}),
    ("aws:iam/accessKey:AccessKey", {"user": "ci", "status": "Inactive"}),
    ("gcp:serviceaccount/account:Account", {"accountId": "ci"}),
    ("kubernetes:core/v1:Secret", {"type": "Opaque"}),
    ("kubernetes:core/v1:Secret", {}),
    ("pulumi:providers:aws", {"region": "us-east-1"}),
    ("pulumi:providers:aws", {"accessKey": "ASIA", "secretKey": "s", "token": "t"}),
    ("pulumi:providers:gcp", {"credentials": '{"type": "external_account"}'}),
    (REGISTRY, {"adminUserEnabled": False}),
]


def _name(index, cases):
    return f"{index}-{cases[index][0].rpartition(':')[2]}"


@pytest.mark.parametrize("index", range(len(HOSTILE)), ids=lambda index: _name(index, HOSTILE))
def test_a_hostile_setting_blocks_for_its_reason_alone(pack, index):
    type_, props, rule = HOSTILE[index]
    notes = pack.register(type_, {key: value for key, value in props.items() if value is not None})
    assert {note.rule for note in notes} == {rule}, notes
    assert all(note.mandatory and ". " in note.message for note in notes)


@pytest.mark.parametrize("index", range(len(HARMLESS)), ids=lambda index: _name(index, HARMLESS))
def test_a_harmless_setting_says_nothing(pack, index):
    type_, props = HARMLESS[index]
    assert pack.register(type_, props) == []
    assert pack.finish() == []


def test_there_are_at_least_forty_of_each():
    assert len(HOSTILE) >= 40
    assert len(HARMLESS) >= 40


@pytest.mark.parametrize("index", [i for i, case in enumerate(HOSTILE) if case[2] == "unprotected"])
def test_what_pulumi_protects_may_hold_data(pack, index):
    type_, props, _ = HOSTILE[index]
    assert pack.register(type_, props, protect=True) == []


@pytest.mark.parametrize(("stack", "blocks"), [("shop-prod", True), ("aws-dev", False), ("Sandbox", False)])
def test_without_a_tag_the_stack_s_name_tells_the_environment(pack, stack, blocks):
    pack.stack = stack
    notes = pack.register(GCS, {"forceDestroy": True})
    assert [note.mandatory for note in notes] == [True] * blocks


def test_which_environments_are_disposable_is_operations_word(pack):
    pack.configure(disposable=["play"])
    assert pack.register(GCS, {"forceDestroy": True, "labels": {"environment": "Play"}}) == []
    assert pack.register(GCS, {"forceDestroy": True, "labels": {"environment": "dev"}})


def test_a_cluster_without_a_key_of_one_s_own_is_a_warning_or_blocks(pack):
    props = {**eks(endpointPublicAccess=False), "encryptionConfig": None}
    props = {key: value for key, value in props.items() if value is not None}
    assert pack.register(EKS, props) == []
    assert [note.rule for note in pack.finish()] == ["encryption"]
    pack.configure(customerKeys="fail")
    assert [note.mandatory for note in pack.register(EKS, props)] == [True]


def test_volumes_of_accounts_that_encrypt_by_default_say_nothing(pack):
    pack.configure(ebsEncryptedByDefault=True)
    assert pack.register("aws:ebs/volume:Volume", DEV) == []
    assert pack.register("aws:ec2/instance:Instance", {"rootBlockDevice": {"volumeSize": 8}}) == []
