"""The AKS cluster: who reaches it, who it is, what it is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from azure_samples import (
    SUBSCRIPTION,
    build_environment,
    cluster_args,
    pool_args,
    profile,
)

from gpuplatform.azure import AksCluster, AksGpuPool
from gpuplatform.errors import Refusal
from gpuplatform.plan.recorder import Recording, record

Update = Callable[[Callable[[], Any]], Recording]


def build(update: Update, **changes: Any) -> Recording:
    return update(lambda: AksCluster("cluster", cluster_args(**changes)))


def aks(recording: Recording) -> dict[str, Any]:
    return recording.named("cluster-aks").inputs


def outputs(recording: Recording) -> dict[str, Any]:
    (found,) = recording.outputs.values()
    return found


def test_aks_1_the_cluster_has_one_inline_pool_without_gpus(environment: Recording):
    (pool,) = aks(environment)["agentPoolProfiles"]
    assert (pool["name"], pool["mode"], pool["vmSize"]) == ("system", "System", "Standard_D4s_v5")
    assert "gpuProfile" not in pool


def test_aks_1_another_gpu_pool_leaves_the_cluster_untouched(update: Update, environment: Recording):
    def with_one_more() -> None:
        cluster = build_environment()
        AksGpuPool("pool-more", pool_args(cluster=cluster, profile=profile(pool="more")))

    assert aks(update(with_one_more)) == aks(environment)


def test_the_system_pool_carries_no_taint_since_controllers_run_on_it(update: Update):
    assert "nodeTaints" not in aks(build(update))["agentPoolProfiles"][0]


def test_the_system_pool_surges_since_it_takes_no_max_unavailable(update: Update):
    assert aks(build(update))["agentPoolProfiles"][0]["upgradeSettings"] == {"maxSurge": "1"}


def test_pul_5_the_count_is_the_autoscalers(update: Update):
    cluster = build(update).named("cluster-aks")
    assert cluster.ignore_changes == ("agentPoolProfiles[0].count",)
    (pool,) = cluster.inputs["agentPoolProfiles"]
    assert (pool["enableAutoScaling"], pool["minCount"], pool["maxCount"]) == (True, 2, 4)


def test_pul_5_a_fixed_system_pool_still_takes_a_new_size(update: Update):
    cluster = build(update, system_min=3, system_max=3).named("cluster-aks")
    assert cluster.ignore_changes == ()
    (pool,) = cluster.inputs["agentPoolProfiles"]
    assert (pool["count"], pool["enableAutoScaling"]) == (3, False)
    assert "maxCount" not in pool


def test_only_the_listed_entra_groups_administer_it_and_local_accounts_are_off(update: Update):
    inputs = aks(build(update))
    assert inputs["disableLocalAccounts"] is True
    assert inputs["enableRBAC"] is True
    assert inputs["aadProfile"] == {
        "managed": True,
        "enableAzureRBAC": False,
        "adminGroupObjectIDs": ["00000000-0000-4000-8000-0000000000aa"],
    }


def test_pods_can_have_identities(update: Update):
    inputs = aks(build(update))
    assert inputs["oidcIssuerProfile"] == {"enabled": True}
    assert inputs["securityProfile"]["workloadIdentity"] == {"enabled": True}


def test_pods_are_numbered_outside_the_network_and_leave_through_the_nat_gateway(update: Update):
    network = aks(build(update))["networkProfile"]
    assert (network["networkPlugin"], network["networkPluginMode"]) == ("azure", "overlay")
    assert (network["networkDataplane"], network["networkPolicy"]) == ("cilium", "cilium")
    assert network["outboundType"] == "userAssignedNATGateway"
    assert network["podCidr"] == "100.64.0.0/10"
    assert network["dnsServiceIP"] == network["serviceCidr"].replace("0.0/16", "0.10")


def test_a_private_api_has_no_public_name_and_no_way_around_the_network(update: Update):
    recording = build(update)
    assert aks(recording)["apiServerAccessProfile"] == {
        "enablePrivateCluster": True,
        "enablePrivateClusterPublicFQDN": False,
        "privateDNSZone": "system",
        "disableRunCommand": True,
    }
    assert outputs(recording)["endpoint"] == "https://vision-prod.privatelink.eastus.azmk8s.io:443"


def test_a_public_api_is_open_to_the_listed_cidrs_and_its_own_nodes(update: Update):
    recording = build(update, api_private=False, api_public_cidrs=("198.51.100.0/24",))
    assert aks(recording)["apiServerAccessProfile"] == {
        "enablePrivateCluster": False,
        "authorizedIPRanges": ["198.51.100.0/24", "20.9.9.9/32"],
    }
    assert outputs(recording)["endpoint"] == "https://vision-prod.hcp.eastus.azmk8s.io:443"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"api_public_cidrs": ("198.51.100.0/24",)}, "private and open to public CIDRs"),
        ({"api_private": False}, "without a list of who reaches it"),
        ({"system_min": 0}, "a system pool without nodes"),
        ({"name": "a" * 55}, "1 to 54 characters.* has 55"),
    ],
)
def test_what_aks_does_not_have_is_refused_with_a_way_out(changes: dict[str, Any], message: str):
    with pytest.raises(Refusal, match=message) as refused:
        cluster_args(**changes)
    assert refused.value.rule
    assert refused.value.way_out
    assert refused.value.where


def test_its_identity_joins_the_subnet_and_assigns_the_kubelets_before_it_exists(update: Update):
    recording = build(update)
    grants = {
        grant.name: (grant.inputs["roleDefinitionId"], grant.inputs["scope"].rsplit("/", 1)[-1])
        for grant in recording.of_type("azure-native:authorization:RoleAssignment")
    }
    roles = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions"
    assert grants == {
        "cluster-joins-subnet": (f"{roles}/4d97b98b-1d4f-4787-a291-c67834d212e7", "nodes"),
        "cluster-assigns-kubelet": (f"{roles}/f1a07417-d97a-45cb-824c-7a7467783830", "vision-prod-kubelet"),
    }
    waits_for = {urn.rsplit("::", 1)[-1] for urn in recording.named("cluster-aks").dependencies}
    assert waits_for >= set(grants)


def test_grants_go_to_the_control_plane_as_a_service_principal(update: Update):
    for grant in build(update).of_type("azure-native:authorization:RoleAssignment"):
        assert grant.inputs["principalId"] == "vision-prod-control-plane-principal"
        assert grant.inputs["principalType"] == "ServicePrincipal"


def test_its_nodes_use_the_kubelet_identity(update: Update):
    inputs = aks(build(update))
    assert inputs["identity"]["type"] == "UserAssigned"
    (control_plane,) = inputs["identity"]["userAssignedIdentities"]
    assert control_plane.endswith("/vision-prod-control-plane")
    kubelet = inputs["identityProfile"]["kubeletidentity"]
    assert kubelet["resourceId"].endswith("/vision-prod-kubelet")
    assert (kubelet["clientId"], kubelet["objectId"]) == (
        "vision-prod-kubelet-client",
        "vision-prod-kubelet-principal",
    )


@pytest.mark.parametrize(
    ("support", "tier", "plan"),
    [("standard", "Standard", "KubernetesOfficial"), ("extended", "Premium", "AKSLongTermSupport")],
)
def test_extended_support_is_long_term_support_on_the_premium_tier(
    update: Update, support: str, tier: str, plan: str
):
    inputs = aks(build(update, support=support))
    assert inputs["sku"] == {"name": "Base", "tier": tier}
    assert inputs["supportPlan"] == plan


def test_nothing_drains_nodes_by_itself(update: Update):
    assert aks(build(update))["autoUpgradeProfile"] == {
        "upgradeChannel": "none",
        "nodeOSUpgradeChannel": "None",
    }


def test_control_plane_and_system_pool_have_the_same_version(update: Update):
    inputs = aks(build(update, kubernetes_version="1.34"))
    assert inputs["kubernetesVersion"] == "1.34"
    assert inputs["agentPoolProfiles"][0]["orchestratorVersion"] == "1.34"


def test_pul_1_the_kubernetes_provider_lives_as_long_as_the_cluster(update: Update):
    recording = build(update)
    provider = recording.named("cluster-kubernetes")
    assert provider.inputs["clusterIdentifier"] == outputs(recording)["cluster_id"]
    assert provider.parent == recording.named("cluster").urn


def test_the_kubeconfig_is_a_secret_that_holds_no_credential(update: Update):
    recording = build(update)
    provider = recording.named("cluster-kubernetes")
    assert "kubeconfig" in provider.secrets
    config = json.loads(provider.inputs["kubeconfig"])
    (user,) = config["users"]
    assert set(user["user"]) == {"exec"}
    assert user["user"]["exec"]["args"][:3] == ["get-token", "--login", "azurecli"]


def test_it_says_how_a_person_gets_a_kubeconfig(update: Update):
    assert outputs(build(update))["kubeconfig_command"] == (
        f"az aks get-credentials --subscription {SUBSCRIPTION} --resource-group theirs --name vision-prod"
        " && kubelogin convert-kubeconfig --login azurecli"
    )


def test_the_issuer_is_known_once_the_cluster_is(update: Update):
    assert outputs(build(update))["oidc_issuer"] == "https://eastus.oic.prod-aks.azure.com/t/c/"


def test_in_a_preview_the_issuer_is_unknown_rather_than_missing():
    recording = record(lambda: AksCluster("cluster", cluster_args()))
    assert outputs(recording)["oidc_issuer"] is not None
    assert outputs(recording)["oidc_issuer"] == outputs(recording)["cluster_id"]  # both unknown


def test_a_network_of_somebody_elses_will_do(update: Update):
    recording = build(update)
    inputs = aks(recording)
    assert inputs["resourceGroupName"] == "theirs"
    assert inputs["agentPoolProfiles"][0]["availabilityZones"] == ["3"]
    assert recording.of_type("azure-native:network:VirtualNetwork") == ()


def test_who_looks_at_the_cluster_is_bound_to_kubernetes_own_role(update: Update):
    token = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding"  # noqa: S105 - a type token
    groups = tuple(f"00000000-0000-4000-8000-0000000000{end}" for end in ("cc", "bb"))
    there, back = (build(update, viewers=order) for order in (groups, groups[::-1]))
    (binding,) = there.of_type(token)
    assert binding.inputs["roleRef"]["name"] == "view"
    assert [subject["name"] for subject in binding.inputs["subjects"]] == sorted(groups)
    assert {subject["kind"] for subject in binding.inputs["subjects"]} == {"Group"}
    assert binding.deleted_with == there.named("cluster-aks").urn
    assert back.of_type(token) == (binding,)
    assert aks(there) == aks(build(update)), "the cluster itself does not change"
    assert build(update).of_type(token) == ()
