from __future__ import annotations

import pytest

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
AKS = "azure-native:containerservice:ManagedCluster"
AGENT_POOL = "azure-native:containerservice:AgentPool"
NODE_POOL = "gcp:container/nodePool:NodePool"


def eks_pool(machine, **more):
    scaling = {"minSize": 0, "maxSize": 4, "desiredSize": 0}
    return {"instanceTypes": [machine], "amiType": "AL2023_x86_64_NVIDIA", "scalingConfig": scaling, **more}


def gke_pool(machine, **more):
    config = {"machineType": machine, "taints": [{"key": "nvidia.com/gpu", "value": "present"}]}
    return {"location": "us-central1-a", "nodeConfig": config, "autoscaling": {"maxNodeCount": 4}, **more}


def aks_pool(machine, **more):
    return {
        "agentPoolName": "train",
        "vmSize": machine,
        "count": 1,
        "gpuProfile": {"driver": "Install"},
        **more,
    }


@pytest.mark.parametrize(
    ("type_", "props", "rule", "words"),
    [
        (NODE_GROUP, eks_pool("m6i.4xlarge"), "gpu-pool", "m6i.4xlarge has no GPU"),
        (NODE_GROUP, eks_pool("p5.48xlrge"), "machine", "p5.48xlarge"),
        (NODE_GROUP, eks_pool("p3.2xlarge"), "retired", "p3.2xlarge is retired"),
        (AGENT_POOL, aks_pool("Standard_D16s_v5"), "gpu-pool", "Standard_D16s_v5 has no GPU"),
        (AGENT_POOL, aks_pool("Standard_NC4as_T4_v9"), "machine", "Standard_NC4as_T4_v3"),
        (AGENT_POOL, aks_pool("Standard_NC6s_v3"), "retired", "Standard_NC6s_v3 is retired"),
        (NODE_POOL, gke_pool("n2-standard-8"), "gpu-pool", "n2-standard-8 has no GPU"),
        (NODE_POOL, gke_pool("a3-megagpu-8"), "machine", "a3-megagpu-8g"),
        (NODE_POOL, gke_pool("g2-standard-8", location="antarctica-south1"), "region", "antarctica-south1"),
    ],
)
def test_a_mandatory_violation_at_the_resource(engine, type_, props, rule, words):
    engine.start()
    notes = engine.register(type_, props)
    (note,) = [note for note in notes if f"[{rule}]" in note.message]
    assert note.mandatory
    assert note.policy == "gpu-machine"
    assert words in note.message
    assert note.urn.endswith("::r")


def test_a_good_pool_gives_no_violation(engine):
    engine.start()
    assert engine.register(NODE_GROUP, eks_pool("p5.48xlarge")) == []


def test_a_region_off_the_list_and_a_model_off_the_list_are_violations(engine):
    engine.start()
    engine.configure(gpu_machine={"regions": ["us-west-2"], "gpuModels": ["L4"]})
    messages = [note.message for note in engine.register(NODE_GROUP, eks_pool("p5.48xlarge"))]
    assert any("us-east-1 is not on the list" in message for message in messages)
    assert any("GPU model H100" in message for message in messages)


def test_eks_7_the_zone_of_a_subnet_without_the_machine_is_a_violation(engine, mark):
    engine.start()
    engine.register("aws:ec2/subnet:Subnet", {"availabilityZoneId": "use1-az4"}, name="s")
    said = engine.register(NODE_GROUP, eks_pool("p5en.48xlarge", subnetIds=[mark]), name="g", subnetIds=["s"])
    assert said == []
    (note,) = [note for note in engine.finish() if note.mandatory]
    assert note.policy == "gpu-placement"
    assert "p5en.48xlarge is not offered in zone use1-az4" in note.message
    assert "use1-az6" in note.message
    assert note.urn.endswith("::g")


def test_the_region_of_an_agent_pool_is_its_clusters(engine, mark):
    engine.start()
    engine.register(AKS, {"location": "brazilsouth", "kubernetesVersion": "1.35"}, name="c", region="")
    pool = aks_pool("Standard_ND96isr_H100_v5", resourceName=mark)
    assert engine.register(AGENT_POOL, pool, name="p", region="", resourceName=["c"]) == []
    (note,) = [note for note in engine.finish() if note.mandatory]
    assert "[offered]" in note.message
    assert "not offered in brazilsouth" in note.message


def test_what_the_resource_policy_reported_is_not_reported_again(engine):
    engine.start()
    assert engine.register(NODE_GROUP, eks_pool("p3.2xlarge"))
    assert [note for note in engine.finish() if note.mandatory] == []


def test_the_budget_names_both_amounts_and_the_largest_item(engine):
    engine.start()
    engine.configure(gpu_budget={"monthlyUsd": 100})
    engine.register(NODE_GROUP, eks_pool("p5.48xlarge"), name="big")
    (note,) = [note for note in engine.finish() if note.mandatory]
    assert note.policy == "gpu-budget"
    assert "$100.00" in note.message
    assert "$160," in note.message
    assert "big (4 x p5.48xlarge" in note.message


def test_inputs_count_where_a_preview_leaves_outputs_unknown(engine, mark):
    """A provider may say 'unknown' for what it computes; what the program asked for is known."""
    engine.start()
    engine.configure(gpu_budget={"monthlyUsd": 100})
    engine.register(
        NODE_GROUP,
        eks_pool("p5.48xlarge"),
        outputs={"instanceTypes": mark, "scalingConfig": mark, "launchTemplate": mark},
    )
    (note,) = [note for note in engine.finish() if note.mandatory]
    assert "4 x p5.48xlarge" in note.message


def test_without_a_preview_the_pool_that_goes_over_the_budget_is_stopped_before_it_is_made(engine):
    engine.start(dry_run=False)
    engine.configure(gpu_budget={"monthlyUsd": 200_000})
    assert engine.register(NODE_GROUP, eks_pool("p5.48xlarge"), name="one") == []
    assert engine.register(NODE_GROUP, eks_pool("p5.48xlarge"), name="one") == []  # counted once
    (note,) = engine.register(NODE_GROUP, eks_pool("p5.48xlarge"), name="two")
    assert note.mandatory
    assert "[budget]" in note.message
    assert "$321,433.60" in note.message


def test_a_new_operation_forgets_what_the_last_one_registered(engine):
    engine.configure(gpu_budget={"monthlyUsd": 200_000})
    for _ in range(2):
        engine.start(dry_run=False)
        assert engine.register(NODE_GROUP, eks_pool("p5.48xlarge"), name="one") == []


def test_warnings_are_notes(engine):
    engine.start()
    cluster = {"version": "1.34", "upgradePolicy": {"supportType": "STANDARD"}}
    assert engine.register("aws:eks/cluster:Cluster", cluster) == []
    notes = [note for note in engine.finish() if "[kubernetes-version]" in note.message]
    assert [(note.policy, note.mandatory) for note in notes] == [("gpu-notes", False)]


def test_types_that_run_no_machines_are_ignored(engine):
    engine.start()
    assert engine.register("aws:s3/bucket:Bucket", {"instanceTypes": ["p3.2xlarge"]}) == []
    assert engine.finish() == []
