"""What holds for every resource of every Google Cloud component."""

from __future__ import annotations

import pulumi
import pulumi_gcp as gcp
import pytest

from gpuplatform.gcp import GcpNetwork
from gpuplatform.plan.recorder import record
from gpuplatform.sandbox import sdk_source
from gpuplatform.sandbox.sdk_types import check, known_token
from gpuplatform.tags import KEYS

COMPONENTS = {
    "network": "gpuplatform:index:GcpNetwork",
    "cluster": "gpuplatform:index:GkeCluster",
    "pool-train": "gpuplatform:index:GkeGpuPool",
}
TYPES = {
    "gcp:compute/network:Network",
    "gcp:compute/subnetwork:Subnetwork",
    "gcp:compute/router:Router",
    "gcp:compute/routerNat:RouterNat",
    "gcp:compute/firewall:Firewall",
    "gcp:serviceaccount/account:Account",
    "gcp:projects/iAMMember:IAMMember",
    "gcp:container/cluster:Cluster",
    "gcp:container/nodePool:NodePool",
    "pulumi:providers:kubernetes",
}
LABELS = {
    "gcp:container/cluster:Cluster": lambda inputs: inputs["resourceLabels"],
    "gcp:container/nodePool:NodePool": lambda inputs: inputs["nodeConfig"]["resourceLabels"],
}
"""Where the types that take labels have them; the others (TYPES) take none."""


def children(recording):
    return [r for r in recording.resources if r.custom]


def test_the_type_tokens_are_pinned(environment):
    """A changed token replaces every child unless an alias is given."""
    recording = environment()

    assert {r.name: r.type for r in recording.resources if not r.custom} == COMPONENTS
    assert {r.type for r in children(recording)} == TYPES
    assert all(known_token(r.type) for r in children(recording) if r.type.startswith("gcp:"))


def test_the_urns_are_pinned(environment):
    """PUL-7: who changes a line here writes an alias."""
    base = "urn:pulumi:test::gpuplatform::"
    network, cluster, pool = (
        f"{base}gpuplatform:index:{token}$" for token in ("GcpNetwork", "GkeCluster", "GkeGpuPool")
    )

    assert {r.urn for r in children(environment())} == {
        f"{network}gcp:compute/network:Network::network-vpc",
        f"{network}gcp:compute/subnetwork:Subnetwork::network-nodes",
        f"{network}gcp:compute/router:Router::network-router",
        f"{network}gcp:compute/routerNat:RouterNat::network-nat",
        f"{network}gcp:compute/firewall:Firewall::network-webhooks",
        f"{cluster}gcp:serviceaccount/account:Account::cluster-node-account",
        f"{cluster}gcp:projects/iAMMember:IAMMember::cluster-node-role",
        f"{cluster}gcp:projects/iAMMember:IAMMember::cluster-admin-group-admins@example.com",
        f"{cluster}gcp:container/cluster:Cluster::cluster-gke",
        f"{cluster}gcp:container/nodePool:NodePool::cluster-system-pool",
        f"{cluster}pulumi:providers:kubernetes::cluster-kubernetes",
        f"{pool}gcp:container/nodePool:NodePool::pool-train-gpu-pool",
    }


def test_every_child_belongs_to_a_component(environment):
    recording = environment()
    components = {r.urn for r in recording.resources if not r.custom}

    assert {r.parent for r in children(recording)} <= components


def test_every_child_gets_the_callers_provider(network_args):
    def program():
        provider = gcp.Provider("mine", project="example-ml")
        GcpNetwork("network", network_args, pulumi.ResourceOptions(provider=provider))

    recording = record(program)
    mine = recording.named("mine")

    assert {r.provider for r in children(recording) if r is not mine} == {mine.urn}


def test_every_resource_that_takes_labels_carries_them_all(environment, tags):
    recording = environment()

    labelled = [r for r in recording.resources if r.type in LABELS]
    assert len(labelled) == 3
    for resource in labelled:
        labels = LABELS[resource.type](resource.inputs)
        assert labels == tags.gcp(), resource.name
        assert set(labels) == set(KEYS) - {"experiment"}


def test_no_other_resource_could_take_labels():
    """Should a provider's release add labels to a type that has none so far, this says so."""
    for token in sorted(TYPES - set(LABELS)):
        found = sdk_source.resource_type(token)
        assert found is not None, token
        assert not {"labels", "resourceLabels"} & set(found.inputs), token


def test_every_input_is_one_that_the_sdk_knows_with_its_type(environment):
    for resource in children(environment()):
        assert check(resource.type, resource.inputs) == (), resource.name


@pytest.mark.parametrize("protect", [True, False])
def test_the_cluster_alone_is_protected(environment, protect):
    protected = {r.name for r in environment(cluster={"protect": protect}).resources if r.protect}

    assert protected == ({"cluster-gke"} if protect else set())


def test_the_components_outputs_are_their_attributes(environment):
    recording = environment()

    registered = {r.name: set(recording.outputs[r.urn]) for r in recording.resources if not r.custom}
    assert registered == {
        "network": {"id", "node_subnet_ids", "pods_range", "services_range"},
        "cluster": {
            "cluster_name",
            "cluster_id",
            "endpoint",
            "kubeconfig",
            "kubeconfig_command",
            "oidc_issuer",
        },
        "pool-train": {"node_group_name", "node_group_id"},
    }


def test_nothing_is_retained_silently(environment):
    assert not [r.name for r in environment().resources if r.retain_on_delete]
