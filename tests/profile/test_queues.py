"""Pools as queues: the order of preference, what they hold, and what comes by request."""

from __future__ import annotations

import pytest
from catalogue_pools import pool_of, supported
from profiles import made_profile

from gpuplatform.config.model import WorkloadClass
from gpuplatform.errors import Refusal
from gpuplatform.profile import AmiDriver, Flavor, GkeDriver, node_profile
from gpuplatform.profile.queues import (
    PROVISIONING,
    cluster_queue,
    cohort,
    provisioning_config,
    queues_of,
    resource_flavor,
    topologies,
)

AMI = AmiDriver(ami_type="AL2023_x86_64_NVIDIA")


def queued(name):
    labels = {"gpuplatform.io/pool": name}
    flavor = Flavor(name=name, node_labels=labels, admission_check=PROVISIONING)
    return made_profile(GkeDriver(), pool=name, plugin="gke", flavor=flavor)


def training(*pools):
    return WorkloadClass(name="training", pools=pools)


def flavors(body):
    (group,) = body["spec"]["resourceGroups"]
    return [flavor["name"] for flavor in group["flavors"]]


def test_a_class_tries_its_pools_in_the_order_in_which_it_names_them():
    pools = [made_profile(AMI, pool=name) for name in ("spot", "block", "reserved")]
    (queue,) = queues_of([training("reserved", "block", "spot")], pools)

    assert flavors(cluster_queue(queue)) == ["reserved", "block", "spot"]


def test_without_classes_and_queued_pools_there_is_nothing_to_install():
    assert queues_of([], [made_profile(AMI)]) == ()


def test_a_queued_pool_has_a_queue_of_its_own_unless_a_class_has_it():
    pools = [made_profile(GkeDriver(), pool="train", plugin="gke"), queued("burst")]

    assert [queue.name for queue in queues_of([], pools)] == ["burst"]
    assert [queue.name for queue in queues_of([training("train", "burst")], pools)] == ["training"]


def test_the_check_holds_back_what_goes_to_queued_pools_and_nothing_else():
    pools = [made_profile(GkeDriver(), pool="train", plugin="gke"), queued("burst")]
    (queue,) = queues_of([training("train", "burst")], pools)
    (plain,) = queues_of([training("train")], pools[:1])

    (check,) = cluster_queue(queue)["spec"]["admissionChecksStrategy"]["admissionChecks"]
    assert check == {"name": PROVISIONING, "onFlavors": ["burst"]}
    assert "admissionChecksStrategy" not in cluster_queue(plain)["spec"]
    assert provisioning_config(pools)["spec"] == {
        "provisioningClassName": "queued-provisioning.gke.io",
        "managedResources": ["nvidia.com/gpu"],
    }


def test_a_pool_that_serves_two_classes_is_counted_once():
    pools = [made_profile(AMI, pool="train"), made_profile(AMI, pool="spot")]
    made = queues_of([training("train", "spot"), WorkloadClass(name="notebooks", pools=("spot",))], pools)
    quota = cohort(made, {"train": 4, "spot": 10})

    (group,) = quota["spec"]["resourceGroups"]
    held = {
        flavor["name"]: {one["name"]: one["nominalQuota"] for one in flavor["resources"]}
        for flavor in group["flavors"]
    }
    assert {name: one["nvidia.com/gpu"] for name, one in held.items()} == {"train": "32", "spot": "80"}
    for queue in made:
        body = cluster_queue(queue)
        assert body["spec"]["cohortName"] == quota["metadata"]["name"]
        for flavor in body["spec"]["resourceGroups"][0]["flavors"]:
            assert {one["nominalQuota"] for one in flavor["resources"]} == {"0"}


def test_drv_7_the_quota_is_of_the_resource_that_the_pool_really_advertises():
    shared = made_profile(AMI, pool="serve", advertised={"nvidia.com/gpu.shared": 32})
    whole = made_profile(AMI, pool="train", advertised={"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32})
    made = queues_of([training("train", "serve")], [whole, shared])

    (group,) = cohort(made, {"train": 2, "serve": 3})["spec"]["resourceGroups"]
    train, serve = (
        {one["name"]: one["nominalQuota"] for one in flavor["resources"]} for flavor in group["flavors"]
    )
    assert (train["nvidia.com/gpu"], train["nvidia.com/gpu.shared"]) == ("16", "0")
    assert (serve["nvidia.com/gpu"], serve["nvidia.com/gpu.shared"]) == ("0", "96")
    assert train["vpc.amazonaws.com/efa"] == "64"


def test_pods_get_the_tolerations_of_the_pool_that_they_are_admitted_to():
    spec = resource_flavor(made_profile(AMI))["spec"]

    assert spec["nodeLabels"] == {"gpuplatform.io/pool": "train"}
    assert spec["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]


def test_only_pools_whose_nodes_a_queue_can_know_are_placed_by_topology():
    """Kueue looks at the nodes that are there: for a pool at zero it would admit nothing, for ever."""
    sku = next(sku for sku in supported() if sku.name == "p5.48xlarge")
    grows = node_profile(pool_of(sku), sku)
    fixed = pool_of(sku)
    fixed = fixed.model_copy(update={"nodes": fixed.nodes.model_copy(update={"min": 2, "max": 2})})
    stands = node_profile(fixed, sku)

    assert grows.flavor.topology_levels == stands.flavor.topology_levels != ()
    assert "topologyName" not in resource_flavor(grows)["spec"]
    assert topologies([grows]) == {}
    ((name, body),) = topologies([stands, stands]).items()
    assert resource_flavor(stands)["spec"]["topologyName"] == name
    assert [level["nodeLabel"] for level in body["spec"]["levels"]] == list(stands.flavor.topology_levels)
    assert body["spec"]["levels"][-1] == {"nodeLabel": "kubernetes.io/hostname"}


def test_more_pools_than_kueue_takes_are_refused_before_anything_is_made():
    pools = [made_profile(AMI, pool=f"pool{number}") for number in range(65)]
    names = tuple(profile.pool for profile in pools)

    assert queues_of([training(*names[:64])], pools[:64])
    with pytest.raises(Refusal, match="65 pools"):
        queues_of([training(*names)], pools)
