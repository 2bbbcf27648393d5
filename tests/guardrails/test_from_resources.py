from __future__ import annotations

import pytest

from gpuplatform.guardrails import (
    UNKNOWN_MARKS,
    Inventory,
    RawResource,
    Status,
    Unknown,
    footprint_of_resources,
    judge,
)
from gpuplatform.guardrails.limits import Limits

MARK = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


def raw(type_, props, *, name="r", region="us-east-1", **depends):
    return RawResource(
        type=type_,
        name=name,
        urn=f"urn:pulumi:dev::p::{type_}::{name}",
        props=props,
        provider_region=region,
        depends=depends,
    )


def only_group(*resources):
    (group,) = footprint_of_resources(resources).node_groups
    return group


NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
SUBNET = "aws:ec2/subnet:Subnet"
SCALING_GROUP = "aws:autoscaling/group:Group"
SCALING = {"minSize": 1.0, "maxSize": 4.0, "desiredSize": 1.0}


# --- AWS


def test_an_eks_node_group_is_read_with_floats_as_the_wire_sends_them():
    group = only_group(
        raw(
            NODE_GROUP,
            {
                "nodeGroupName": "train",
                "instanceTypes": ["p5.48xlarge"],
                "amiType": "AL2023_x86_64_NVIDIA",
                "capacityType": "SPOT",
                "scalingConfig": SCALING,
                "labels": {"gpuplatform.io/pool": "big", "gpuplatform.io/purpose": "training"},
            },
        )
    )
    assert (group.name, group.machine, group.nodes_min, group.nodes_max) == ("big", "p5.48xlarge", 1, 4)
    assert (group.capacity, group.asks_for_gpus, group.purpose) == ("spot", True, "training")
    assert (group.region, group.zones) == ("us-east-1", ())


@pytest.mark.parametrize(
    ("sign", "asks"),
    [
        ({"amiType": "AL2_x86_64_GPU"}, True),
        ({"amiType": "BOTTLEROCKET_x86_64_NVIDIA"}, True),
        ({"taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}]}, True),
        ({"labels": {"nvidia.com/gpu.present": "true"}}, True),
        ({"labels": {"nvidia.com/gpu.present": "false"}}, False),
        ({"amiType": "AL2023_x86_64_STANDARD"}, False),
        ({}, False),
        ({"amiType": MARK}, Unknown("amiType")),
        ({"taints": [{"key": MARK}]}, Unknown("taints[0].key")),
        ({"amiType": MARK, "labels": {"nvidia.com/gpu.present": "true"}}, True),
    ],
)
def test_what_an_eks_node_group_asks_for(sign, asks):
    assert only_group(raw(NODE_GROUP, {"scalingConfig": SCALING, **sign})).asks_for_gpus == asks


def test_a_node_group_takes_its_machine_from_the_launch_template_that_its_property_depends_on():
    template = raw(TEMPLATE, {"instanceType": "p5.48xlarge", "imageId": "ami-1"}, name="lt")
    group = raw(
        NODE_GROUP,
        {"launchTemplate": {"id": MARK, "version": MARK}, "scalingConfig": SCALING},
        name="g",
        launchTemplate=(template.urn,),
    )
    found = only_group(template, group)
    assert (found.machine, found.where) == ("p5.48xlarge", group.urn)
    assert isinstance(found.asks_for_gpus, Unknown)  # its image is the template's own


def test_a_launch_template_is_found_by_its_name_too():
    template = raw(TEMPLATE, {"name": "big", "instanceType": "p4d.24xlarge"}, name="lt")
    group = raw(NODE_GROUP, {"launchTemplate": {"name": "big"}, "scalingConfig": SCALING}, name="g")
    found = {one.where: one for one in footprint_of_resources([template, group]).node_groups}
    assert found[group.urn].machine == "p4d.24xlarge"


def test_a_launch_template_out_of_sight_leaves_the_machine_unknown():
    group = only_group(raw(NODE_GROUP, {"launchTemplate": {"id": "lt-1"}, "scalingConfig": SCALING}))
    assert isinstance(group.machine, Unknown)


def test_a_node_group_without_any_machine_gets_the_default_of_eks():
    assert only_group(raw(NODE_GROUP, {"scalingConfig": SCALING})).machine == "t3.medium"


def test_zones_come_from_the_subnets_by_id_where_the_program_gave_ids():
    one = raw(SUBNET, {"availabilityZoneId": "use1-az6", "availabilityZone": MARK}, name="one")
    two = raw(SUBNET, {"availabilityZone": "us-east-1a"}, name="two")
    group = raw(
        NODE_GROUP,
        {"scalingConfig": SCALING, "subnetIds": [MARK, MARK]},
        name="g",
        subnetIds=(one.urn, two.urn),
    )
    assert only_group(one, two, group).zones == ("us-east-1a", "use1-az6")


def test_zones_of_subnets_out_of_sight_are_unknown():
    group = only_group(raw(NODE_GROUP, {"scalingConfig": SCALING, "subnetIds": ["subnet-1"]}))
    assert isinstance(group.zones, Unknown)


def test_an_autoscaling_group_counts_at_its_maximum_with_its_templates_machine():
    template = raw(
        TEMPLATE, {"instanceType": "g6.xlarge", "instanceMarketOptions": {"marketType": "spot"}}, name="lt"
    )
    group = raw(
        SCALING_GROUP,
        {"minSize": 0.0, "maxSize": 9.0, "launchTemplate": {"id": MARK}, "availabilityZones": ["us-east-1a"]},
        name="asg",
        launchTemplate=(template.urn,),
    )
    found = only_group(template, group)
    assert (found.machine, found.nodes_max, found.capacity) == ("g6.xlarge", 9, "spot")
    assert (found.zones, found.asks_for_gpus) == (("us-east-1a",), None)


def test_every_override_of_a_mixed_instances_policy_counts():
    policy = {
        "launchTemplate": {
            "launchTemplateSpecification": {"launchTemplateId": "lt-1"},
            "overrides": [{"instanceType": "g6.xlarge"}, {"instanceType": "p5.48xlarge"}],
        }
    }
    group = only_group(raw(SCALING_GROUP, {"minSize": 0, "maxSize": 2, "mixedInstancesPolicy": policy}))
    assert group.machines == ("g6.xlarge", "p5.48xlarge")


def test_eks_buys_extended_support_unless_told_otherwise():
    cluster = "aws:eks/cluster:Cluster"
    (plane,) = footprint_of_resources([raw(cluster, {"version": "1.35"})]).control_planes
    assert plane.support == "extended"
    told = {"version": "1.35", "upgradePolicy": {"supportType": "STANDARD"}}
    (plane,) = footprint_of_resources([raw(cluster, told)]).control_planes
    assert plane.support == "standard"


def test_machines_that_a_cluster_adds_by_itself_are_unknown_and_never_left_out():
    clusters = [
        raw("aws:eks/cluster:Cluster", {"version": "1.35", "computeConfig": {"enabled": True}}),
        raw(
            "azure-native:containerservice:ManagedCluster",
            {"location": "eastus", "nodeProvisioningProfile": {"mode": "Auto"}},
        ),
        raw("gcp:container/cluster:Cluster", {"location": "us-central1", "enableAutopilot": True}),
        raw(
            "gcp:container/cluster:Cluster",
            {
                "location": "us-central1",
                "removeDefaultNodePool": True,
                "clusterAutoscaling": {"enabled": True},
            },
            name="nap",
        ),
    ]
    for cluster in clusters:
        group = only_group(cluster)
        assert isinstance(group.machine, Unknown)
        assert isinstance(group.nodes_max, Unknown)


# --- Azure

AGENT_POOL = "azure-native:containerservice:AgentPool"
AKS = "azure-native:containerservice:ManagedCluster"


@pytest.mark.parametrize(
    "type_",
    [
        AGENT_POOL,
        "azure-native:containerservice/v20240101:AgentPool",
        "azure-native:containerservice/v20230102preview:AgentPool",
        "azure-native_containerservice_v20240101:containerservice:AgentPool",
    ],
)
def test_pol_3_an_agent_pool_is_read_under_each_of_its_tokens(type_):
    cluster = raw(
        AKS, {"location": "East US", "kubernetesVersion": "1.35.2", "sku": {"tier": "Standard"}}, name="c"
    )
    pool = raw(
        type_,
        {
            "agentPoolName": "train",
            "vmSize": "Standard_D16s_v5",
            "enableAutoScaling": True,
            "minCount": 0.0,
            "maxCount": 5.0,
            "count": 0.0,
            "gpuProfile": {"driver": "Install"},
            "scaleSetPriority": "Spot",
            "availabilityZones": ["2", "1"],
            "resourceName": MARK,
        },
        name="p",
        resourceName=(cluster.urn,),
    )
    group = only_group(cluster, pool)
    assert (group.name, group.machine, group.nodes_max, group.region) == (
        "train",
        "Standard_D16s_v5",
        5,
        "eastus",
    )
    assert (group.capacity, group.asks_for_gpus, group.zones) == ("spot", True, ("1", "2"))


@pytest.mark.parametrize(
    ("sign", "asks"),
    [
        ({"nodeTaints": ["nvidia.com/gpu=true:NoSchedule"]}, True),
        ({"nodeTaints": ["sku=gpu:NoSchedule"]}, True),
        ({"gpuInstanceProfile": "MIG1g"}, True),
        ({"nodeTaints": ["CriticalAddonsOnly=true:NoSchedule"]}, False),
        ({"nodeTaints": [MARK]}, Unknown("nodeTaints[0]")),
    ],
)
def test_what_an_agent_pool_asks_for(sign, asks):
    assert only_group(raw(AGENT_POOL, {"vmSize": "x", "count": 1, **sign})).asks_for_gpus == asks


def test_pol_3_inline_pools_of_an_aks_cluster_are_read_each():
    pools = [
        {"name": "system", "mode": "System", "vmSize": "Standard_D4s_v5", "count": 2.0},
        {
            "name": "gpu",
            "vmSize": "Standard_NC6s_v3",
            "enableAutoScaling": True,
            "minCount": 0,
            "maxCount": 3,
        },
        MARK,
    ]
    footprint = footprint_of_resources(
        [raw(AKS, {"location": "eastus", "agentPoolProfiles": pools}, name="c")]
    )
    gpu, system = (
        next(one for one in footprint.node_groups if one.name == name) for name in ("gpu", "system")
    )
    assert (gpu.machine, gpu.nodes_max, gpu.asks_for_gpus) == ("Standard_NC6s_v3", 3, False)
    assert (system.nodes_min, system.nodes_max) == (2, 2)
    assert any(isinstance(one.machine, Unknown) for one in footprint.node_groups)


@pytest.mark.parametrize(
    ("sku", "support"),
    [({}, "free"), ({"sku": {"tier": "Free"}}, "free"), ({"sku": {"tier": "Premium"}}, "extended")],
)
def test_the_tier_of_aks_decides_the_support(sku, support):
    (plane,) = footprint_of_resources(
        [raw(AKS, {"location": "eastus", "kubernetesVersion": "1.35.2", **sku})]
    ).control_planes
    assert (plane.support, plane.kubernetes_version) == (support, "1.35")


def test_a_cluster_without_a_location_is_where_its_resource_group_is():
    group = raw("azure-native:resources:ResourceGroup", {"location": "westeurope"}, name="rg")
    cluster = raw(AKS, {"resourceGroupName": MARK}, name="c", region="", resourceGroupName=(group.urn,))
    (plane,) = footprint_of_resources([group, cluster]).control_planes
    assert plane.region == "westeurope"


def test_machines_of_azure_beside_aks_are_read():
    machine = raw(
        "azure-native:compute:VirtualMachine",
        {
            "location": "eastus",
            "hardwareProfile": {"vmSize": "Standard_NC6s_v3"},
            "priority": "Spot",
            "zones": ["1"],
        },
        name="vm",
    )
    scale_set = raw(
        "azure-native:compute/v20240701:VirtualMachineScaleSet",
        {"location": "eastus", "sku": {"name": "Standard_ND96isr_H100_v5", "capacity": 7.0}},
        name="set",
    )
    assert (only_group(machine).machine, only_group(machine).capacity) == ("Standard_NC6s_v3", "spot")
    assert (only_group(scale_set).machine, only_group(scale_set).nodes_max) == ("Standard_ND96isr_H100_v5", 7)


def test_each_size_of_a_pool_of_virtual_machines_is_read():
    profile = {
        "scale": {
            "manual": [{"size": "Standard_D4s_v5", "count": 2}, {"size": "Standard_NC6s_v3", "count": 1}]
        }
    }
    groups = footprint_of_resources([raw(AGENT_POOL, {"virtualMachinesProfile": profile})]).node_groups
    assert sorted((group.machine, group.nodes_max) for group in groups) == [
        ("Standard_D4s_v5", 2),
        ("Standard_NC6s_v3", 1),
    ]


# --- GCP

NODE_POOL = "gcp:container/nodePool:NodePool"
GKE = "gcp:container/cluster:Cluster"
H100 = {
    "machineType": "a3-megagpu-8g",
    "guestAccelerators": [{"type": "nvidia-h100-mega-80gb", "count": 8.0}],
}


@pytest.mark.parametrize(
    ("sizes", "least", "most"),
    [
        ({"autoscaling": {"totalMinNodeCount": 1.0, "totalMaxNodeCount": 4.0}}, 1, 4),
        ({"autoscaling": {"minNodeCount": 1.0, "maxNodeCount": 4.0}}, 2, 8),
        ({"nodeCount": 3.0}, 6, 6),
        ({"initialNodeCount": 1.0}, 2, 2),
        ({"autoscaling": {"maxNodeCount": MARK}}, 0, Unknown("autoscaling.maxNodeCount")),
        ({"autoscaling": MARK}, Unknown("autoscaling"), Unknown("autoscaling")),
    ],
)
def test_gke_counts_by_zone_except_where_a_total_is_given(sizes, least, most):
    props = {
        "location": "us-central1",
        "nodeLocations": ["us-central1-a", "us-central1-b"],
        "nodeConfig": H100,
    }
    group = only_group(raw(NODE_POOL, {**props, **sizes}))
    assert (group.nodes_min, group.nodes_max) == (least, most)


def test_a_regional_pool_that_names_no_zones_is_in_three():
    group = only_group(raw(NODE_POOL, {"location": "us-central1", "nodeCount": 2, "nodeConfig": H100}))
    assert (group.region, group.zones, group.nodes_max) == ("us-central1", (), 6)


def test_a_zonal_pool_is_in_one():
    group = only_group(raw(NODE_POOL, {"location": "us-central1-c", "nodeCount": 2, "nodeConfig": H100}))
    assert (group.region, group.zones, group.nodes_max) == ("us-central1", ("us-central1-c",), 2)


def test_a_pool_without_a_place_is_where_its_cluster_is():
    cluster = raw(GKE, {"name": "c", "location": "europe-west4", "removeDefaultNodePool": True}, name="c")
    pool = raw(NODE_POOL, {"cluster": "c", "nodeCount": 1, "nodeConfig": H100}, name="p")
    assert only_group(cluster, pool).region == "europe-west4"


def test_an_n1_host_carries_its_accelerators_in_its_name():
    config = {
        "machineType": "n1-standard-8",
        "guestAccelerators": [{"type": "nvidia-tesla-t4", "count": 2.0}],
    }
    group = only_group(raw(NODE_POOL, {"location": "us-central1-a", "nodeCount": 1, "nodeConfig": config}))
    assert (group.machine, group.asks_for_gpus) == ("n1-standard-8+nvidia-tesla-t4:2", True)


@pytest.mark.parametrize(
    ("config", "asks"),
    [
        (H100, True),
        ({"guestAccelerators": [{"type": "nvidia-l4", "count": 0}]}, False),
        ({"taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}]}, True),
        ({"labels": {"cloud.google.com/gke-accelerator": "nvidia-l4"}}, True),
        ({"guestAccelerators": MARK}, Unknown("guestAccelerators")),
        ({}, False),
    ],
)
def test_what_a_gke_pool_asks_for(config, asks):
    group = only_group(raw(NODE_POOL, {"location": "us-central1-a", "nodeConfig": config}))
    assert group.asks_for_gpus == asks


def test_pol_3_inline_pools_of_a_gke_cluster_are_read():
    inline = {
        "name": "gpu",
        "nodeConfig": {"machineType": "g2-standard-8"},
        "autoscaling": {"maxNodeCount": 2},
    }
    group = only_group(raw(GKE, {"location": "us-central1-a", "nodePools": [inline]}))
    assert (group.name, group.machine, group.nodes_max) == ("gpu", "g2-standard-8", 2)


def test_pol_3_the_default_pool_of_a_gke_cluster_is_read_unless_it_is_removed():
    props = {
        "location": "us-central1-a",
        "initialNodeCount": 3,
        "nodeConfig": {"machineType": "a2-highgpu-1g"},
    }
    group = only_group(raw(GKE, props))
    assert (group.name, group.machine, group.nodes_max) == ("default-pool", "a2-highgpu-1g", 3)
    assert footprint_of_resources([raw(GKE, {**props, "removeDefaultNodePool": True})]).node_groups == ()


@pytest.mark.parametrize(
    ("extra", "capacity"),
    [
        ({"nodeConfig": {**H100, "spot": True}}, "spot"),
        ({"nodeConfig": {**H100, "preemptible": True}}, "spot"),
        ({"nodeConfig": {**H100, "flexStart": True}}, "flex-start"),
        ({"nodeConfig": H100, "queuedProvisioning": {"enabled": True}}, "queued"),
        (
            {
                "nodeConfig": {
                    **H100,
                    "reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION"},
                }
            },
            "reservation",
        ),
        ({"nodeConfig": H100}, "on-demand"),
    ],
)
def test_how_a_gke_pool_is_bought(extra, capacity):
    assert only_group(raw(NODE_POOL, {"location": "us-central1-a", **extra})).capacity == capacity


def test_machines_of_compute_engine_are_read_where_they_run_and_not_where_they_are_described():
    template = raw(
        "gcp:compute/instanceTemplate:InstanceTemplate",
        {"machineType": "a2-highgpu-1g", "scheduling": {"provisioningModel": "SPOT"}},
        name="t",
        region="us-central1",
    )
    manager = raw(
        "gcp:compute/instanceGroupManager:InstanceGroupManager",
        {"zone": "us-central1-a", "versions": [{"instanceTemplate": MARK}], "targetSize": 3.0},
        name="m",
        versions=(template.urn,),
    )
    group = only_group(template, manager)
    assert (group.machine, group.nodes_max, group.capacity) == ("a2-highgpu-1g", 3, "spot")
    assert only_group(template).nodes_max == 0
    instance = raw(
        "gcp:compute/instance:Instance",
        {"machineType": "zones/us-central1-b/machineTypes/g2-standard-8", "zone": "us-central1-b"},
    )
    assert (only_group(instance).machine, only_group(instance).zones) == ("g2-standard-8", ("us-central1-b",))


# --- all

BYPASSES = [
    (NODE_GROUP, {"instanceTypes": ["p3.2xlarge"], "scalingConfig": SCALING}),
    (TEMPLATE, {"instanceType": "p3.2xlarge"}),
    ("aws:ec2/launchConfiguration:LaunchConfiguration", {"instanceType": "p3.2xlarge"}),
    ("aws:ec2/instance:Instance", {"instanceType": "p3.2xlarge"}),
    ("aws:ec2/spotInstanceRequest:SpotInstanceRequest", {"instanceType": "p3.2xlarge"}),
    (AKS, {"location": "eastus", "agentPoolProfiles": [{"name": "a", "vmSize": "Standard_NC6s_v3"}]}),
    (AGENT_POOL, {"vmSize": "Standard_NC6s_v3"}),
    ("azure-native:containerservice/v20240101:AgentPool", {"vmSize": "Standard_NC6s_v3"}),
    (
        "azure-native:compute:VirtualMachine",
        {"location": "eastus", "hardwareProfile": {"vmSize": "Standard_NC6s_v3"}},
    ),
    (
        "azure-native:compute:VirtualMachineScaleSet",
        {"location": "eastus", "sku": {"name": "Standard_NC6s_v3"}},
    ),
]


@pytest.mark.parametrize(("type_", "props"), BYPASSES, ids=[type_ for type_, _ in BYPASSES])
def test_pol_3_a_retired_machine_fails_through_whichever_resource_it_comes(known, today, type_, props):
    footprint = footprint_of_resources([raw(type_, props)])
    failed = [
        verdict
        for verdict in judge(footprint, Limits(), known, today)
        if verdict.rule == "retired" and verdict.status is Status.FAIL
    ]
    assert len(failed) == 1
    assert failed[0].where.endswith("::r")


def test_other_resources_are_not_looked_at():
    assert not Inventory.concerns("aws:s3/bucket:Bucket")
    assert not Inventory.concerns("kubernetes:core/v1:Pod")
    assert (
        footprint_of_resources([raw("aws:s3/bucket:Bucket", {"instanceType": "p3.2xlarge"})]).node_groups
        == ()
    )


def test_the_marks_of_unknown_values_are_those_of_the_sdk():
    from pulumi_policy import proxy

    names = ("BOOLEAN", "NUMBER", "STRING", "ARRAY", "ASSET", "ARCHIVE", "OBJECT")
    assert {getattr(proxy, f"UNKNOWN_{name}_VALUE") for name in names} == UNKNOWN_MARKS


@pytest.mark.parametrize(
    ("physical", "logical", "name"),
    [
        ("train-1a2b3c4", "train", "train"),
        ("train1a2b3c4d", "train", "train"),
        ("train", "vision-gpu-pool", "train"),
        ("train-eu", "train", "train-eu"),
        (MARK, "train", "train"),
    ],
)
def test_a_pool_is_named_as_its_owner_knows_it(physical, logical, name):
    group = only_group(raw(NODE_GROUP, {"nodeGroupName": physical, "scalingConfig": SCALING}, name=logical))
    assert group.name == name
