"""What EC2 and EKS refuse of the machines of a pool with a fabric."""

import base64
import json

import pytest

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
ROLE = "aws:iam/role:Role"
CLUSTER = "aws:eks/cluster:Cluster"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
PLACEMENT = "aws:ec2/placementGroup:PlacementGroup"
TRUST = json.dumps({"Version": "2012-10-17", "Statement": []})
ZONES = ("use1-az6", "use1-az2")
PRIMARY = {"networkCardIndex": 0.0, "deviceIndex": 0.0, "interfaceType": "interface"}


@pytest.fixture
def aws(client):
    return client("aws", region="us-east-1")


@pytest.fixture
def launch(aws):
    """Makes a node group from a template; `zones` says in how many."""
    vpc = aws.up(VPC, "net", {"cidrBlock": "10.0.0.0/16"})
    subnets = [
        aws.up(SUBNET, zone, {"vpcId": vpc.id, "cidrBlock": f"10.0.{i}.0/24", "availabilityZoneId": zone})
        for i, zone in enumerate(ZONES)
    ]
    role = aws.up(ROLE, "role", {"assumeRolePolicy": TRUST})
    network = {"subnetIds": [subnet.id for subnet in subnets]}
    cluster = aws.up(CLUSTER, "cluster", {"roleArn": role.outputs["arn"], "vpcConfig": network})
    made = []

    def make(template=None, *, zones=1, sku="p5.48xlarge", **changes):
        made.append(aws.up(TEMPLATE, f"template-{len(made)}", template or {}))
        inputs = {
            "clusterName": cluster.id,
            "nodeRoleArn": role.outputs["arn"],
            "subnetIds": network["subnetIds"][:zones],
            "scalingConfig": {"minSize": 0.0, "desiredSize": 0.0, "maxSize": 2.0},
            "launchTemplate": {"id": made[-1].id, "version": "1"},
            "instanceTypes": [sku],
        }
        return aws.up(NODE_GROUP, f"group-{len(made)}", {**inputs, **changes})

    return make


def adapters(*places):
    cards = (
        {"networkCardIndex": float(c), "deviceIndex": float(d), "interfaceType": "efa-only"}
        for c, d in places
    )
    return {"networkInterfaces": [PRIMARY, *cards]}


def encoded(text):
    return {"userData": base64.b64encode(text.encode()).decode()}


def test_net_1_a_device_index_that_counts_cards_is_refused(launch, refusal):
    with refusal("The number 2 for the device index exceeds the maximum", "network card index 2"):
        launch(adapters((0, 1), (1, 1), (2, 2)))
    assert launch(adapters((0, 1), (1, 0), (2, 0)))


def test_two_interfaces_in_one_place_and_none_in_the_first_are_refused(launch, refusal):
    with refusal("same network card and device index"):
        launch(adapters((1, 0), (1, 0)))
    with refusal("needs an interface at network card 0, device 0"):
        launch({"networkInterfaces": [{"networkCardIndex": 1.0, "deviceIndex": 0.0}]})
    with refusal("primary network interface cannot be efa-only"):
        launch({"networkInterfaces": [{**PRIMARY, "interfaceType": "efa-only"}]})


def test_net_2_more_adapters_than_the_machine_takes_are_refused(launch, refusal):
    with refusal("5 EFA interfaces are requested on p4d.24xlarge, which takes 4"):
        launch(adapters((0, 1), (1, 0), (2, 0), (3, 0), (1, 1)), sku="p4d.24xlarge")
    with refusal("EFA interfaces are not supported on g5.xlarge"):
        launch(adapters((0, 1)), sku="g5.xlarge")


def test_net_2_the_first_card_of_a_p6_b300_takes_no_adapter(launch, refusal):
    with refusal("Network Card 0 (requested: 1, limit: 0)"):
        launch(adapters((0, 1), (1, 0)), sku="p6-b300.48xlarge")
    assert launch(adapters((1, 0), (2, 0)), sku="p6-b300.48xlarge")


def test_security_groups_stand_on_the_interfaces_or_on_the_template(aws, launch, refusal):
    vpc = aws.up(VPC, "other", {"cidrBlock": "10.1.0.0/16"})
    group = aws.up("aws:ec2/securityGroup:SecurityGroup", "group", {"vpcId": vpc.id})
    with refusal("may not be specified on the same request"):
        launch({**adapters((0, 1)), "vpcSecurityGroupIds": [group.id]})


def test_eks_1_a_cluster_placement_group_lies_in_one_zone_and_outlives_its_nodes(aws, launch, refusal):
    near = aws.up(PLACEMENT, "near", {"strategy": "cluster"})
    placed = {"placement": {"groupName": near.id}}
    with refusal(f"{near.id} lies in one"):
        launch(placed, zones=2)
    nodes = launch(placed)
    with refusal("InvalidPlacementGroup.InUse"):
        aws.delete(near)
    aws.delete(nodes)
    aws.delete(near)


def test_a_placement_group_has_one_of_three_strategies(aws):
    assert (
        "cluster, partition, spread"
        in aws.check(PLACEMENT, "near", {"strategy": "close"}).failures["strategy"]
    )


def test_a_reservation_lies_in_one_zone_and_its_target_allows_no_other_preference(launch, refusal):
    target = {"capacityReservationTarget": {"capacityReservationId": "cr-1"}}
    with refusal("cr-1 lies in one"):
        launch({"capacityReservationSpecification": target}, zones=2)
    with refusal("exclude each other"):
        launch({"capacityReservationSpecification": {**target, "capacityReservationPreference": "open"}})
    only = {**target, "capacityReservationPreference": "capacity-reservations-only"}
    assert launch({"capacityReservationSpecification": only})


def test_sto_5_user_data_has_the_form_of_the_image(launch, refusal):
    toml, mime = encoded("[settings]\na = 1\n"), encoded("MIME-Version: 1.0\nContent-Type: multipart/mixed\n")
    with refusal("not a TOML format"):
        launch(mime, amiType="BOTTLEROCKET_x86_64_NVIDIA")
    with refusal("not in the MIME multipart format"):
        launch(toml, amiType="AL2023_x86_64_NVIDIA")
    with refusal("Invalid BASE64"):
        launch({"userData": "%%%"}, amiType="AL2023_x86_64_NVIDIA")
    assert launch(toml, amiType="BOTTLEROCKET_x86_64_NVIDIA")
    assert launch(mime, amiType="AL2023_x86_64_NVIDIA")


def test_image_and_machine_have_one_architecture(launch, refusal):
    with refusal("[g5g.xlarge] is not a valid instance type for requested amiType AL2023_x86_64_NVIDIA"):
        launch(sku="g5g.xlarge", amiType="AL2023_x86_64_NVIDIA")
