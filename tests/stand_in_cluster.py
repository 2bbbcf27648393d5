"""A stand-in for a cloud's cluster, of which only the place in the graph matters."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as kubernetes

from gpuplatform.contracts import ClusterHandle


class Thing(pulumi.CustomResource):
    """A resource of some cloud, of which only the place in the graph matters."""

    def __init__(self, name):
        super().__init__("cloud:index:Thing", name, {})


def handle(cloud, cluster, ready):
    provider = kubernetes.Provider("cluster-kubernetes", kubeconfig="{}", cluster_identifier="some-id")
    known = pulumi.Output.from_input("known")
    return ClusterHandle(
        cloud=cloud,
        name=known,
        id=known,
        endpoint=known,
        kubeconfig=known,
        kubeconfig_command=known,
        oidc_issuer=known,
        provider=provider,
        cluster=cluster,
        ready=ready,
    )


def in_cluster(recording):
    return [r for r in recording.resources if r.type.startswith("kubernetes:")]


def reached(recording, resource):
    """Everything that `resource` waits for, directly or not."""
    by_urn = {r.urn: r for r in recording.resources}
    found, open_ = set(), list(resource.dependencies)
    while open_:
        urn = open_.pop()
        if urn not in found:
            found.add(urn)
            open_.extend(by_urn[urn].dependencies)
    return {by_urn[urn].name for urn in found}
