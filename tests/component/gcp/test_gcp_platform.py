"""A whole environment on Google Cloud, from its configuration."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from gpuplatform import catalog
from gpuplatform.config import Platform
from gpuplatform.config.clouds import Aws
from gpuplatform.errors import Refusal
from gpuplatform.plan.recorder import record
from gpuplatform.platform.decision import decide
from gpuplatform.platform.gcp import build

POOL = "gcp:container/nodePool:NodePool"
CONFIG = {
    "name": "vision",
    "environment": "dev",
    "owner": "ml@example.com",
    "cost_center": "4711",
    "cloud": {"provider": "gcp", "region": "us-central1", "project": "example-ml-dev"},
    "network": {"cidr": "10.10.0.0/16", "zones": ["us-central1-a", "us-central1-b"]},
    "cluster": {"kubernetes_version": "1.35", "admins": ["group:admins@example.com"]},
    "node_pools": [
        {"name": "serve", "sku": "g2-standard-8", "purpose": "inference", "nodes": {"max": 2}},
        {
            "name": "train",
            "sku": "a3-megagpu-8g",
            "purpose": "training",
            "nodes": {"min": 1, "max": 4},
            "capacity": {"kind": "spot"},
            "zones": ["us-central1-b"],
        },
    ],
}


def environment(**changes):
    config = Platform.model_validate_json(json.dumps({**CONFIG, **changes}))
    return decide(config, catalog.load(), date(2026, 12, 1))


def recorded(**changes):
    decision = environment(**changes)
    built = []
    recording = record(lambda: built.append(build(decision)))
    return recording, built[0]


def test_everything_is_pinned_to_the_configured_project_and_region():
    recording, _ = recorded()
    (provider,) = recording.of_type("pulumi:providers:gcp")
    ours = [r for r in recording.resources if r.type.startswith("gcp:")]

    assert provider.inputs["project"] == "example-ml-dev"
    assert provider.inputs["region"] == "us-central1"
    assert {r.provider for r in ours} == {provider.urn}


def test_each_pool_is_built_as_its_profile_and_its_configuration_say():
    recording, built = recorded()
    serve, train = (recording.named(f"pool-{name}-gpu-pool") for name in ("serve", "train"))

    assert set(built.pools) == {"serve", "train"}
    assert serve.inputs["nodeLocations"] == ["us-central1-a", "us-central1-b"]
    assert train.inputs["nodeLocations"] == ["us-central1-b"]
    assert serve.inputs["nodeConfig"]["spot"] is False
    assert train.inputs["nodeConfig"]["spot"] is True
    assert train.inputs["autoscaling"]["totalMinNodeCount"] == 1
    assert {g["type"] for g in serve.inputs["nodeConfig"]["guestAccelerators"]} == {"nvidia-l4"}
    assert {g["type"] for g in train.inputs["nodeConfig"]["guestAccelerators"]} == {"nvidia-h100-mega-80gb"}


def test_every_gpu_machine_of_the_catalogue_that_gke_takes_becomes_a_pool_with_its_gpus():
    known = catalog.load()
    built = 0
    for sku in known.skus("gcp"):
        if sku.attaches_to_host or not sku.k8s_supported or sku.gpu_count != Decimal(int(sku.gpu_count)):
            continue
        pools = [
            {
                "name": "train",
                "sku": sku.name,
                "purpose": "training",
                "nodes": {"max": 1},
                "zones": ["us-central1-a"],
                "capacity": {"kind": "spot"}
                if sku.train_class != "full"
                else {"kind": "reservation", "id": "gpus"},
            }
        ]
        recording, _ = recorded(node_pools=pools)
        (gpus,) = recording.named("pool-train-gpu-pool").inputs["nodeConfig"]["guestAccelerators"]
        assert gpus["count"] == sku.gpu_count, sku.name
        built += 1
    assert built >= 20


def test_the_order_of_pools_and_admins_changes_no_urn():
    def urns(**changes):
        return {r.urn: r.inputs for r in recorded(**changes)[0].resources}

    assert urns(node_pools=CONFIG["node_pools"][::-1]) == urns()


def test_prod_is_protected_and_dev_can_be_destroyed():
    def cluster(**changes):
        return recorded(**changes)[0].named("cluster-gke")

    assert cluster().protect is False
    assert cluster().inputs["deletionProtection"] is False
    assert cluster(environment="prod").protect is True
    assert cluster(environment="prod").inputs["deletionProtection"] is True


def test_the_longest_names_are_cut_to_the_clouds_limits_and_stay_apart():
    name = "a" * 10 + "-" + "b" * 9
    first, second = (
        recorded(name=name, environment=environment)[0] for environment in ("staging00001", "staging00002")
    )

    def account(recording):
        return recording.named("cluster-node-account").inputs["accountId"]

    assert len(account(first)) <= 30
    assert account(first) != account(second)


def test_the_api_is_private_unless_addresses_are_listed():
    cluster = recorded()[0].named("cluster-gke")

    assert cluster.inputs["privateClusterConfig"]["enablePrivateEndpoint"] is True


@pytest.mark.parametrize("sku", ["a4x-highgpu-4g", "a4x-maxgpu-4g-metal"])
@pytest.mark.parametrize(("minor", "built"), [("1.33", False), ("1.34", True), ("1.35", True)])
def test_an_nvlink_domain_is_refused_on_a_kubernetes_without_its_networks(sku, minor, built):
    pool = {
        "name": "train",
        "sku": sku,
        "purpose": "training",
        "nodes": {"max": 18},
        "capacity": {"kind": "reservation", "id": "gpus"},
        "zones": ["us-central1-b"],
    }
    changes = {"node_pools": [pool], "cluster": {**CONFIG["cluster"], "kubernetes_version": minor}}
    if built:
        recording, _ = recorded(**changes)
        assert recording.of_type(POOL)
        return
    decision = environment(**changes)
    with pytest.raises(Refusal) as refused:
        record(lambda: build(decision))
    assert refused.value.where == "cluster.kubernetes_version"
    assert '"1.34"' in refused.value.way_out


def test_a_configuration_of_another_cloud_is_not_built_here():
    decision = environment()
    aws = Aws(provider="aws", region="us-east-1", account="123456789012")

    with pytest.raises(TypeError, match="aws is not built here"):
        build(replace(decision, config=decision.config.model_copy(update={"cloud": aws})))
