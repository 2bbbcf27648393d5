"""A GKE cluster with its node account and its system pool, ready for GPU pools and charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_gcp import container

from gpuplatform.contracts import ClusterArgs, ClusterComponent
from gpuplatform.errors import Refusal
from gpuplatform.gcp.access import admin_access, viewer_access
from gpuplatform.gcp.identity import NodeAccount, node_account
from gpuplatform.gcp.kubeconfig import kubeconfig, kubeconfig_command
from gpuplatform.gcp.network import GcpNetwork, GcpNetworkIds
from gpuplatform.gcp.settings import (
    addons,
    api_access,
    default_pool,
    networking,
    observation,
    upgrades,
)
from gpuplatform.gcp.system_pool import system_pool

__all__ = ["GkeCluster", "GkeClusterArgs", "GkeClusterIds"]


@dataclass(frozen=True, kw_only=True)
class GkeClusterArgs(ClusterArgs):
    """What a `GkeCluster` is made of: the arguments of every cluster, and those of Google Cloud.

    Admins are members such as `group:platform@example.com`. The control plane runs in several of the
    region's zones, the nodes in those of the network. The minor is the least that the control plane may run:
    GKE takes the newest patch at creation. `api_private` is always true: GKE's control plane has an address
    in the network at all times.

    Attributes:
        network: The network, or the IDs of one that exists.
        project: The project's ID.
        multi_networking: Whether nodes and pods may have more than one interface, which `GkeGpuNetworks`
            needs. It is decided when the cluster is made; a change replaces the cluster. Not on for all,
            since it needs a project with GKE Enterprise.
        bare_metal: Whether pools of bare-metal machines (A4X Max) may join, which no cluster with shielded
            nodes takes.

    Raises:
        Refusal: GKE cannot build it.
    """

    CLOUD = "gcp"
    KIND = "GKE cluster"

    network: GcpNetwork | GcpNetworkIds
    project: str
    multi_networking: bool = False
    bare_metal: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.api_private:
            raise Refusal(
                "GKE cannot take the API's address out of the network",
                where="cluster.api_access.private",
                rule="a control plane with private nodes always has an address in their network",
                way_out="leave private at true",
            )

    @property
    def network_ids(self) -> GcpNetworkIds:
        """What the cluster needs to know of its network."""
        return self.network.ids if isinstance(self.network, GcpNetwork) else self.network


@dataclass(frozen=True, kw_only=True)
class GkeClusterIds:
    """A cluster that exists already, for a `GkeGpuPool` in it.

    It needs another pool without GPUs, Workload Identity, and roles for the nodes' service account.

    Attributes:
        cluster_name: Its name.
        region: Its region.
        service_account: Address of the nodes' service account.
        before_nodes: What must exist before a node is created.
    """

    cluster_name: pulumi.Input[str]
    region: str
    service_account: pulumi.Input[str]
    before_nodes: Sequence[pulumi.Resource] = ()


class GkeCluster(ClusterComponent):
    """A private, regional cluster, the account of its nodes, and its system pool.

    Dataplane V2 enforces network policies by itself; Workload Identity gives pods identities of their own;
    the nodes' service account may write logs and metrics, no more. Deliberately absent: encryption of secrets
    with a key of one's own (GKE encrypts at rest without one), and enabling the project's APIs: `container`
    and `compute` are on for every environment of a project, so none of them may own that.

    Outputs: those of every cluster.

    Attributes:
        ids: What a `GkeGpuPool` needs.
    """

    TOKEN = "gpuplatform:index:GkeCluster"  # noqa: S105 - a type token, no secret

    ids: GkeClusterIds

    def __init__(self, name: str, args: GkeClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self._name = name
        self._args = args
        network = args.network_ids
        account = node_account(self, name, args, project=args.project)
        cluster = self._control_plane(network, account)
        nodes = system_pool(
            self,
            name,
            args,
            cluster=cluster,
            zones=network.zones,
            service_account=account.email,
            after=account.ready,
        )
        access = admin_access(self, name, args, project=args.project)
        viewer_access(self, name, args, project=args.project)
        self.ids = GkeClusterIds(
            cluster_name=cluster.name,
            region=args.region,
            service_account=account.email,
            # GKE puts its own taint on a GPU pool only where a pool without GPUs exists already
            # (terraform-google-modules/terraform-google-kubernetes-engine#703), and the system's pods need
            # a place.
            before_nodes=(nodes, *account.ready),
        )
        endpoint = pulumi.Output.concat("https://", cluster.endpoint)
        self.finish_cluster(
            name,
            cloud=args.CLOUD,
            cluster=cluster,
            name=cluster.name,
            # Not the self link, which carries the version of Google's API.
            id_=cluster.id,
            endpoint=endpoint,
            kubeconfig=pulumi.Output.all(
                name=cluster.name, endpoint=endpoint, authority=cluster.master_auth.cluster_ca_certificate
            ).apply(lambda known: kubeconfig(**known)),
            kubeconfig_command=cluster.name.apply(
                lambda known: kubeconfig_command(
                    known, args.region, args.project, internal=not args.api_public_cidrs
                )
            ),
            # https://cloud.google.com/kubernetes-engine/docs/how-to/workload-identity: the cluster's resource
            # name below the API's first version, whatever version a client speaks.
            oidc_issuer=pulumi.Output.concat("https://container.googleapis.com/v1/", cluster.id),
            ready=(nodes, *access),
        )

    def _control_plane(self, network: GcpNetworkIds, account: NodeAccount) -> Any:
        args = self._args
        return container.Cluster(
            f"{self._name}-gke",
            name=args.name,
            project=args.project,
            location=args.region,
            node_locations=list(network.zones),
            min_master_version=args.kubernetes_version,
            deletion_protection=args.protect,
            resource_labels=args.tags.gcp(),
            workload_identity_config=container.ClusterWorkloadIdentityConfigArgs(
                workload_pool=f"{args.project}.svc.id.goog"
            ),
            enable_shielded_nodes=not args.bare_metal,
            enable_multi_networking=args.multi_networking,
            **api_access(args, network=network),
            **networking(network),
            **default_pool(account),
            **observation(),
            **addons(args.mounts),
            **upgrades(args.support),
            opts=self.child(
                protect=args.protect,
                depends_on=[*network.ready, *account.ready],
                # Both speak of the default pool, which is gone after the first minutes: GKE then answers with
                # zero nodes and with some other pool's configuration, and either would replace the cluster
                # (terraform-google-modules/terraform-google-kubernetes-engine ignores them likewise).
                ignore_changes=["initialNodeCount", "nodeConfig"],
            ),
        )
