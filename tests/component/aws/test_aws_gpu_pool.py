from __future__ import annotations

import dataclasses

import pytest

from gpuplatform.aws import EksClusterIds, EksFabricIds, EksGpuPool, EksGpuPoolArgs
from gpuplatform.catalog import load
from gpuplatform.config import NodePool, Nodes, Taint
from gpuplatform.errors import Refusal
from gpuplatform.profile import node_profile

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
TAG = "aws:autoscaling/tag:Tag"


@pytest.fixture
def pool(run, tags):
    def make(profile, **changed):
        values = {
            "cluster": EksClusterIds(
                cluster_name="vision-prod",
                kubernetes_version="1.35",
                node_role_arn="arn:aws:iam::123456789012:role/nodes",
                subnet_by_zone={"use1-az4": "subnet-4", "use1-az6": "subnet-6"},
                fabric=EksFabricIds(vpc_id="vpc-1", security_group_id="sg-cluster"),
            ),
            "profile": profile,
            "nodes_min": 0,
            "nodes_max": 4,
            "zones": ("use1-az4", "use1-az6"),
            "tags": tags,
        }
        args = EksGpuPoolArgs(**(values | changed))
        return run(lambda: EksGpuPool("pool-serve", args))

    return make


def group(recorded):
    [found] = recorded.of_type(NODE_GROUP)
    return found


def template(recorded):
    [found] = recorded.of_type("aws:ec2/launchTemplate:LaunchTemplate")
    return found


def test_eks_3_spot_is_asked_for_on_the_node_group_and_never_in_the_launch_template(pool, profile):
    recorded = pool(profile(spot=True))
    assert group(recorded).inputs["capacityType"] == "SPOT"
    assert "instanceMarketOptions" not in template(recorded).inputs


def test_on_demand_is_said_and_not_left_to_a_default(pool, profile):
    assert group(pool(profile())).inputs["capacityType"] == "ON_DEMAND"


def test_eks_6_a_pool_that_scales_from_zero_announces_labels_taints_and_gpus(pool, profile):
    chosen = profile("p5.48xlarge", pool="train", taints=(Taint(key="dedicated", value="gpu"),))
    recorded = pool(chosen)
    prefix = "k8s.io/cluster-autoscaler/node-template"
    announced = {r.inputs["tag"]["key"]: r.inputs["tag"]["value"] for r in recorded.of_type(TAG)}
    assert announced == {
        **{f"{prefix}/label/{key}": value for key, value in chosen.labels.items()},
        f"{prefix}/taint/nvidia.com/gpu": "true:NoSchedule",
        f"{prefix}/taint/dedicated": "gpu:NoSchedule",
        f"{prefix}/resources/nvidia.com/gpu": "8",
        f"{prefix}/resources/vpc.amazonaws.com/efa": "32",
        f"{prefix}/resources/hugepages-2Mi": "10256Mi",
        f"{prefix}/resources/ephemeral-storage": "28312Gi",
    }


def test_eks_6_the_hints_are_on_the_auto_scaling_group_that_eks_made(pool, profile):
    tags = pool(profile()).of_type(TAG)
    assert tags
    assert {r.inputs["autoscalingGroupName"] for r in tags} == {"eks-pool-serve-gpu-pool"}
    assert not [r for r in tags if r.inputs["tag"]["propagateAtLaunch"]]


def test_eks_6_a_pool_with_nodes_needs_no_hints(pool, profile):
    assert pool(profile(), nodes_min=1).of_type(TAG) == ()


def test_sto_6_metadata_needs_a_token_and_is_one_hop_away(pool, profile):
    metadata = template(pool(profile())).inputs["metadataOptions"]
    assert metadata == {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 1}


def test_the_root_disk_is_as_large_as_asked_for_and_encrypted(pool, profile):
    [disk] = template(pool(profile())).inputs["blockDeviceMappings"]
    assert disk["deviceName"] == "/dev/xvda"
    assert disk["ebs"] == {
        "volumeSize": 200,
        "volumeType": "gp3",
        "encrypted": "true",
        "deleteOnTermination": "true",
    }


def test_the_machine_type_stands_in_one_of_the_two_places_that_refuse_each_other(pool, profile):
    recorded = pool(profile())
    assert group(recorded).inputs["instanceTypes"] == ["g6.12xlarge"]
    assert "instanceType" not in template(recorded).inputs


def test_the_launch_template_names_nothing_that_a_managed_node_group_refuses(pool, profile):
    refused = {
        "iamInstanceProfile",
        "instanceInitiatedShutdownBehavior",
        "hibernationOptions",
    }
    assert not refused & template(pool(profile())).inputs.keys()


def test_another_day_of_expiry_replaces_no_node(pool, profile, tags):
    later = dataclasses.replace(tags, expires="2027-03-31")
    before, after = template(pool(profile())).inputs, template(pool(profile(), tags=later)).inputs
    assert before["tags"] != after["tags"]
    assert {**before, "tags": None} == {**after, "tags": None}


def test_nodes_bear_the_names_of_cluster_and_pool(pool, profile):
    [specification, *_] = template(pool(profile())).inputs["tagSpecifications"]
    assert specification["tags"]["Name"] == "vision-prod-serve"


def test_a_change_of_the_template_rolls_the_nodes(pool, profile):
    reference = group(pool(profile())).inputs["launchTemplate"]
    assert reference == {"id": "pool-serve-gpu-pool-id", "version": "3"}


def test_taints_have_the_spelling_of_eks(pool, profile):
    taints = (
        Taint(key="dedicated", value="gpu", effect="NoExecute"),
        Taint(key="soft", effect="PreferNoSchedule"),
    )
    assert group(pool(profile(taints=taints))).inputs["taints"] == [
        {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"},
        {"key": "dedicated", "value": "gpu", "effect": "NO_EXECUTE"},
        {"key": "soft", "effect": "PREFER_NO_SCHEDULE"},
    ]


@pytest.mark.parametrize(
    ("sku", "image"), [("g6.12xlarge", "AL2023_x86_64_NVIDIA"), ("g5g.xlarge", "AL2023_ARM_64_NVIDIA")]
)
def test_drv_2_the_image_brings_the_driver(pool, profile, sku, image):
    assert group(pool(profile(sku))).inputs["amiType"] == image


def test_drv_2_a_profile_of_another_clouds_driver_is_refused(pool):
    node_pool = NodePool(name="serve", sku="g2-standard-4", purpose="inference", nodes=Nodes(max=4))
    foreign = node_profile(node_pool, load().sku("gcp", "g2-standard-4"))
    with pytest.raises(Refusal, match="GkeDriver"):
        pool(foreign)


def test_pul_5_the_autoscaler_owns_the_size_unless_it_is_fixed(pool, profile):
    assert group(pool(profile())).ignore_changes == ("scalingConfig.desiredSize",)
    fixed = group(pool(profile(), nodes_min=3, nodes_max=3))
    assert fixed.ignore_changes == ()
    assert fixed.inputs["scalingConfig"] == {"minSize": 3, "maxSize": 3, "desiredSize": 3}


def test_another_machine_type_gives_the_old_capacity_back_first(pool, profile):
    found = group(pool(profile()))
    assert found.delete_before_replace is True
    assert found.inputs["nodeGroupName"] == "serve"


def test_faulty_nodes_are_repaired_and_an_update_never_needs_more_nodes_than_there_are(pool, profile):
    inputs = group(pool(profile())).inputs
    assert inputs["nodeRepairConfig"] == {"enabled": True}
    assert inputs["updateConfig"] == {"maxUnavailable": 1, "updateStrategy": "MINIMAL"}


def test_a_pool_stays_in_its_own_zones(pool, profile):
    assert group(pool(profile())).inputs["subnetIds"] == ["subnet-4", "subnet-6"]
    assert group(pool(profile(), zones=("use1-az6",))).inputs["subnetIds"] == ["subnet-6"]


def test_a_zone_outside_the_network_is_refused_with_those_inside(pool, profile):
    with pytest.raises(Refusal, match="use1-az1 is no zone") as caught:
        pool(profile(), zones=("use1-az1",))
    assert caught.value.way_out == "choose among use1-az4, use1-az6"


def test_more_hints_than_an_auto_scaling_group_has_room_for_are_refused(pool, profile):
    labels = {f"team.example.com/l{n}": "x" for n in range(45)}
    with pytest.raises(Refusal, match="52 labels, taints and resources"):
        pool(profile(labels=labels))
    assert group(pool(profile(labels=labels), nodes_min=1)).inputs["labels"].keys() >= labels.keys()


def test_more_taints_than_a_node_group_takes_are_refused(pool, profile):
    taints = tuple(Taint(key=f"t{n}", value="x") for n in range(50))
    with pytest.raises(Refusal, match="51 taints"):
        pool(profile(taints=taints), nodes_min=1)


def test_a_name_that_eks_refuses_is_refused_here(pool, profile):
    with pytest.raises(Refusal, match="EKS node group names"):
        pool(dataclasses.replace(profile(), pool="no spaces"))
