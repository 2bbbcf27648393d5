"""What holds on every cloud for what outlives a cluster: buckets, file systems, their keys."""

from __future__ import annotations

import pytest
from samples import STACKS, config_of, decision_of, recording_of

from gpuplatform.plan.recorder import Recording, Registered
from gpuplatform.storage import ObjectPlan, SharedFilesystemPlan

STORES = {
    "aws:s3/bucket:Bucket",
    "azure-native:storage:StorageAccount",
    "gcp:storage/bucket:Bucket",
}
FILESYSTEMS = {
    "aws:fsx/lustreFileSystem:LustreFileSystem",
    "azure-native:storagecache:AmlFilesystem",
    "azure-native:storage:FileShare",
    "gcp:lustre/instance:Instance",
    "gcp:filestore/instance:Instance",
}
KEYS = {"aws:kms/key:Key", "azure-native:keyvault:Key", "gcp:kms/cryptoKey:CryptoKey"}
COMPUTE = ("NodeGroup", "AgentPool", "NodePool", ":Cluster", "ManagedCluster", "NatGateway", "RouterNat")


def _of(recording: Recording, types: set[str]) -> list[Registered]:
    return [resource for resource in recording.resources if resource.type in types]


def _stands_on(recording: Recording, first: Registered) -> set[str]:
    """The URNs of all that a resource depends on, is below, or is made by."""
    by_urn = {resource.urn: resource for resource in recording.resources}
    seen: set[str] = set()
    waiting = [first.urn]
    while waiting:
        urn = waiting.pop()
        if urn in by_urn and urn not in seen:
            seen.add(urn)
            waiting += [*by_urn[urn].dependencies, by_urn[urn].provider, by_urn[urn].parent]
    return seen


@pytest.mark.parametrize("stack", STACKS)
def test_every_tier_that_holds_data_is_there_once_and_protected(stack: str) -> None:
    recording = recording_of(stack)
    plans = decision_of(stack).storage
    objects = [plan for plan in plans if isinstance(plan, ObjectPlan)]
    shared = [plan for plan in plans if isinstance(plan, SharedFilesystemPlan)]
    assert objects
    held = _of(recording, FILESYSTEMS)
    assert len(held) == len(shared)
    stores = [store for store in _of(recording, STORES) if "ObjectStore" in store.urn]
    assert len(stores) == len(objects)
    for resource in (*stores, *held):
        assert resource.protect, f"{resource.urn}: a teardown would take it"


@pytest.mark.parametrize("stack", STACKS)
def test_a_kept_bucket_s_key_is_kept_too(stack: str) -> None:
    keys = [key for key in _of(recording_of(stack), KEYS) if "ObjectStore" in key.urn]
    assert keys
    assert all(key.protect for key in keys)


@pytest.mark.parametrize("stack", STACKS)
def test_nothing_that_is_kept_stands_on_what_costs_by_the_hour(stack: str) -> None:
    """`pulumi destroy --exclude-protected` keeps what a protected resource stands on, a cluster too."""
    recording = recording_of(stack)
    for resource in _of(recording, STORES | FILESYSTEMS | KEYS):
        if "cluster" in resource.name:  # the key of the cluster's own secrets
            continue
        below = {urn.split("::")[2].rpartition("$")[2] for urn in _stands_on(recording, resource)}
        assert not [type_ for type_ in below if type_.endswith(COMPUTE)], resource.urn


@pytest.mark.parametrize("stack", STACKS)
def test_sto_7_no_grant_on_a_bucket_names_the_nodes(stack: str) -> None:
    """Whoever shares a node would share the grant."""
    recording = recording_of(stack)
    nodes = {
        resource.urn
        for resource in recording.resources
        if (resource.custom and ("node-account" in resource.name or "kubelet" in resource.name))
        or (resource.type == "aws:iam/role:Role" and resource.name.endswith("-nodes"))
    }
    assert nodes
    grants = [
        resource for resource in recording.resources if resource.custom and "WorkloadIdentity" in resource.urn
    ]
    assert grants
    for grant in grants:
        assert not nodes & set(grant.dependencies), grant.urn


@pytest.mark.parametrize("stack", STACKS)
def test_every_team_has_a_namespace_an_identity_and_a_claim_of_each_tier(stack: str) -> None:
    recording, teams = recording_of(stack), config_of(stack).teams
    assert teams
    identities = [r.name for r in recording.resources if not r.custom and r.type.endswith("WorkloadIdentity")]
    assert identities == [f"identity-{team.name}" for team in teams]
    claims = {
        (claim.inputs["metadata"]["namespace"], claim.inputs["metadata"]["name"])
        for claim in recording.of_type("kubernetes:core/v1:PersistentVolumeClaim")
    }
    assert claims == {(team.name, tier) for team in teams for tier in team.storage}
    volumes = recording.of_type("kubernetes:core/v1:PersistentVolume")
    assert len(volumes) == len(claims)
    assert {volume.inputs["spec"]["persistentVolumeReclaimPolicy"] for volume in volumes} == {"Retain"}
    handles = [volume.inputs["spec"]["csi"]["volumeHandle"] for volume in volumes]
    assert all(handles)


@pytest.mark.parametrize("stack", STACKS)
def test_the_cloud_s_own_budget_is_there_with_its_alerts(stack: str) -> None:
    types = {
        "aws:budgets/budget:Budget",
        "azure-native:consumption:Budget",
        "gcp:billing/budget:Budget",
    }
    (budget,) = _of(recording_of(stack), types)
    assert not budget.protect
    said = str(budget.inputs)
    for percent in ("50", "75", "90") if "gcp" not in budget.type else ("0.5", "0.75", "0.9"):
        assert percent in said
    assert "FORECAST" in said.upper()
