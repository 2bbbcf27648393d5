"""What the clouds have in common: what networks, clusters and GPU pools are made of, and what they give.

The clouds' own arguments and components extend these, so that a name, a default and a check that hold on
every cloud stand here once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any, ClassVar, Final, Literal, TypeVar

import pulumi
import pulumi_kubernetes as kubernetes

from gpuplatform.catalog import Cloud
from gpuplatform.component import Component
from gpuplatform.config.clouds import admin_problem
from gpuplatform.errors import Refusal
from gpuplatform.naming import problem
from gpuplatform.profile import Driver, NodeProfile
from gpuplatform.tags import Tags

__all__ = [
    "TAINT_EFFECTS",
    "ClusterArgs",
    "ClusterComponent",
    "ClusterHandle",
    "GpuPoolArgs",
    "GpuPoolComponent",
    "NetworkArgs",
    "Support",
    "driver_of",
]

Support = Literal["standard", "extended"]

TAINT_EFFECTS: Final = {
    "NoSchedule": "NO_SCHEDULE",
    "PreferNoSchedule": "PREFER_NO_SCHEDULE",
    "NoExecute": "NO_EXECUTE",
}
"""Kubernetes' taint effects as EKS and GKE spell them
(https://docs.aws.amazon.com/eks/latest/APIReference/API_Taint.html,
https://cloud.google.com/kubernetes-engine/docs/reference/rest/v1/NodeConfig#effect); AKS takes Kubernetes'.
"""


@dataclass(frozen=True, kw_only=True)
class ClusterHandle:
    """A running cluster, whatever its cloud.

    Attributes:
        cloud: Which cloud it is on.
        name: Its physical name.
        id: What identifies it for good: ARN (AWS), resource ID (Azure), resource name (GCP: without the API's
            version, so not the self link). It is the Kubernetes provider's `cluster_identifier`: only when it
            changes are the objects in the cluster replaced (pulumi/pulumi-kubernetes#4019).
        endpoint: URL of the Kubernetes API.
        kubeconfig: A kubeconfig that gets its token from the cloud's exec plugin; it holds no credential,
            and is a secret all the same, since it tells where the API is.
        kubeconfig_command: What a person types to get a kubeconfig.
        oidc_issuer: The issuer of the cluster's service account tokens.
        provider: The Kubernetes provider that belongs to the cluster.
        cluster: The cloud's cluster resource: what `deleted_with` names.
        ready: What must exist before anything can run in the cluster: system nodes, add-ons, access.
    """

    cloud: Cloud
    name: pulumi.Output[str]
    id: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    kubeconfig: pulumi.Output[str]
    kubeconfig_command: pulumi.Output[str]
    oidc_issuer: pulumi.Output[str]
    provider: kubernetes.Provider
    cluster: pulumi.Resource
    ready: Sequence[pulumi.Resource]


@dataclass(frozen=True, kw_only=True)
class NetworkArgs:
    """What a network is made of, on every cloud.

    Attributes:
        name: Prefix of every physical name, such as `vision-prod`.
        region: The cloud's own name of the region.
        cidr: What the network is numbered from; how it is divided: `gpuplatform.config.layout`.
        zones: Where nodes may be, as the cloud names its zones.
        nodes_max: Nodes of all pools at their maximum, upgrade surge included, so that all of them find room.
        tags: Tags of every resource that takes some.
    """

    name: str
    region: str
    cidr: IPv4Network
    zones: tuple[str, ...]
    nodes_max: int
    tags: Tags


@dataclass(frozen=True, kw_only=True)
class ClusterArgs:
    """What a cluster is made of, on every cloud.

    Attributes:
        name: Its physical name, such as `vision-prod`, which also begins the names of what comes with it.
        region: The cloud's own name of the region.
        kubernetes_version: A minor, such as `1.35`. It goes up one minor at a time and never down.
        admins: Who administers the cluster. Whoever deploys into it must be among them.
        system_sku: Machine type of the system pool, which runs what the cluster itself needs; no GPUs.
        system_min: Nodes of the system pool that are always there.
        system_max: Nodes that its autoscaler may reach; a fixed size where it equals `system_min`.
        tags: Tags of every resource that takes some.
        api_private: The Kubernetes API has an address inside the network.
        api_public_cidrs: Who reaches the API from outside; it has no public address where this is empty.
        support: `extended` buys the minor a longer life at a higher price of the control plane.
        protect: Protects what holds data from deletion.

    Raises:
        Refusal: The cloud cannot build it.
    """

    CLOUD: ClassVar[Cloud]
    KIND: ClassVar[str]
    """What its cloud calls it: a kind of `gpuplatform.naming.RULES`."""

    name: str
    region: str
    kubernetes_version: str
    admins: tuple[str, ...]
    system_sku: str
    system_min: int
    system_max: int
    tags: Tags
    api_private: bool = True
    api_public_cidrs: tuple[str, ...] = ()
    support: Support = "standard"
    protect: bool = True

    def __post_init__(self) -> None:
        if (why := problem(self.KIND, self.name)) is not None:
            raise Refusal(
                why,
                where="cluster.name",
                rule="the name is the cluster's own, so it is never cut",
                way_out="shorten the platform's or the environment's name",
            )
        if not self.admins:
            raise Refusal(
                "the cluster has no administrator",
                where="cluster.admins",
                rule="creating a cluster gives nobody access to it",
                way_out="list who deploys, and who else administers it",
            )
        for admin in self.admins:
            if (why := admin_problem(self.CLOUD, admin)) is not None:
                raise Refusal(why, where="cluster.admins", way_out="correct the entry, or leave it out")
        _check_bounds("cluster.system.nodes", self.system_min, self.system_max)

    @property
    def system_autoscaled(self) -> bool:
        """Whether the autoscaler decides on the system pool's size."""
        return self.system_max > self.system_min


@dataclass(frozen=True, kw_only=True)
class GpuPoolArgs:
    """What a GPU pool is made of, on every cloud.

    Attributes:
        profile: What its nodes are: `gpuplatform.profile.node_profile`.
        nodes_min: Nodes in all zones together that are always there; 0 lets the pool scale from zero.
        nodes_max: Nodes in all zones together that the autoscaler may reach; a fixed size where it equals
            `nodes_min`.
        zones: Where its nodes may be; the machine type must be offered there.
        tags: Tags of the pool, its machines and their disks.

    Raises:
        Refusal: The cloud cannot build it.
    """

    KIND: ClassVar[str]
    """What its cloud calls it: a kind of `gpuplatform.naming.RULES`."""
    DRIVER: ClassVar[tuple[type[Driver], ...]]
    """Who may own the driver on this cloud."""

    profile: NodeProfile
    nodes_min: int
    nodes_max: int
    zones: tuple[str, ...]
    tags: Tags

    def __post_init__(self) -> None:
        # The clouds say so too, minutes into a deployment and without the rule (Azure/AKS#3300).
        if (why := problem(self.KIND, self.profile.pool)) is not None:
            raise Refusal(why, where=f"{self.where}.name", way_out="choose another name for the pool")
        if not isinstance(self.profile.driver, self.DRIVER):
            raise _other_owner(self.profile, " or ".join(kind.__name__ for kind in self.DRIVER))
        _check_bounds(f"{self.where}.nodes", self.nodes_min, self.nodes_max)

    @property
    def where(self) -> str:
        """Where the pool stands in a configuration."""
        return f"node_pools.{self.profile.pool}"

    @property
    def autoscaled(self) -> bool:
        """Whether the autoscaler decides on the pool's size."""
        return self.nodes_max > self.nodes_min


class ClusterComponent(Component):
    """A cluster, whatever its cloud.

    Outputs:
        cluster_name: Its physical name.
        cluster_id: What identifies it for good, as in `ClusterHandle`.
        endpoint: URL of the Kubernetes API.
        kubeconfig: A kubeconfig that holds no credential; a secret.
        kubeconfig_command: What a person types to get one.
        oidc_issuer: Issuer of the cluster's service account tokens.

    Attributes:
        handle: The same for the layers that don't know the cloud.
    """

    cluster_name: pulumi.Output[str]
    cluster_id: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    kubeconfig: pulumi.Output[str]
    kubeconfig_command: pulumi.Output[str]
    oidc_issuer: pulumi.Output[str]
    handle: ClusterHandle

    def finish_cluster(
        self,
        prefix: str,
        *,
        cloud: Cloud,
        cluster: pulumi.Resource,
        name: pulumi.Output[str],
        id_: pulumi.Output[str],
        endpoint: pulumi.Output[str],
        kubeconfig: pulumi.Output[str],
        kubeconfig_command: pulumi.Output[str],
        oidc_issuer: pulumi.Output[str],
        ready: Sequence[pulumi.Resource],
        **outputs: Any,
    ) -> None:
        """Makes the cluster's Kubernetes provider, sets handle and outputs, and registers the outputs.

        Args:
            prefix: Prefix of the logical names.
            cloud: As in `ClusterHandle`, like all that follow.
            cluster: The cloud's cluster resource.
            name: The physical name.
            id_: What identifies the cluster for good.
            endpoint: URL of the Kubernetes API.
            kubeconfig: A kubeconfig without a credential; it is made a secret here.
            kubeconfig_command: What a person types to get one.
            oidc_issuer: Issuer of service account tokens.
            ready: What must exist before anything can run in the cluster.
            outputs: What else the cloud's cluster gives; the attributes are set already.
        """
        # No credential in it, and a secret all the same: it says where the API is.
        self.kubeconfig = pulumi.Output.secret(kubeconfig)
        self.cluster_name = name
        self.cluster_id = id_
        self.endpoint = endpoint
        self.kubeconfig_command = kubeconfig_command
        self.oidc_issuer = oidc_issuer
        self.handle = ClusterHandle(
            cloud=cloud,
            name=name,
            id=id_,
            endpoint=endpoint,
            kubeconfig=self.kubeconfig,
            kubeconfig_command=kubeconfig_command,
            oidc_issuer=oidc_issuer,
            provider=kubernetes.Provider(
                f"{prefix}-kubernetes",
                kubeconfig=self.kubeconfig,
                # Only a change of this replaces the provider and with it every object in the cluster; a new
                # kubeconfig does not (pulumi/pulumi-kubernetes#4019).
                cluster_identifier=id_,
                opts=self.child(),
            ),
            cluster=cluster,
            ready=ready,
        )
        self.finish(
            cluster_name=self.cluster_name,
            cluster_id=self.cluster_id,
            endpoint=self.endpoint,
            kubeconfig=self.kubeconfig,
            kubeconfig_command=self.kubeconfig_command,
            oidc_issuer=self.oidc_issuer,
            **outputs,
        )


class GpuPoolComponent(Component):
    """A pool of GPU nodes, whatever its cloud.

    Outputs:
        node_group_name: The physical name of what holds the nodes: node group, agent pool or node pool.
        node_group_id: Its ID; its ARN on AWS.

    Attributes:
        node_group: The resource itself: what runs on its GPUs depends on it.
    """

    node_group: pulumi.Resource
    node_group_name: pulumi.Output[str]
    node_group_id: pulumi.Output[str]

    def finish_pool(
        self, node_group: pulumi.Resource, name: pulumi.Output[str], id_: pulumi.Output[str], **outputs: Any
    ) -> None:
        """Sets the outputs and registers them, with what else the cloud's pool gives."""
        self.node_group = node_group
        self.node_group_name = name
        self.node_group_id = id_
        self.finish(node_group_name=name, node_group_id=id_, **outputs)


D = TypeVar("D", bound=Driver)


def driver_of(profile: NodeProfile, kind: type[D]) -> D:
    """The profile's driver, which is of the kind `kind`.

    Raises:
        Refusal: It has another owner.
    """
    if not isinstance(profile.driver, kind):
        raise _other_owner(profile, kind.__name__)
    return profile.driver


def _other_owner(profile: NodeProfile, names: str) -> Refusal:
    return Refusal(
        f"the profile of {profile.sku} has another cloud's driver ({type(profile.driver).__name__})",
        where=f"node_pools.{profile.pool}.sku",
        rule=f"a pool of this cloud takes profiles with {names}",
        way_out="make the profile from a machine type of the pool's own cloud: gpuplatform sku list",
    )


def _check_bounds(where: str, nodes_min: int, nodes_max: int) -> None:
    if not 0 <= nodes_min <= nodes_max or nodes_max < 1:
        raise Refusal(
            f"{nodes_min} to {nodes_max} nodes",
            where=where,
            rule="min is at least 0, max at least 1, and min is not above max",
            way_out="swap them, or raise max",
        )
