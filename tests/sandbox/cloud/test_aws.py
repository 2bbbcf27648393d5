import json

import pytest

from gpuplatform.sandbox.cloud.aws.functions import zones
from gpuplatform.sandbox.sdk_types import UNKNOWN

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
ROLE = "aws:iam/role:Role"
CLUSTER = "aws:eks/cluster:Cluster"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
ADDON = "aws:eks/addon:Addon"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
TRUST = json.dumps({"Version": "2012-10-17", "Statement": []})


@pytest.fixture
def aws(client):
    return client("aws", region="us-east-1")


@pytest.fixture
def network(aws):
    vpc = aws.up(VPC, "net", {"cidrBlock": "10.0.0.0/16"})
    subnets = [
        aws.up(
            SUBNET,
            f"nodes-{zone}",
            {"vpcId": vpc.id, "cidrBlock": f"10.0.{i}.0/24", "availabilityZoneId": zone},
        )
        for i, zone in enumerate(["use1-az4", "use1-az6"])
    ]
    return vpc, subnets


@pytest.fixture
def cluster(aws, network):
    _, subnets = network
    role = aws.up(ROLE, "cluster", {"assumeRolePolicy": TRUST})
    inputs = {
        "name": "train",
        "roleArn": role.outputs["arn"],
        "version": "1.34",
        "vpcConfig": {"subnetIds": [s.id for s in subnets]},
        "accessConfig": {"authenticationMode": "API"},
    }
    return aws.up(CLUSTER, "cluster", inputs)


def group(aws, cluster, network, name="nodes", **changes):
    role = aws.up(ROLE, f"{name}-role", {"assumeRolePolicy": TRUST})
    inputs = {
        "clusterName": cluster.id,
        "nodeRoleArn": role.outputs["arn"],
        "subnetIds": [s.id for s in network[1]],
        "scalingConfig": {"minSize": 1.0, "desiredSize": 1.0, "maxSize": 2.0},
    }
    return aws.up(NODE_GROUP, name, {**inputs, **changes})


def test_a_cluster_has_the_outputs_that_programs_build_on(cluster, network):
    outputs = cluster.outputs

    assert outputs["endpoint"].endswith(".gr7.us-east-1.eks.amazonaws.com")
    assert outputs["identities"][0]["oidcs"][0]["issuer"].startswith(
        "https://oidc.eks.us-east-1.amazonaws.com/id/"
    )
    assert outputs["certificateAuthority"]["data"]
    assert outputs["vpcConfig"]["vpcId"] == network[0].id
    assert outputs["arn"] == "arn:aws:eks:us-east-1:123456789012:cluster/train"


def test_a_preview_knows_the_inputs_and_nothing_computed(aws):
    inputs = {"roleArn": UNKNOWN, "vpcConfig": {"subnetIds": UNKNOWN}, "version": "1.35"}

    planned = aws.preview(CLUSTER, "cluster", inputs)

    assert planned["version"] == "1.35"
    assert planned["name"].startswith("cluster-")
    assert {planned[k] for k in ("arn", "endpoint", "certificateAuthority", "identities")} == {UNKNOWN}
    assert planned["vpcConfig"]["clusterSecurityGroupId"] == UNKNOWN


def test_a_made_up_name_has_seven_digits_and_stays(aws):
    role = aws.up(ROLE, "node", {"assumeRolePolicy": TRUST})

    assert role.inputs["name"].removeprefix("node-").isalnum()
    assert len(role.inputs["name"]) == len("node-") + 7
    assert not aws.diff(role).diffs


def test_a_node_group_names_its_autoscaling_group_for_tags(aws, cluster, network, refusal):
    nodes = group(aws, cluster, network)
    name = nodes.outputs["resources"][0]["autoscalingGroups"][0]["name"]
    tag = {"key": "k8s.io/cluster-autoscaler/enabled", "value": "true", "propagateAtLaunch": False}

    made = aws.up("aws:autoscaling/tag:Tag", "tag", {"autoscalingGroupName": name, "tag": tag})

    assert made.id == f"{name},k8s.io/cluster-autoscaler/enabled"
    with refusal("AutoScalingGroup name not found"):
        aws.up("aws:autoscaling/tag:Tag", "other", {"autoscalingGroupName": "eks-x", "tag": tag})


def test_names_beyond_the_clouds_limits_are_refused_in_preview(aws):
    too_long = aws.check(ROLE, "role", {"name": "x" * 65, "assumeRolePolicy": TRUST})
    bad = aws.check(CLUSTER, "c", {"name": "a.b", "roleArn": "arn", "vpcConfig": {"subnetIds": []}})

    assert "1 to 64" in too_long.failures["name"]
    assert "no valid name" in bad.failures["name"]


def test_a_policy_that_is_no_json_is_refused_in_preview(aws):
    assert "invalid JSON" in aws.check(ROLE, "role", {"assumeRolePolicy": "{"}).failures["assumeRolePolicy"]


@pytest.mark.usefixtures("cluster", "network")
def test_what_is_named_must_exist(aws, refusal):
    with refusal("InvalidVpcID.NotFound", "vpc-0"):
        aws.up(SUBNET, "s", {"vpcId": "vpc-0", "cidrBlock": "10.0.0.0/24"})
    with refusal("ResourceNotFoundException: No cluster found for name: nope."):
        aws.up(ADDON, "a", {"clusterName": "nope", "addonName": "vpc-cni"})
    with refusal("NoSuchEntity"):
        aws.up(
            "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
            "a",
            {"role": "nope", "policyArn": "arn:aws:iam::aws:policy/X"},
        )


def test_addresses_lie_in_the_vpc_and_do_not_overlap(aws, network, refusal):
    vpc, _ = network

    with refusal("InvalidSubnet.Conflict"):
        aws.up(SUBNET, "again", {"vpcId": vpc.id, "cidrBlock": "10.0.0.0/20"})
    with refusal("InvalidSubnet.Range"):
        aws.up(SUBNET, "outside", {"vpcId": vpc.id, "cidrBlock": "192.168.0.0/24"})
    assert "InvalidVpc.Range" in aws.check(VPC, "v", {"cidrBlock": "10.0.0.0/8"}).failures["cidrBlock"]


def test_zone_names_are_the_accounts_own(aws, network):
    assert zones("us-east-1")["us-east-1a"] == "use1-az6"
    assert list(zones("eu-central-1").values()) == ["euc1-az3", "euc1-az2", "euc1-az1"]
    assert network[1][0].outputs["availabilityZone"] == "us-east-1c"
    assert (
        "use2-az1"
        in aws.check(SUBNET, "s", {"vpcId": "v", "availabilityZoneId": "use2-az1"}).failures[
            "availabilityZoneId"
        ]
    )


def test_a_cluster_needs_two_zones(aws, network, refusal):
    role = aws.up(ROLE, "r", {"assumeRolePolicy": TRUST})
    with refusal("two different AZs"):
        aws.up(CLUSTER, "c", {"roleArn": role.outputs["arn"], "vpcConfig": {"subnetIds": [network[1][0].id]}})


def test_a_second_thing_of_the_same_name_is_refused(aws, refusal):
    aws.up(ROLE, "a", {"name": "same", "assumeRolePolicy": TRUST})
    with refusal("already exists"):
        aws.up(ROLE, "b", {"name": "same", "assumeRolePolicy": TRUST})


def test_the_cloud_wants_things_deleted_in_order(aws, cluster, network, refusal):
    vpc, subnets = network
    nodes = group(aws, cluster, network)

    with refusal("DependencyViolation"):
        aws.delete(vpc)
    with refusal("Cluster has nodegroups attached (nodes-"):
        aws.delete(cluster)
    with refusal("DependencyViolation"):
        aws.delete(subnets[0])
    for made in (nodes, cluster, *subnets, vpc):
        aws.delete(made)
        aws.delete(made)  # gone already is no error


def test_an_add_on_goes_with_its_cluster(aws, cluster, world):
    addon = aws.up(ADDON, "cni", {"clusterName": cluster.id, "addonName": "vpc-cni"})

    aws.delete(cluster)

    assert aws.read(addon).id == ""
    assert not [thing for thing in world.all() if thing.token == ADDON]


def test_an_add_on_with_pods_needs_a_node(aws, cluster, network, refusal):
    with refusal("InsufficientNumberOfReplicas"):
        aws.up(ADDON, "dns", {"clusterName": cluster.id, "addonName": "coredns"})
    group(aws, cluster, network)

    assert aws.up(ADDON, "dns", {"clusterName": cluster.id, "addonName": "coredns"}).id == "train:coredns"


@pytest.mark.parametrize(
    ("changes", "replaced"),
    [
        ({"instanceTypes": ["g6.4xlarge"]}, ["instanceTypes"]),
        ({"capacityType": "SPOT"}, ["capacityType"]),
        ({"amiType": "AL2023_x86_64_NVIDIA"}, ["amiType"]),
        ({"scalingConfig": {"minSize": 0.0, "desiredSize": 1.0, "maxSize": 8.0}}, []),
        ({"labels": {"a": "b"}}, []),
        ({"version": "1.35"}, []),
    ],
)
def test_a_change_updates_or_replaces_a_node_group_as_the_provider_says(
    aws, cluster, network, changes, replaced
):
    nodes = group(aws, cluster, network, instanceTypes=["g6.12xlarge"])

    found = aws.diff(nodes, **changes)

    assert found.changes == found.DIFF_SOME
    assert list(found.replaces) == replaced
    assert not found.deleteBeforeReplace


@pytest.mark.parametrize(
    ("changes", "replaced"),
    [
        ({"remoteNetworkConfig": {"remoteNodeNetworks": {"cidrs": ["10.80.0.0/16"]}}}, []),
        ({"kubernetesNetworkConfig": {"serviceIpv4Cidr": "172.30.0.0/16"}}, ["kubernetesNetworkConfig"]),
        ({"bootstrapSelfManagedAddons": False}, ["bootstrapSelfManagedAddons"]),
    ],
)
def test_a_change_updates_or_replaces_a_cluster_as_the_provider_says(aws, cluster, changes, replaced):
    found = aws.diff(cluster, **changes)

    assert found.changes == found.DIFF_SOME
    assert list(found.replaces) == replaced


def test_a_replacement_deletes_first_where_the_name_is_the_programs_own(aws, cluster, network):
    own = group(aws, cluster, network, nodeGroupName="train")

    found = aws.diff(own, capacityType="SPOT")

    assert found.deleteBeforeReplace
    assert found.detailedDiff["capacityType"].kind == 1  # ADD_REPLACE


def test_a_nested_change_is_told_by_its_path(aws, cluster, network):
    nodes = group(aws, cluster, network)

    found = aws.diff(nodes, scalingConfig={"minSize": 1.0, "desiredSize": 1.0, "maxSize": 4.0})

    assert dict(found.detailedDiff).keys() == {"scalingConfig.maxSize"}
    assert list(found.diffs) == ["scalingConfig"]


def test_a_launch_template_gets_a_new_version_with_each_update(aws):
    made = aws.up(TEMPLATE, "gpu", {"imageId": "ami-1"})

    assert made.outputs["latestVersion"] == 1
    assert aws.update(made, preview=True, imageId="ami-2")["latestVersion"] == UNKNOWN
    assert aws.update(made, imageId="ami-2")["latestVersion"] == 2


def test_spot_in_the_launch_template_is_refused(aws, cluster, network, refusal):
    spot = aws.up(TEMPLATE, "spot", {"instanceMarketOptions": {"marketType": "spot"}})
    with refusal("Instance market options are not supported"):
        group(aws, cluster, network, launchTemplate={"id": spot.id, "version": "1"})


def test_a_capacity_block_needs_all_its_parts(aws, cluster, network, refusal):
    target = {"capacityReservationTarget": {"capacityReservationId": "cr-1"}}
    block = {"instanceType": "p5.48xlarge", "instanceMarketOptions": {"marketType": "capacity-block"}}
    half = aws.up(TEMPLATE, "half", block)
    whole = aws.up(TEMPLATE, "whole", {**block, "capacityReservationSpecification": target})

    with refusal("capacityType CAPACITY_BLOCK"):
        group(aws, cluster, network, "a", launchTemplate={"id": whole.id, "version": "1"})
    with refusal("needs its reservation's id"):
        group(
            aws,
            cluster,
            network,
            "b",
            capacityType="CAPACITY_BLOCK",
            launchTemplate={"id": half.id, "version": "1"},
        )
    bought = {"capacityType": "CAPACITY_BLOCK", "launchTemplate": {"id": whole.id, "version": "1"}}
    with refusal("cr-1 lies in one"):
        group(aws, cluster, network, "c", **bought)
    made = group(aws, cluster, network, "d", subnetIds=[network[1][0].id], **bought)
    assert made.outputs["launchTemplate"]["id"] == whole.id


def test_a_cluster_goes_up_one_minor_at_a_time(aws, cluster, refusal):
    with refusal("Unsupported Kubernetes minor version update from 1.34 to 1.36"):
        aws.update(cluster, version="1.36")
    assert aws.update(cluster, version="1.35")["version"] == "1.35"


def test_an_access_policy_needs_an_access_entry(aws, cluster, refusal):
    who = {"clusterName": cluster.id, "principalArn": "arn:aws:iam::123456789012:role/admin"}
    policy = {
        **who,
        "policyArn": "arn:aws:eks::aws:cluster-access-policy/X",
        "accessScope": {"type": "cluster"},
    }
    kind = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"

    with refusal("no access entry"):
        aws.up(kind, "a", policy)
    aws.up("aws:eks/accessEntry:AccessEntry", "e", who)
    assert aws.up(kind, "a", policy).id.startswith("train#")


def test_two_providers_of_one_program_keep_their_regions(client):
    east, west = client("aws", region="us-east-1"), client("aws", region="us-west-2")

    assert east.invoke("aws:index/getRegion:getRegion")["region"] == "us-east-1"
    assert west.up(VPC, "w", {"cidrBlock": "10.0.0.0/16"}).outputs["region"] == "us-west-2"
    assert east.up(VPC, "e", {"cidrBlock": "10.0.0.0/16"}).outputs["region"] == "us-east-1"


def test_default_tags_and_own_tags_are_joined(client):
    aws = client("aws", region="us-east-1", defaultTags=json.dumps({"tags": {"team": "ml", "a": "1"}}))

    assert aws.up(VPC, "v", {"cidrBlock": "10.0.0.0/16", "tags": {"a": "2"}}).outputs["tagsAll"] == {
        "team": "ml",
        "a": "2",
    }


def test_the_sandbox_stands_for_the_account_that_the_provider_allows(client):
    aws = client("aws", region="us-east-1", allowedAccountIds='["210987654321"]')

    assert aws.invoke("aws:index/getCallerIdentity:getCallerIdentity")["accountId"] == "210987654321"


def test_functions_answer_and_unknown_ones_say_what_there_is(aws):
    found = aws.invoke("aws:index/getAvailabilityZones:getAvailabilityZones")
    image = aws.invoke(
        "aws:ssm/getParameter:getParameter", name="/aws/service/eks/optimized-ami/1.35/image_id"
    )
    policy = aws.invoke(
        "aws:iam/getPolicyDocument:getPolicyDocument", statements=[{"actions": ["s3:*"], "resources": ["*"]}]
    )

    assert found["zoneIds"][0] == "use1-az6"
    assert image["value"].startswith("ami-")
    assert json.loads(policy["json"])["Statement"] == [
        {"Effect": "Allow", "Action": ["s3:*"], "Resource": ["*"]}
    ]
    with pytest.raises(
        LookupError, match="does not simulate the function aws:s3/getBucket:getBucket; it has aws:"
    ):
        aws.invoke("aws:s3/getBucket:getBucket", bucket="b")


def test_a_machine_type_that_is_not_there_is_refused(aws, cluster, network, refusal):
    with refusal("do not exist: [g6.12xlarg]"):
        group(aws, cluster, network, "typo", instanceTypes=["g6.12xlarg"])
    with refusal("do not exist: [p2.xlarge]"):
        group(aws, cluster, network, "retired", instanceTypes=["p2.xlarge"])


def test_a_machine_type_that_its_zone_does_not_have_is_refused(aws, cluster, network, refusal):
    with refusal("(g7e.2xlarge) is not supported in your requested Availability Zone", "use1-az4"):
        group(aws, cluster, network, "zone", instanceTypes=["g7e.2xlarge"])
    in_template = aws.up(TEMPLATE, "t", {"instanceType": "g7e.2xlarge"})
    with refusal("(g7e.2xlarge) is not supported", "use1-az4"):
        group(aws, cluster, network, "template", launchTemplate={"id": in_template.id, "version": "1"})
    assert group(aws, cluster, network, "right", instanceTypes=["g6.xlarge"]).id


def test_a_protected_cluster_is_deleted_only_once_its_protection_is_lifted(aws, network, world, refusal):
    role = aws.up(ROLE, "r", {"assumeRolePolicy": TRUST})
    place = {"vpcConfig": {"subnetIds": [subnet.id for subnet in network[1]]}}
    made = aws.up(CLUSTER, "c", {**place, "roleArn": role.outputs["arn"], "deletionProtection": True})

    with refusal("deletion protection is enabled"):
        aws.delete(made)
    world.lift_protection("dev")
    with refusal("DependencyViolation"):  # what stands on what is still known
        aws.delete(network[1][0])
    aws.delete(made)
    assert aws.read(made).id == ""


def test_what_can_be_bound_once_is_refused_the_second_time(aws, network, refusal):
    vpc, subnets = network
    tables = [aws.up("aws:ec2/routeTable:RouteTable", f"t{i}", {"vpcId": vpc.id}) for i in range(2)]
    address = aws.up("aws:ec2/eip:Eip", "a", {"domain": "vpc"})
    bound = {
        "aws:ec2/routeTableAssociation:RouteTableAssociation": (
            {"subnetId": subnets[0].id, "routeTableId": tables[0].id},
            {"subnetId": subnets[1].id},
            "Resource.AlreadyAssociated: the specified association",
        ),
        "aws:ec2/natGateway:NatGateway": (
            {"allocationId": address.id, "subnetId": subnets[0].id},
            {"allocationId": aws.up("aws:ec2/eip:Eip", "b", {"domain": "vpc"}).id},
            "Resource.AlreadyAssociated: Elastic IP address",
        ),
        "aws:ec2/vpcEndpoint:VpcEndpoint": (
            {
                "vpcId": vpc.id,
                "serviceName": "com.amazonaws.us-east-1.s3",
                "routeTableIds": [t.id for t in tables],
            },
            {"serviceName": "com.amazonaws.us-east-1.dynamodb"},
            "RouteAlreadyExists",
        ),
    }
    for token, (inputs, elsewhere, words) in bound.items():
        aws.up(token, "first", inputs)
        with refusal(words):
            aws.up(token, "second", inputs)
        assert aws.up(token, "third", {**inputs, **elsewhere}).id
