"""A GPU pool: an agent pool that says exactly what its NodeProfile says."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from azure_samples import SUBSCRIPTION, pool_args, profile

from gpuplatform import catalog
from gpuplatform.azure import AksGpuPool
from gpuplatform.azure.identity import CONTRIBUTOR
from gpuplatform.config import Mig, NodePool, Nodes, OnDemand, Reservation, Spot
from gpuplatform.config import Taint as PoolTaint
from gpuplatform.errors import Refusal
from gpuplatform.plan.recorder import Recording, Registered
from gpuplatform.profile import AmiDriver, Taint, node_profile, operator_values, tolerations
from gpuplatform.replacement import covers, replacement

Update = Callable[[Callable[[], Any]], Recording]
SPOT_KEY = "kubernetes.azure.com/scalesetpriority"
COMPUTE = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/capacity/providers/Microsoft.Compute"
RESERVATION = f"{COMPUTE}/capacityReservationGroups/a100s"
PROXIMITY = f"{COMPUTE}/proximityPlacementGroups/close"


def build(update: Update, **changes: Any) -> Registered:
    return update(lambda: AksGpuPool("pool", pool_args(**changes))).named("pool-gpu-pool")


def configured(
    name: str = "serve", sku: str = "Standard_NC40ads_H100_v5", *, spot: bool = False, **more: Any
) -> Any:
    asked = {
        "purpose": "inference",
        "nodes": Nodes(min=0, max=2),
        "capacity": Spot(kind="spot") if spot else OnDemand(),
        **more,
    }
    pool = NodePool(name=name, sku=sku, **asked)
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


@pytest.mark.parametrize(
    ("sku", "owner", "installs"),
    [
        ("Standard_NC40ads_H100_v5", None, "Install"),
        ("Standard_NC40ads_H100_v5", "operator", "None"),
        ("Standard_NV36ads_A10_v5", None, "Install"),
        ("Standard_ND96isr_H100_v5", None, "None"),
    ],
)
def test_drv_1_the_driver_has_one_owner(update: Update, sku: str, owner: Any, installs: str):
    decided = configured(sku=sku, driver=owner)
    values = operator_values([decided])
    assert build(update, profile=decided).inputs["gpuProfile"] == {"driver": installs}
    assert values["driver"]["enabled"] is (installs == "None")
    assert values["toolkit"]["enabled"] is (installs == "None")


def test_net_6_a_pool_with_infiniband_skips_aks_s_driver_and_runs_ubuntu(update: Update):
    inputs = build(update, profile=configured(sku="Standard_ND96isr_H100_v5", fabric="required")).inputs
    assert inputs["gpuProfile"] == {"driver": "None"}
    assert inputs["osSKU"] == "Ubuntu"
    assert "proximityPlacementGroupID" not in inputs
    rack = build(update, profile=configured(sku="Standard_ND128isr_GB300_v6")).inputs
    assert (rack["gpuProfile"], rack["osSKU"]) == ({"driver": "None"}, "Ubuntu2404")


def test_sto_5_the_boot_disk_stands_where_the_profile_says(update: Update):
    def disk_type(sku: str, **more: Any) -> Any:
        return build(update, profile=configured(sku=sku, **more)).inputs.get("osDiskType")

    assert disk_type("Standard_ND96isr_H100_v5") == "Ephemeral"
    assert disk_type("Standard_ND96isr_H100_v5", local_disks="raw") == "Ephemeral"
    assert disk_type("Standard_ND96isr_H100_v5", local_disks="none") == "Managed"
    assert disk_type("Standard_NC4as_T4_v3") == "Managed"
    assert disk_type("Standard_ND96asr_v4") is None


@pytest.mark.parametrize(
    ("profile_name", "cut"), [("1g.10gb", "MIG1g"), ("3g.40gb", "MIG3g"), ("7g.80gb", "MIG7g")]
)
def test_mig_is_cut_by_aks_where_it_owns_the_driver(update: Update, profile_name: str, cut: str):
    mig = Mig(kind="mig", profile=profile_name)
    a100 = "Standard_NC24ads_A100_v4"
    assert build(update, profile=configured(sku=a100, sharing=mig)).inputs["gpuInstanceProfile"] == cut
    by_operator = build(update, profile=configured(sku=a100, sharing=mig, driver="operator")).inputs
    assert "gpuInstanceProfile" not in by_operator
    assert "gpuInstanceProfile" not in build(update, profile=configured(sku=a100)).inputs


def test_a_reserved_pool_draws_on_its_group_and_stays_at_its_size_in_an_upgrade(update: Update):
    inputs = build(
        update,
        profile=configured(
            sku="Standard_NC24ads_A100_v4", capacity=Reservation(kind="reservation", id=RESERVATION)
        ),
    ).inputs
    assert inputs["capacityReservationGroupID"] == RESERVATION
    assert inputs["scaleSetPriority"] == "Regular"
    assert inputs["upgradeSettings"] == {"maxSurge": "0", "maxUnavailable": "1"}
    for other in (configured(spot=True), configured(spot=False)):
        assert "capacityReservationGroupID" not in build(update, profile=other).inputs


def test_a_group_that_keeps_nodes_near_each_other_knows_the_machine_and_the_zone(update: Update):
    near = configured(
        sku="Standard_NC96ads_A100_v4", purpose="training", fabric="none", zones=("2",), name="train"
    )
    recording = update(lambda: AksGpuPool("pool", pool_args(profile=near, zones=("2",))))
    group = recording.named("pool-near")
    assert group.inputs["intent"] == {"vmSizes": ["Standard_NC96ads_A100_v4"]}
    assert group.inputs["zones"] == ["2"]
    assert group.inputs["proximityPlacementGroupName"] == "vision-prod-train"
    assert recording.named("pool-gpu-pool").inputs["proximityPlacementGroupID"].endswith("vision-prod-train")
    assert group.urn in recording.named("pool-gpu-pool").dependencies
    assert not recording.of_type("azure-native:authorization:RoleAssignment")


def test_the_cluster_s_identity_may_write_to_the_group_before_the_pool_is_made(update: Update):
    near = configured(sku="Standard_NC96ads_A100_v4", purpose="training", fabric="none", zones=("2",))
    cluster = dataclasses.replace(pool_args().cluster, control_plane_principal_id="their-principal")
    recording = update(lambda: AksGpuPool("pool", pool_args(cluster=cluster, profile=near, zones=("2",))))
    role = recording.named("pool-places-nodes")
    assert role.inputs["principalId"] == "their-principal"
    assert role.inputs["scope"] == recording.named("pool-gpu-pool").inputs["proximityPlacementGroupID"]
    assert role.inputs["roleDefinitionId"].endswith(CONTRIBUTOR)
    assert role.urn in recording.named("pool-gpu-pool").dependencies


def test_the_user_s_own_group_is_taken_as_it_is(update: Update):
    own = configured(sku="Standard_ND96isr_H100_v5", placement_group=PROXIMITY, zones=("1",))
    recording = update(lambda: AksGpuPool("pool", pool_args(profile=own)))
    assert recording.named("pool-gpu-pool").inputs["proximityPlacementGroupID"] == PROXIMITY
    assert not recording.of_type("azure-native:compute:ProximityPlacementGroup")


def test_whatever_aks_cannot_change_makes_a_new_pool_and_the_rest_does_not(update: Update):
    pool = build(update, profile=configured(sku="Standard_ND96isr_H100_v5"))
    row = replacement(pool.type)
    fixed = {path for path in row.immutable if path.split(".")[0] in _every_input(update)}
    replaced = pool.replace_on_changes
    assert {path for path in fixed if not covers(replaced, path)} == {"osType"}  # always Linux
    assert "osSKU" in replaced
    assert covers(replaced, 'nodeLabels["nvidia.com/mig.config"]')
    for free in (
        "count",
        "maxCount",
        "minCount",
        'nodeLabels["team"]',
        "nodeTaints",
        "tags",
        "upgradeSettings",
    ):
        assert not covers(replaced, free)


def _every_input(update: Update) -> set[str]:
    """The inputs of pools of all kinds."""
    kinds = (
        configured(spot=True),
        configured(sku="Standard_ND96isr_H100_v5", placement_group=PROXIMITY, zones=("1",)),
        configured(sku="Standard_NC24ads_A100_v4", capacity=Reservation(kind="reservation", id=RESERVATION)),
    )
    return {key for kind in kinds for key in build(update, profile=kind).inputs}


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
    taints = (Taint(key="team", value="", effect="NoExecute"),)
    inputs = build(
        update, profile=profile(labels={"a": "b"}, taints=taints, disk_gib=512), zones=("2",)
    ).inputs
    assert inputs["vmSize"] == "Standard_ND96isr_H100_v5"
    assert inputs["osSKU"] == "Ubuntu"
    assert inputs["osDiskSizeGB"] == 512
    assert inputs["nodeLabels"] == {"a": "b"}
    assert inputs["nodeTaints"] == ["nvidia.com/gpu=present:NoSchedule", "team=:NoExecute"]
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
