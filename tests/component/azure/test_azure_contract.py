"""What holds for every resource of every Azure component."""

from __future__ import annotations

from azure_samples import TAGS, build_environment

from gpuplatform.plan.recorder import Recording, record
from gpuplatform.sandbox import sdk_types

UNTAGGABLE = {
    "azure-native:authorization:RoleAssignment",  # Azure keeps no tags on these two
    "azure-native:network:Subnet",
    "pulumi:providers:kubernetes",
}
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"


def test_every_property_is_one_that_the_sdk_has(environment: Recording):
    found = {
        resource.name: sdk_types.check(resource.type, resource.inputs)
        for resource in environment.resources
        if resource.custom
    }
    assert len(found) >= 14
    assert {name: problems for name, problems in found.items() if problems} == {}


def test_everything_taggable_carries_every_tag(environment: Recording):
    tagged = {
        resource.name: resource.inputs.get("tags")
        for resource in environment.resources
        if resource.custom and resource.type not in UNTAGGABLE
    }
    assert len(tagged) >= 10
    assert {name for name, tags in tagged.items() if tags != TAGS.azure()} == set()
    assert TAGS.azure()["cost-center"] == "4711"


def test_the_system_pools_machines_are_tagged_too(environment: Recording):
    pool = environment.named("cluster-aks").inputs["agentPoolProfiles"][0]
    assert pool["tags"] == TAGS.azure()


def test_pul_7_every_resource_belongs_to_a_component(environment: Recording):
    strays = [
        resource.urn
        for resource in environment.resources
        if resource.custom and "gpuplatform:index:" not in resource.urn
    ]
    assert strays == []


def test_pul_7_type_tokens_and_names_are_pinned(environment: Recording):
    # A changed line here replaces resources in existing environments: it ships with an alias.
    assert sorted(resource.urn.split("::", 2)[2] for resource in environment.resources) == sorted(
        [
            "gpuplatform:index:AzureNetwork::network",
            "gpuplatform:index:AzureNetwork$azure-native:resources:ResourceGroup::network-group",
            "gpuplatform:index:AzureNetwork$azure-native:network:PublicIPAddress::network-nat-address",
            "gpuplatform:index:AzureNetwork$azure-native:network:NatGateway::network-nat",
            "gpuplatform:index:AzureNetwork$azure-native:network:NetworkSecurityGroup::network-security-group",
            "gpuplatform:index:AzureNetwork$azure-native:network:VirtualNetwork::network-vnet",
            "gpuplatform:index:AzureNetwork$azure-native:network:Subnet::network-nodes",
            "gpuplatform:index:AksCluster::cluster",
            f"gpuplatform:index:AksCluster${IDENTITY}::cluster-control-plane",
            f"gpuplatform:index:AksCluster${IDENTITY}::cluster-kubelet",
            "gpuplatform:index:AksCluster$azure-native:authorization:RoleAssignment::cluster-joins-subnet",
            "gpuplatform:index:AksCluster$azure-native:authorization:RoleAssignment::cluster-assigns-kubelet",
            "gpuplatform:index:AksCluster$azure-native:containerservice:ManagedCluster::cluster-aks",
            "gpuplatform:index:AksCluster$pulumi:providers:kubernetes::cluster-kubernetes",
            "gpuplatform:index:AksGpuPool::pool-train",
            "gpuplatform:index:AksGpuPool$azure-native:containerservice:AgentPool::pool-train-gpu-pool",
            "gpuplatform:index:AksGpuPool::pool-serve",
            "gpuplatform:index:AksGpuPool$azure-native:containerservice:AgentPool::pool-serve-gpu-pool",
        ]
    )


def test_what_holds_the_environment_is_protected_where_asked(environment: Recording):
    protected = {resource.name for resource in environment.resources if resource.protect}
    assert protected == {"network-group", "cluster-aks"}


def test_nothing_is_retained_silently(environment: Recording):
    assert [resource.name for resource in environment.resources if resource.retain_on_delete] == []


def test_what_goes_with_another_resource_uses_nothing_that_goes_before_it(environment: Recording):
    # The engine takes a resource with `deleted_with` out of the order of deletion: whatever it uses must be
    # used by the other one too; a subnet that went with its network once kept its NAT gateway from going.
    uses = {resource.urn: set(resource.dependencies) for resource in environment.resources}

    def all_uses(urn: str) -> set[str]:
        return {urn}.union(*(all_uses(used) for used in uses[urn]))

    followers = [resource for resource in environment.resources if resource.deleted_with]
    assert followers
    for resource in followers:
        assert set(resource.dependencies) <= all_uses(resource.deleted_with), resource.name


def test_each_component_registers_its_outputs(environment: Recording):
    outputs = {urn.rsplit("::", 1)[-1]: set(values) for urn, values in environment.outputs.items()}
    assert outputs == {
        "network": {"id", "node_subnet_ids", "resource_group_name", "egress_cidrs"},
        "cluster": {
            "cluster_name",
            "cluster_id",
            "endpoint",
            "kubeconfig",
            "kubeconfig_command",
            "oidc_issuer",
        },
        "pool-train": {"node_group_name", "node_group_id"},
        "pool-serve": {"node_group_name", "node_group_id"},
    }


def test_a_preview_asks_no_cloud():
    recording = record(build_environment)
    assert recording.named("pool-train-gpu-pool").inputs["vmSize"] == "Standard_ND96isr_H100_v5"
