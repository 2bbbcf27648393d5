"""An environment on Azure as a whole: from a configuration to resources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from azure_samples import SUBSCRIPTION

from gpuplatform import catalog
from gpuplatform.config import Platform
from gpuplatform.errors import Refusal
from gpuplatform.plan.recorder import Recording, record
from gpuplatform.platform.azure import build
from gpuplatform.platform.decision import decide

Update = Callable[[Callable[[], Any]], Recording]
TRAIN = {
    "name": "train",
    "sku": "Standard_ND96isr_H100_v5",
    "purpose": "training",
    "nodes": {"min": 0, "max": 4},
    "zones": ("1",),
}
SERVE = {
    "name": "serve",
    "sku": "Standard_NC4as_T4_v3",
    "purpose": "inference",
    "nodes": {"min": 1, "max": 2},
    "capacity": {"kind": "spot"},
    "driver": "operator",
}


def config(*pools: dict[str, Any], **changes: Any) -> Platform:
    return Platform.model_validate(
        {
            "name": "vision",
            "environment": "prod",
            "owner": "ml@example.com",
            "cost_center": "4711",
            "cloud": {"provider": "azure", "region": "eastus", "subscription": SUBSCRIPTION},
            "network": {"cidr": "10.0.0.0/16", "zones": ("1", "2")},
            "cluster": {
                "kubernetes_version": "1.35",
                "api_access": {"private": False, "public_cidrs": ("198.51.100.0/24",)},
                "admins": ("00000000-0000-4000-8000-0000000000aa",),
            },
            "node_pools": pools,
            **changes,
        }
    )


def program(platform: Platform) -> Callable[[], Any]:
    decision = decide(platform, catalog.load(), date(2026, 12, 1))
    return lambda: build(decision)


def test_every_resource_goes_through_the_provider_that_is_pinned_to_the_subscription():
    recording = record(program(config(TRAIN, SERVE)))
    provider = recording.named("azure")
    assert (provider.inputs["subscriptionId"], provider.inputs["location"]) == (SUBSCRIPTION, "eastus")
    others = {
        resource.provider for resource in recording.resources if resource.type.startswith("azure-native:")
    }
    assert others == {provider.urn}


def test_a_pool_has_its_own_zones_or_else_the_networks(update: Update):
    recording = update(program(config(TRAIN, SERVE)))
    assert recording.named("pool-train-gpu-pool").inputs["availabilityZones"] == ["1"]
    assert recording.named("pool-serve-gpu-pool").inputs["availabilityZones"] == ["1", "2"]
    assert recording.named("cluster-aks").inputs["agentPoolProfiles"][0]["availabilityZones"] == ["1", "2"]


def test_each_pool_keeps_its_own_bounds_whatever_their_order(update: Update):
    forwards, backwards = (
        {
            resource.urn: resource.inputs
            for resource in update(program(config(*pools))).of_type("azure-native:containerservice:AgentPool")
        }
        for pools in ((TRAIN, SERVE), (SERVE, TRAIN))
    )
    assert forwards == backwards
    assert {inputs["agentPoolName"]: inputs["maxCount"] for inputs in forwards.values()} == {
        "train": 4,
        "serve": 2,
    }


def test_the_composition_hands_back_a_pool_for_each_profile():
    handed: list[Any] = []
    run = program(config(TRAIN, SERVE))
    record(lambda: handed.append(run()))
    (built,) = handed
    assert set(built.pools) == {"train", "serve"}
    assert built.cluster.cloud == "azure"
    assert built.cluster.cluster in built.cluster.ready


def test_prod_protects_what_holds_the_environment_and_dev_does_not():
    def protected(environment: str) -> set[str]:
        recording = record(program(config(SERVE, environment=environment)))
        return {resource.name for resource in recording.resources if resource.protect}

    assert protected("prod") == {"network-group", "cluster-aks"}
    assert protected("dev") == set()


def test_an_environment_of_another_cloud_is_not_built_here():
    cloud = {"provider": "gcp", "region": "us-central1", "project": "vision-prod"}
    network = {"cidr": "10.0.0.0/16", "zones": ("us-central1-a",)}
    cluster = {"kubernetes_version": "1.35", "admins": ("group:platform@example.com",)}
    elsewhere = config(SERVE, cloud=cloud, network=network, cluster=cluster)
    decision = decide(config(SERVE), catalog.load(), date(2026, 12, 1))
    with pytest.raises(TypeError, match="gcp is not built here"):
        build(replace(decision, config=elsewhere))


RESERVED = {
    "sku": "Standard_NC24ads_A100_v4",
    "purpose": "inference",
    "nodes": {"min": 0, "max": 2},
}


def reservation(name: str, group: str = "capacity") -> dict[str, str]:
    scope = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}"
    return {
        "kind": "reservation",
        "id": f"{scope}/providers/Microsoft.Compute/capacityReservationGroups/{name}",
    }


def test_the_cluster_s_identity_gets_one_role_a_group_of_reservations_and_pools_wait_for_it(update: Update):
    pools = (
        {**RESERVED, "name": "one", "capacity": reservation("a100s")},
        {**RESERVED, "name": "two", "capacity": reservation("more", "Capacity")},
        {**RESERVED, "name": "three", "capacity": reservation("a100s", "elsewhere")},
    )
    recording = update(program(config(*pools)))
    roles = [
        role
        for role in recording.of_type("azure-native:authorization:RoleAssignment")
        if "draws-on" in role.name
    ]
    assert sorted(role.inputs["scope"].rpartition("/")[2].lower() for role in roles) == [
        "capacity",
        "elsewhere",
    ]
    for role in roles:
        assert role.inputs["roleDefinitionId"].endswith("b24988ac-6180-42a0-ab88-20f7382dd24c")
        for pool in recording.of_type("azure-native:containerservice:AgentPool"):
            assert role.urn in pool.dependencies
        assert role.urn not in recording.named("cluster-aks").dependencies


def test_without_reservations_the_identity_gets_no_further_role(update: Update):
    recording = update(program(config(TRAIN, SERVE)))
    assert len(recording.of_type("azure-native:authorization:RoleAssignment")) == 2


def test_net_6_a_training_pool_with_infiniband_in_all_zones_is_refused_before_the_first_resource():
    platform = config({key: value for key, value in TRAIN.items() if key != "zones"})
    build_it = program(platform)
    with pytest.raises(Refusal) as caught:
        build_it()  # outside of any engine: a resource would fail in another way
    assert caught.value.where == "node_pools.train.zones"
    assert "InfiniBand" in caught.value.rule


def test_net_6_hopper_and_grace_blackwell_in_one_subscription_are_refused_before_the_first_resource():
    rack = {**TRAIN, "name": "rack", "sku": "Standard_ND128isr_GB300_v6"}
    with pytest.raises(Refusal, match="one subscription in two states"):
        program(config(TRAIN, rack))()


def test_a_pool_in_a_proximity_group_of_ours_goes_before_the_group():
    """Azure deletes no group with machines in it; every other pool goes with its cluster."""
    near = {
        "name": "near",
        "driver": "operator",
        "sku": "Standard_NC24ads_A100_v4",
        "purpose": "training",
        "nodes": {"min": 0, "max": 2},
        "zones": ("1",),
        "fabric": "none",
    }
    recording = record(program(config(near, SERVE)))
    pools = {
        pool.inputs["agentPoolName"]: pool
        for pool in recording.of_type("azure-native:containerservice:AgentPool")
    }
    (group,) = recording.of_type("azure-native:compute:ProximityPlacementGroup")
    assert group.urn in pools["near"].property_dependencies["proximityPlacementGroupID"]
    assert pools["near"].deleted_with == ""
    assert pools["serve"].deleted_with == recording.named("cluster-aks").urn
