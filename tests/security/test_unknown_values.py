"""POL-1: an unknown value neither crashes a rule nor passes it, nor hides what is known beside it."""

from __future__ import annotations

import pytest

HOST = "token.actions.githubusercontent.com"
ARN = f"arn:aws:iam::123456789012:oidc-provider/{HOST}"
ROLE = "aws:iam/role:Role"
EXACT = "repo:acme/shop:environment:prod"
WIDE = "repo:acme/*"


def role(condition, provider=ARN):
    made = {
        "Effect": "Allow",
        "Principal": {"Federated": provider},
        "Action": "sts:AssumeRoleWithWebIdentity",
    }
    return {"assumeRolePolicy": {"Statement": [{**made, **({"Condition": condition} if condition else {})}]}}


def condition(sub, aud="sts.amazonaws.com"):
    return {"StringLike": {f"{HOST}:sub": sub}, "StringEquals": {f"{HOST}:aud": aud}}


def unknown_beside_known(mark):
    rule = {"protocol": "tcp", "fromPort": 22, "toPort": 22}
    return [
        (
            "aws:ec2/securityGroup:SecurityGroup",
            {"ingress": [mark, {**rule, "cidrBlocks": ["0.0.0.0/0", mark]}]},
        ),
        (
            "azure-native:network:NetworkSecurityGroup",
            {
                "securityRules": [
                    mark,
                    {"sourceAddressPrefixes": [mark, "*"], "destinationPortRange": "22", "protocol": "Tcp"},
                ]
            },
        ),
        (
            "gcp:compute/firewall:Firewall",
            {
                "network": mark,
                "sourceRanges": [mark, "0.0.0.0/0"],
                "allows": [{"protocol": "tcp", "ports": ["22"]}],
            },
        ),
        (
            "aws:eks/cluster:Cluster",
            {
                "roleArn": mark,
                "encryptionConfig": mark,
                "vpcConfig": {"publicAccessCidrs": [mark, "0.0.0.0/0"]},
            },
        ),
        (ROLE, role(condition([EXACT, mark, WIDE]))),
        (ROLE, role(condition(WIDE), provider=mark)),
        (ROLE, role(None, provider=mark)),
        ("gcp:serviceaccount/iAMBinding:IAMBinding", {"members": [mark, "allUsers"]}),
        (
            "azure-native:managedidentity:FederatedIdentityCredential",
            {"issuer": mark, "subject": WIDE, "audiences": [mark]},
        ),
        (
            "azure-native:storage:StorageAccount",
            {"tags": {"environment": "dev"}, "allowBlobPublicAccess": mark},
        ),
        (
            "aws:ec2/launchTemplate:LaunchTemplate",
            {"blockDeviceMappings": [mark, {"ebs": {"volumeSize": 1}}]},
        ),
    ]


@pytest.mark.parametrize("index", range(11))
def test_pol_1_what_is_known_to_be_wrong_blocks_beside_an_unknown(pack, mark, index):
    type_, props = unknown_beside_known(mark)[index]
    notes = pack.register(type_, props)
    assert notes
    assert all(note.mandatory for note in notes)
    assert not any("can't run policy" in note.message for note in notes)


def unknown_alone(mark):
    return [
        (ROLE, {"assumeRolePolicy": mark}),
        (ROLE, {"assumeRolePolicy": {"Statement": mark}}),
        (ROLE, role(mark)),
        (ROLE, role(condition(mark))),
        (ROLE, role(condition([EXACT, mark]))),
        (ROLE, role(condition(EXACT, aud=mark))),
        (ROLE, role({"StringEquals": mark})),
        ("aws:iam/openIdConnectProvider:OpenIdConnectProvider", {"url": mark}),
        (
            "azure-native:managedidentity:FederatedIdentityCredential",
            {"issuer": f"https://{HOST}", "subject": mark, "audiences": ["api://AzureADTokenExchange"]},
        ),
        (
            "azure-native:managedidentity:FederatedIdentityCredential",
            {"issuer": f"https://{HOST}", "subject": EXACT, "audiences": mark},
        ),
        (
            "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
            {"oidc": {"issuerUri": f"https://{HOST}"}, "attributeCondition": mark},
        ),
        (
            "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
            {"oidc": mark, "attributeCondition": "true"},
        ),
        ("gcp:projects/iAMMember:IAMMember", {"role": "r", "member": mark}),
        ("gcp:projects/iAMBinding:IAMBinding", {"role": "r", "members": ["group:a@b", mark]}),
        ("aws:s3/bucketPolicy:BucketPolicy", {"policy": mark}),
        (
            "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
            {
                "blockPublicAcls": mark,
                "blockPublicPolicy": True,
                "ignorePublicAcls": True,
                "restrictPublicBuckets": True,
            },
        ),
        ("aws:ec2/securityGroup:SecurityGroup", {"ingress": mark}),
        (
            "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
            {"ipProtocol": "tcp", "fromPort": 22, "toPort": 22, "cidrIpv4": mark},
        ),
        (
            "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
            {"ipProtocol": "tcp", "fromPort": mark, "toPort": mark, "cidrIpv4": "0.0.0.0/0"},
        ),
        (
            "azure-native:network:SecurityRule",
            {"sourceAddressPrefix": mark, "destinationPortRange": "22", "protocol": "Tcp"},
        ),
        (
            "azure-native:network:SecurityRule",
            {"sourceAddressPrefix": "*", "destinationPortRange": mark, "protocol": "Tcp"},
        ),
        ("gcp:compute/firewall:Firewall", {"sourceRanges": ["0.0.0.0/0"], "allows": mark}),
        ("aws:eks/cluster:Cluster", {"encryptionConfig": {}, "vpcConfig": mark}),
        ("aws:eks/cluster:Cluster", {"encryptionConfig": {}, "vpcConfig": {"publicAccessCidrs": mark}}),
        (
            "azure-native:containerservice:ManagedCluster",
            {"disableLocalAccounts": True, "apiServerAccessProfile": mark},
        ),
        ("gcp:container/cluster:Cluster", {"masterAuthorizedNetworksConfig": mark}),
        ("aws:rds/instance:Instance", {"storageEncrypted": mark}),
        ("aws:efs/fileSystem:FileSystem", {"encrypted": True, "tags": mark}),
        ("aws:ec2/launchTemplate:LaunchTemplate", {"blockDeviceMappings": mark}),
        ("azure-native:containerregistry:Registry", {"adminUserEnabled": mark}),
        ("gcp:storage/bucket:Bucket", {"forceDestroy": mark}),
    ]


@pytest.mark.parametrize("index", range(31))
def test_pol_1_an_unknown_that_decides_is_an_explicit_note_and_no_pass(pack, mark, index):
    type_, props = unknown_alone(mark)[index]
    assert pack.register(type_, props) == []
    notes = pack.finish()
    assert notes
    assert all(not note.mandatory and "not evaluated: [" in note.message for note in notes)


@pytest.mark.parametrize("index", range(31))
def test_pol_1_what_is_not_evaluated_blocks_where_operations_ask_for_that(pack, mark, index):
    pack.configure(notEvaluated="fail")
    type_, props = unknown_alone(mark)[index]
    notes = pack.register(type_, props)
    assert notes
    assert all(note.mandatory for note in notes)


@pytest.mark.parametrize("extra", ["tags", "description", "name", "permissionsBoundary", "inlinePolicies"])
def test_an_unknown_that_no_rule_needs_says_nothing(pack, mark, extra):
    assert pack.register(ROLE, {**role(condition(EXACT)), extra: mark}) == []
    assert pack.finish() == []


def test_an_unknown_beside_an_exact_subject_only_narrows_it(pack, mark):
    props = role({**condition(EXACT), "StringEqualsIgnoreCase": {f"{HOST}:actor": mark}})
    assert pack.register(ROLE, props) == []
    assert pack.finish() == []


@pytest.mark.parametrize(
    ("type_", "key"),
    [
        (ROLE, "assumeRolePolicy"),
        ("aws:s3/bucketPolicy:BucketPolicy", "policy"),
        ("gcp:projects/iAMMember:IAMMember", "member"),
    ],
)
def test_a_note_names_what_is_unknown(pack, mark, type_, key):
    pack.register(type_, {key: mark})
    (note,) = pack.finish()
    assert note.message.endswith(f"r: {key} is unknown until update")


@pytest.mark.parametrize("source", [["arn:aws:s3:::acme"], {"arn": "x"}])
def test_a_source_of_an_odd_shape_is_a_note_and_no_exception(pack, source):
    assert pack.register("aws:lambda/permission:Permission", {"principal": "*", "sourceArn": source}) == []
    (note,) = pack.finish()
    assert "a source of an unexpected shape" in note.message


@pytest.mark.parametrize(
    ("type_", "props"),
    [
        ("azure-native:network:SecurityRule", {"destinationPortRange": "²", "direction": "Inbound"}),
        ("aws:eks/cluster:Cluster", {"version": "1.²"}),
    ],
)
def test_a_digit_that_is_no_number_raises_nothing(pack, type_, props):
    assert isinstance(pack.register(type_, props), list)
