"""What a cluster is made of and what it gives, on every cloud."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import pulumi
import pulumi_kubernetes as kubernetes

from gpuplatform.catalog import Cloud
from gpuplatform.component import Component
from gpuplatform.config.clouds import admin_problem
from gpuplatform.contracts.bounds import check_bounds
from gpuplatform.errors import Refusal
from gpuplatform.naming import problem
from gpuplatform.tags import Tags

__all__ = ["ClusterArgs", "ClusterComponent", "ClusterHandle", "Mount", "Support"]

Mount = Literal["object", "lustre", "nfs"]
Support = Literal["standard", "extended"]


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
class ClusterArgs:
    """What a cluster is made of, on every cloud.

    Attributes:
        name: Its physical name, such as `vision-prod`, which also begins the names of what comes with it.
        region: The cloud's own name of the region.
        kubernetes_version: A minor, such as `1.35`. It goes up one minor at a time and never down.
        admins: Who administers the cluster. Whoever deploys into it must be among them.
        viewers: Who may look at what is in the cluster, but for Secrets, and change nothing; no admin.
        system_sku: Machine type of the system pool, which runs what the cluster itself needs; no GPUs.
        system_min: Nodes of the system pool that are always there.
        system_max: Nodes that its autoscaler may reach; a fixed size where it equals `system_min`.
        tags: Tags of every resource that takes some.
        api_private: The Kubernetes API has an address inside the network.
        api_public_cidrs: Who reaches the API from outside; it has no public address where this is empty.
        support: `extended` buys the minor a longer life at a higher price of the control plane.
        protect: Protects what holds data from deletion.
        mounts: What pods mount beside disks; the cluster gets the CSI drivers for it.

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
    mounts: tuple[Mount, ...] = ()
    viewers: tuple[str, ...] = ()

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
        for where, named in (("cluster.admins", self.admins), ("cluster.viewers", self.viewers)):
            for one in named:
                if (why := admin_problem(self.CLOUD, one)) is not None:
                    raise Refusal(why, where=where, way_out="correct the entry, or leave it out")
        if both := sorted(set(self.admins) & set(self.viewers)):
            raise Refusal(
                f"{', '.join(both)} would administer the cluster and look at it",
                where="cluster.viewers",
                rule="administrators see everything; a second grant would contradict the first",
                way_out="leave it out of one of both",
            )
        check_bounds("cluster.system.nodes", self.system_min, self.system_max)

    @property
    def system_autoscaled(self) -> bool:
        """Whether the autoscaler decides on the system pool's size."""
        return self.system_max > self.system_min


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
