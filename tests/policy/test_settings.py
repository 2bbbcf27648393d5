from __future__ import annotations

import pytest
import yaml
from pulumi.runtime.proto import analyzer_pb2

from gpuplatform.policy.pack import POLICY_NAMES

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
POOL = {
    "instanceTypes": ["g6.xlarge"],
    "amiType": "AL2023_x86_64_NVIDIA",
    "scalingConfig": {"minSize": 0, "maxSize": 1},
}


@pytest.fixture
def platform(root):
    text = (root / "stacks" / "config" / "Pulumi.aws-dev.yaml").read_text()
    return yaml.safe_load(text)["config"]["gpuplatform:platform"]


def test_the_stacks_own_budget_counts_without_any_configuration_of_the_pack(engine, platform):
    engine.start(platform={**platform, "budget": {"monthly_usd": 5}})
    engine.register(NODE_GROUP, POOL)
    (note,) = [note for note in engine.finish() if note.mandatory]
    assert "the budget is $5.00" in note.message


@pytest.mark.parametrize(("stack", "pack", "counts"), [(5, 7, "$5.00"), (7, 5, "$5.00")])
def test_the_stricter_of_the_stacks_and_the_packs_budget_wins(engine, platform, stack, pack, counts):
    engine.start(platform={**platform, "budget": {"monthly_usd": stack}})
    engine.configure(gpu_budget={"monthlyUsd": pack})
    engine.register(NODE_GROUP, POOL)
    (note,) = [note for note in engine.finish() if note.mandatory]
    assert f"the budget is {counts}" in note.message


def test_a_stack_cannot_allow_itself_a_region_that_the_pack_forbids(engine, platform):
    region = platform["cloud"]["region"]
    engine.start(platform={**platform, "guardrails": {"regions": [region]}})
    engine.configure(gpu_machine={"regions": ["eu-west-1"]})
    (note,) = engine.register(NODE_GROUP, POOL, region=region)
    assert "allowed: none" in note.message


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"gpu_budget": {"montlyUsd": 100}}, "did you mean 'monthlyUsd'"),
        ({"gpu_budget": {"monthlyUsd": "100"}}, "'100' is not accepted"),
        ({"gpu_budget": {"monthlyUsd": 0}}, "0.0 is not accepted"),
        ({"gpu_machine": {"regions": []}}, "[] is not accepted"),
        ({"gpu_machine": {"regions": "us-east-1"}}, "'us-east-1' is not accepted"),
        ({"gpu_machine": {"notEvaluated": "block"}}, "'block' is not accepted"),
        ({"gpu_machine": {"maxPriceAgeDays": 1.5}}, "1.5 is not accepted"),
        ({"gpu_machin": {"regions": ["us-east-1"]}}, "no policy 'gpu-machin'"),
        ({"gpu_machine": {"prices": "missing.csv"}}, "missing.csv"),
    ],
)
def test_a_wrong_configuration_of_the_pack_blocks_and_says_what_is_wrong(engine, config, words):
    engine.start()
    engine.configure(**config)
    notes = engine.register(NODE_GROUP, POOL)
    assert [note.mandatory for note in notes] == [True]
    assert words in notes[0].message
    assert engine.register(NODE_GROUP, POOL, name="other") == []
    assert engine.finish() == []


@pytest.mark.parametrize("level", [analyzer_pb2.ADVISORY, analyzer_pb2.DISABLED])
def test_a_wrong_configuration_blocks_whatever_the_policies_levels_are(engine, level):
    engine.start()
    names = ("all", "gpu_placement", "gpu_budget", "gpu_notes", "gpu_machin")
    engine.configure(_level=level, gpu_machine={"region": ["us-east-1"]}, **{key: {} for key in names})
    (note,) = engine.register("random:index/randomId:RandomId", {})
    assert note.mandatory
    assert "there is no key 'region'" in note.message
    assert "no policy 'gpu-machin'" in note.message


def test_a_wrong_configuration_of_a_stack_without_resources_blocks_at_the_end_and_each_operation(engine):
    engine.configure(gpu_machine={"region": ["us-east-1"]})
    for _ in range(2):
        engine.start()
        (note,) = engine.finish()
        assert note.mandatory


@pytest.mark.parametrize(("level", "count"), [(analyzer_pb2.ADVISORY, 1), (analyzer_pb2.DISABLED, 0)])
def test_all_policies_at_one_level_report_at_that_level(engine, level, count):
    """The engine hands `all` over like a policy, beside every policy at that level."""
    engine.start()
    engine.configure(_level=level, **{name.replace("-", "_"): {} for name in ("all", *POLICY_NAMES)})
    notes = engine.register(NODE_GROUP, {**POOL, "instanceTypes": ["p3.2xlarge"]})
    assert [("p3.2xlarge is retired" in note.message, note.mandatory) for note in notes] == [
        (True, False)
    ] * count
    assert not any(note.mandatory for note in engine.finish())


def test_a_limit_set_on_all_holds(engine):
    engine.start()
    engine.configure(all={"regions": ["us-west-2"]})
    (note,) = engine.register(NODE_GROUP, POOL)
    assert "us-east-1 is not on the list" in note.message


CLUSTERS = {
    "aws:eks/cluster:Cluster": {"version": "1.35"},
    "azure-native:containerservice:ManagedCluster": {
        "kubernetesVersion": "1.35",
        "location": "eastus",
        "agentPoolProfiles": [{"name": "system", "vmSize": "Standard_D4s_v5", "count": 1}],
    },
    "gcp:container/cluster:Cluster": {
        "minMasterVersion": "1.35",
        "location": "us-central1",
        "removeDefaultNodePool": True,
        "initialNodeCount": 1,
    },
}


@pytest.mark.parametrize("type_", CLUSTERS)
def test_without_gpu_machine_the_others_say_what_they_say_with_it(engine, mark, type_):
    outputs = dict.fromkeys(("computeConfig", "autoscaling", "nodePoolAutoConfig", "nodeConfig"), mark)
    said = []
    for level in (analyzer_pb2.MANDATORY, analyzer_pb2.DISABLED):
        engine.resources.clear()
        engine.start()
        engine.configure(_level=level, _only=("gpu_machine",), gpu_machine={}, gpu_budget={"monthlyUsd": 1})
        silent = engine.register(type_, CLUSTERS[type_], outputs=outputs)
        said.append(engine.finish())
    assert silent == []
    assert said[0] == said[1] != []
    assert not any("computeConfig" in note.message for note in said[1])


def test_a_wrong_configuration_of_the_stack_blocks_too(engine, platform):
    engine.start(platform={**platform, "budget": {"monthly_usd": "much"}})
    (note,) = engine.register(NODE_GROUP, POOL)
    assert note.mandatory
    assert "budget.monthly_usd" in note.message


def test_a_secret_platform_blocks(engine, platform):
    engine.start(platform=platform, secret=True)
    (note,) = engine.register(NODE_GROUP, POOL)
    assert "secret" in note.message


def test_prices_of_operations_win_over_the_stacks_and_the_catalogues(engine, platform, tmp_path):
    (tmp_path / "Pulumi.yaml").write_text("name: p\nruntime: python\nstackConfigDir: conf\n")
    (tmp_path / "conf").mkdir()
    header = "cloud,sku,region,usd_per_hour,date\n"
    (tmp_path / "conf" / "own.csv").write_text(f"{header}aws,g6.xlarge,us-east-1,10,2026-11-01\n")
    (tmp_path / "ops.csv").write_text(f"{header}aws,g6.xlarge,us-east-1,20,2026-11-01\n")
    own = {**platform, "prices": "own.csv", "budget": {"monthly_usd": 1}}
    engine.start(platform=own)
    engine.register(NODE_GROUP, POOL)
    assert any("$7,300.00" in note.message for note in engine.finish())
    engine.configure(gpu_budget={"prices": "ops.csv"})
    assert any("$14,600.00" in note.message for note in engine.finish())


def test_an_engine_that_configures_nothing_is_served_from_its_environment(engine, monkeypatch, platform):
    """Engines before 3.221 hand the stack's configuration over as PULUMI_CONFIG."""
    import json

    from pulumi import runtime

    own = json.dumps({**platform, "budget": {"monthly_usd": 5}}, default=str)
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps({"gpuplatform:platform": own}))
    engine.register(NODE_GROUP, POOL)
    found = engine.finish()
    runtime.set_all_config({}, [])
    assert any("the budget is $5.00" in note.message for note in found)
