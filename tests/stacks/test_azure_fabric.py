"""The Azure stack with InfiniBand on the real engine: another pool, what replaces one, and the way down."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.engine

POOL = "azure-native:containerservice:AgentPool"
GROUP = "azure-native:compute:ProximityPlacementGroup"
RESERVATION = (
    "/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/capacity/providers"
    "/Microsoft.Compute/capacityReservationGroups/a100s"
)
A100 = {
    "sku": "Standard_NC96ads_A100_v4",
    "nodes": {"min": 0, "max": 2},
    "zones": ["2"],
    "driver": "operator",
}


def test_pools_are_added_changed_and_gone_each_by_itself(stage: Any) -> None:
    with stage("azure-prod") as it:
        made = it.apply()
        assert made.exit_code == 0, made.diagnostics
        train = _pool(it, "train")
        assert train["gpuProfile"] == {"driver": "None"}
        assert train["osDiskType"] == "Ephemeral"
        start = _made(it)

        it.configure(_two_more)
        added = it.apply()
        assert added.exit_code == 0, added.diagnostics
        assert set(added.counts) == {"create", "same"}
        assert {urn: made for urn, made in _made(it).items() if urn in start} == start
        assert _pool(it, "near")["proximityPlacementGroupID"] == _id(it, GROUP)
        assert _pool(it, "kept")["capacityReservationGroupID"] == RESERVATION

        _changes_nothing_but(it, "train", {"disk_gib": 400})
        _changes_nothing_but(it, "train", {"local_disks": "none"})
        _changes_nothing_but(it, "kept", {"sku": "Standard_NC48ads_A100_v4"})
        _changes_nothing_but(it, "near", {"nodes": {"min": 0, "max": 3}}, replaced=False)

        it.configure(lambda platform: platform.update(node_pools=platform["node_pools"][:2]))
        removed = it.apply()
        assert removed.exit_code == 0, removed.diagnostics
        assert _made(it).keys() == start.keys()

        gone = it.destroy(include_protected=True)
        assert gone.exit_code == 0, gone.diagnostics
        assert it.things == []


def test_another_image_or_mig_profile_makes_a_new_pool_and_nothing_else(stage: Any) -> None:
    with stage("azure-dev") as it:
        it.configure(_cut_a100)
        made = it.apply()
        assert made.exit_code == 0, made.diagnostics
        assert _pool(it, "serve")["gpuInstanceProfile"] == "MIG1g"
        _changes_nothing_but(it, "serve", {"sharing": {"kind": "mig", "profile": "3g.40gb"}})
        assert _pool(it, "serve")["gpuInstanceProfile"] == "MIG3g"
        _changes_nothing_but(it, "serve", {"image": "azurelinux"})
        assert _pool(it, "serve")["osSKU"] == "AzureLinux"


def _cut_a100(platform: dict[str, Any]) -> None:
    mig = {"kind": "mig", "profile": "1g.10gb"}
    platform["node_pools"][0].update(sku="Standard_NC24ads_A100_v4", sharing=mig)
    platform["guardrails"]["gpu_models"].append("A100")
    platform["budget"]["monthly_usd"] = 30_000


def _two_more(platform: dict[str, Any]) -> None:
    near = {**A100, "name": "near", "purpose": "training", "fabric": "none"}
    kept = {**A100, "name": "kept", "purpose": "inference"}
    kept["capacity"] = {"kind": "reservation", "id": RESERVATION}
    platform["node_pools"] += [near, kept]
    platform["guardrails"]["gpu_models"].append("A100")


def _changes_nothing_but(it: Any, name: str, change: dict[str, Any], *, replaced: bool = True) -> None:
    def update(platform: dict[str, Any]) -> None:
        next(pool for pool in platform["node_pools"] if pool["name"] == name).update(change)

    before = _made(it)
    it.configure(update)
    assert it.apply().exit_code == 0
    after = _made(it)
    assert before.keys() == after.keys()
    touched = {urn for urn in after if before[urn] != after[urn] and urn.endswith("gpu-pool")}
    assert touched == ({_urn(it, name)} if replaced else set())


def _made(it: Any) -> dict[str, str]:
    """When each thing was made: a replacement is made later, an update is not."""
    return {thing.urn: thing.key for thing in it.things}


def _urn(it: Any, name: str) -> str:
    return next(thing.urn for thing in it.things if thing.urn.endswith(f"::pool-{name}-gpu-pool"))


def _pool(it: Any, name: str) -> dict[str, Any]:
    urn = _urn(it, name)
    return next(thing.inputs for thing in it.things if thing.urn == urn)


def _id(it: Any, token: str) -> str:
    return next(thing.id for thing in it.things if thing.token == token)
