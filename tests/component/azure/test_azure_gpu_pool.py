"""A GPU pool: an agent pool that says exactly what its NodeProfile says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from azure_samples import pool_args, profile

from gpuplatform import catalog
from gpuplatform.azure import AksGpuPool
from gpuplatform.config import NodePool, Nodes, OnDemand, Spot
from gpuplatform.config import Taint as PoolTaint
from gpuplatform.errors import Refusal
from gpuplatform.plan.recorder import Recording, Registered
from gpuplatform.profile import AmiDriver, Taint, node_profile, operator_values, tolerations

Update = Callable[[Callable[[], Any]], Recording]
SPOT_KEY = "kubernetes.azure.com/scalesetpriority"


def build(update: Update, **changes: Any) -> Registered:
    return update(lambda: AksGpuPool("pool", pool_args(**changes))).named("pool-gpu-pool")


def configured(name: str = "serve", sku: str = "Standard_NC40ads_H100_v5", *, spot: bool, **more: Any) -> Any:
    pool = NodePool(
        name=name,
        sku=sku,
        purpose="inference",
        nodes=Nodes(min=0, max=2),
        capacity=Spot(kind="spot") if spot else OnDemand(),
        **more,
    )
    machine = catalog.load().sku("azure", sku)
    assert machine is not None
    return node_profile(pool, machine)


def test_aks_2_a_spot_pool_says_all_that_azure_would_add_by_itself(update: Update):
    inputs = build(update, profile=configured(spot=True)).inputs
    assert inputs["scaleSetPriority"] == "Spot"
    assert inputs["scaleSetEvictionPolicy"] == "Delete"
    assert inputs["spotMaxPrice"] == -1
    assert "upgradeSettings" not in inputs
    assert f"{SPOT_KEY}=spot:NoSchedule" in inputs["nodeTaints"]
    assert inputs["nodeLabels"][SPOT_KEY] == "spot"
    assert inputs["mode"] == "User"


def test_aks_2_an_on_demand_pool_says_nothing_of_spot(update: Update):
    inputs = build(update, profile=configured(spot=False)).inputs
    assert inputs["scaleSetPriority"] == "Regular"
    assert "scaleSetEvictionPolicy" not in inputs
    assert "spotMaxPrice" not in inputs
    assert SPOT_KEY not in inputs["nodeLabels"]
    assert not any(SPOT_KEY in taint for taint in inputs["nodeTaints"])


def test_aks_3_the_driver_is_always_explicit_and_never_a_tag(update: Update):
    for spot in (True, False):
        inputs = build(update, profile=configured(spot=spot)).inputs
        assert inputs["gpuProfile"] == {"driver": "Install"}
        assert "skip-gpu-driver-install" not in {tag.lower() for tag in inputs["tags"]}


def test_drv_1_the_driver_has_one_owner(update: Update):
    decided = configured(spot=False)
    values = operator_values([decided])
    assert build(update, profile=decided).inputs["gpuProfile"]["driver"] == "Install"
    assert values["driver"]["enabled"] is False
    assert values["toolkit"]["enabled"] is False
    assert values["operator"]["runtimeClass"] == "nvidia-container-runtime"


def test_drv_5_the_operator_tolerates_every_taint_on_the_nodes(update: Update):
    decided = configured(spot=True, taints=(PoolTaint(key="dedicated", value="gpu"),))
    keys = {taint.split("=")[0] for taint in build(update, profile=decided).inputs["nodeTaints"]}
    assert keys == {"nvidia.com/gpu", SPOT_KEY, "dedicated"}
    assert {each["key"] for each in tolerations([decided])} == keys
    assert {each["operator"] for each in tolerations([decided])} == {"Exists"}


@pytest.mark.parametrize("name", ["gpu-h100-train", "Train", "1train", "trainingpools", ""])
def test_aks_4_a_name_that_azure_would_refuse_is_refused_first(name: str):
    with pytest.raises(Refusal, match=r"AKS agent pool names (have|match)"):
        pool_args(profile=profile(pool=name))


def test_aks_4_a_replacement_never_stands_beside_a_pool_of_the_same_name(update: Update):
    pool = build(update, profile=profile(pool="trainingpool"))
    assert pool.inputs["agentPoolName"] == "trainingpool"
    assert pool.delete_before_replace


def test_pul_5_the_count_is_the_autoscalers(update: Update):
    pool = build(update, nodes_min=1, nodes_max=4)
    assert pool.ignore_changes == ("count",)
    inputs = pool.inputs
    assert (inputs["enableAutoScaling"], inputs["minCount"], inputs["maxCount"]) == (True, 1, 4)


def test_pul_5_a_fixed_pool_still_takes_a_new_size(update: Update):
    pool = build(update, nodes_min=4, nodes_max=4)
    assert pool.ignore_changes == ()
    assert (pool.inputs["count"], pool.inputs["enableAutoScaling"]) == (4, False)
    assert "minCount" not in pool.inputs


def test_pol_4_an_upgrade_needs_no_machine_beyond_the_maximum(update: Update):
    assert build(update).inputs["upgradeSettings"] == {"maxSurge": "0", "maxUnavailable": "1"}


def test_the_nodes_are_what_the_profile_says(update: Update):
    taints = (
        Taint(key="nvidia.com/gpu", value="true", effect="NoSchedule"),
        Taint(key="team", value="", effect="NoExecute"),
    )
    inputs = build(
        update, profile=profile(labels={"a": "b"}, taints=taints, disk_gib=512), zones=("2",)
    ).inputs
    assert inputs["vmSize"] == "Standard_ND96isr_H100_v5"
    assert inputs["osSKU"] == "Ubuntu"
    assert inputs["osDiskSizeGB"] == 512
    assert inputs["nodeLabels"] == {"a": "b"}
    assert inputs["nodeTaints"] == ["nvidia.com/gpu=true:NoSchedule", "team=:NoExecute"]
    assert inputs["availabilityZones"] == ["2"]
    assert inputs["orchestratorVersion"] == "1.35"


def test_the_pool_goes_with_the_cluster(environment: Recording):
    cluster = environment.named("cluster-aks").urn
    pools = environment.of_type("azure-native:containerservice:AgentPool")
    assert len(pools) == 2
    for pool in pools:
        assert pool.deleted_with == cluster
        assert cluster in pool.dependencies
        assert pool.inputs["resourceName"] == "vision-prod"


def test_a_pool_in_somebody_elses_cluster_outlives_nothing(update: Update):
    pool = build(update)
    assert pool.inputs["resourceGroupName"] == "theirs"
    assert pool.deleted_with == ""


def test_another_clouds_profile_is_refused():
    with pytest.raises(Refusal, match="another cloud's driver"):
        pool_args(profile=profile(driver=AmiDriver(ami_type="AL2023_x86_64_NVIDIA")))
