"""A private, regional GKE cluster with its system pool and its Kubernetes provider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_gcp import container

from gpuplatform.component import Component
from gpuplatform.contracts import ClusterHandle
from gpuplatform.errors import Refusal
from gpuplatform.gcp.access import NodeAccount, admin_access, node_account
from gpuplatform.gcp.kubeconfig import kubeconfig, kubeconfig_command
from gpuplatform.gcp.maintenance import maintenance_policy, release_channel
from gpuplatform.gcp.network import GcpNetwork, GcpNetworkIds
from gpuplatform.gcp.node_pool import NodePool, node_pool
from gpuplatform.naming import fit
from gpuplatform.tags import Tags

__all__ = ["GkeCluster", "GkeClusterArgs"]

PODS_PER_NODE: Final = 110
"""GKE's default, for which it takes a /24 of the pods' range a node: what config/layout.py counts with."""

SYSTEM_DISK_GIB: Final = 100


@dataclass(frozen=True, kw_only=True)
class GkeClusterArgs:
    """What a cluster is made of.

    Attributes:
        name: The cluster's name and the prefix of every other physical name, such as `vision-prod`.
        project: The project's ID.
        region: Such as `us-central1`; the control plane runs in several of its zones.
        zones: Where nodes may be.
        kubernetes_version: A minor, such as `1.35`: the least that the control plane may run. GKE takes the
            newest patch at creation; raising the minor here upgrades the control plane.
        network: The network, or the IDs of one that exists.
        api_private: Always true here: GKE's control plane has an address in the network at all times.
        api_public_cidrs: Who reaches the API from outside; it has no public address where this is empty.
        admins: Cluster administrators, such as `group:platform@example.com`.
        support: Whether the minor may live on in extended support, at a higher price.
        system_sku: Machine type of the system pool.
        system_min: Nodes of the system pool that are always there.
        system_max: Nodes that its autoscaler may reach.
        protect: Whether neither Pulumi nor GKE deletes the cluster.
        tags: Labels of the cluster and of its machines.
    """

    name: str
    project: str
    region: str
    zones: tuple[str, ...]
    kubernetes_version: str
    network: GcpNetwork | GcpNetworkIds
    admins: tuple[str, ...]
    system_sku: str
    system_min: int
    system_max: int
    tags: Tags
    api_private: bool = True
    api_public_cidrs: tuple[str, ...] = ()
    support: Literal["standard", "extended"] = "standard"
    protect: bool = True


class GkeCluster(Component):
    """A regional cluster whose nodes have no public addresses.

    Dataplane V2 enforces network policies by itself; Workload Identity gives pods identities of their own;
    the nodes' service account may write logs and metrics, no more. Deliberately absent: encryption of secrets
    with a key of one's own (GKE encrypts at rest without one), and enabling the project's APIs: `container`
    and `compute` are on for every environment of a project, so none of them may own that.

    Outputs:
        cluster_name: The cluster's name.
        cluster_id: `projects/<project>/locations/<region>/clusters/<name>`.
        endpoint: URL of the Kubernetes API.
        kubeconfig: A kubeconfig with the exec plugin; a secret.
        kubeconfig_command: What a person types to get a kubeconfig.
        oidc_issuer: Issuer of the cluster's service account tokens.

    Attributes:
        args: What it was made of.
        handle: The cluster as the layers above see it.
        nodes: The nodes' service account, for pools.
        system_pool: The system pool, which every GPU pool comes after.

    Raises:
        Refusal: `api_private` is false.
    """

    TOKEN = "gpuplatform:index:GkeCluster"  # noqa: S105 - a type token, no secret

    cluster_name: pulumi.Output[str]
    cluster_id: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    kubeconfig: pulumi.Output[str]
    kubeconfig_command: pulumi.Output[str]
    oidc_issuer: pulumi.Output[str]
    args: GkeClusterArgs
    handle: ClusterHandle
    nodes: NodeAccount
    system_pool: pulumi.Resource

    def __init__(self, name: str, args: GkeClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        if not args.api_private:
            raise Refusal(
                "GKE cannot take the API's address out of the network",
                where="cluster.api_access.private",
                rule="a control plane with private nodes always has an address in their network",
                way_out="leave private at true",
            )
        super().__init__(name, opts)
        self.args = args
        self.nodes = node_account(self, name, name=args.name, project=args.project)
        cluster = self._cluster(name)
        self.system_pool = self._system_pool(name, cluster)
        admins = admin_access(self, name, args.admins, project=args.project)
        self.handle = self._handle(name, cluster, (self.system_pool, *admins))
        self.cluster_name = self.handle.name
        self.cluster_id = self.handle.id
        self.endpoint = self.handle.endpoint
        self.kubeconfig = self.handle.kubeconfig
        self.kubeconfig_command = self.handle.kubeconfig_command
        self.oidc_issuer = self.handle.oidc_issuer
        self.finish(
            cluster_name=self.cluster_name,
            cluster_id=self.cluster_id,
            endpoint=self.endpoint,
            kubeconfig=self.kubeconfig,
            kubeconfig_command=self.kubeconfig_command,
            oidc_issuer=self.oidc_issuer,
        )

    def _cluster(self, name: str) -> Any:
        args = self.args
        network = args.network.ids if isinstance(args.network, GcpNetwork) else args.network
        ways_out = args.network.ready if isinstance(args.network, GcpNetwork) else ()
        return container.Cluster(
            f"{name}-gke",
            name=fit("GKE cluster", args.name),
            project=args.project,
            location=args.region,
            node_locations=list(args.zones),
            min_master_version=args.kubernetes_version,
            release_channel=release_channel(args.support),
            maintenance_policy=maintenance_policy(),
            deletion_protection=args.protect,
            resource_labels=args.tags.gcp(),
            **_default_pool(self.nodes),
            **_networking(network),
            **_access(args, network),
            **_observation(),
            opts=self.child(
                protect=args.protect,
                depends_on=[*ways_out, *self.nodes.ready],
                # Both speak of the default pool, which is gone after the first minutes: GKE then answers with
                # zero nodes and with some other pool's configuration, and either would replace the cluster
                # (terraform-google-modules/terraform-google-kubernetes-engine ignores them likewise).
                ignore_changes=["initialNodeCount", "nodeConfig"],
            ),
        )

    def _system_pool(self, name: str, cluster: Any) -> pulumi.Resource:
        """General-purpose machines for what the cluster itself needs; untainted, so that it can run here."""
        args = self.args
        pool: pulumi.Resource = node_pool(
            self,
            f"{name}-system-pool",
            NodePool(
                name="system",
                cluster=cluster.name,
                location=args.region,
                zones=args.zones,
                nodes_min=args.system_min,
                nodes_max=args.system_max,
                sku=args.system_sku,
                image="COS_CONTAINERD",
                disk_gib=SYSTEM_DISK_GIB,
                service_account=self.nodes.email,
                tags=args.tags,
                secure_boot=True,
                surge=1,
            ),
            after=self.nodes.ready,
        )
        return pool

    def _handle(self, name: str, cluster: Any, ready: Sequence[pulumi.Resource]) -> ClusterHandle:
        args = self.args
        endpoint = pulumi.Output.concat("https://", cluster.endpoint)
        config: pulumi.Output[str] = pulumi.Output.secret(
            pulumi.Output.all(
                name=cluster.name, endpoint=endpoint, authority=cluster.master_auth.cluster_ca_certificate
            ).apply(lambda known: kubeconfig(**known))
        )
        command = cluster.name.apply(
            lambda known: kubeconfig_command(
                known, args.region, args.project, internal=not args.api_public_cidrs
            )
        )
        return ClusterHandle(
            cloud="gcp",
            name=cluster.name,
            # Not the self link, which carries the version of Google's API.
            id=cluster.id,
            endpoint=endpoint,
            kubeconfig=config,
            kubeconfig_command=command,
            # https://cloud.google.com/kubernetes-engine/docs/how-to/workload-identity: the cluster's resource
            # name below the API's first version, whatever version a client speaks.
            oidc_issuer=pulumi.Output.concat("https://container.googleapis.com/v1/", cluster.id),
            provider=kubernetes.Provider(
                f"{name}-kubernetes", kubeconfig=config, cluster_identifier=cluster.id, opts=self.child()
            ),
            cluster=cluster,
            ready=ready,
        )


def _default_pool(nodes: NodeAccount) -> dict[str, Any]:
    """GKE makes no cluster without a pool, so it gets the smallest one, which goes at once.

    It runs as the nodes' own service account: with the project's default one disabled, it would never become
    ready and the cluster's creation would fail.
    """
    return {
        "remove_default_node_pool": True,
        "initial_node_count": 1,
        "node_config": container.ClusterNodeConfigArgs(
            service_account=nodes.email,
            shielded_instance_config=container.ClusterNodeConfigShieldedInstanceConfigArgs(
                enable_secure_boot=True, enable_integrity_monitoring=True
            ),
        ),
    }


def _networking(network: GcpNetworkIds) -> dict[str, Any]:
    return {
        "network": network.id,
        "subnetwork": network.subnet_id,
        "networking_mode": "VPC_NATIVE",
        "datapath_provider": "ADVANCED_DATAPATH",
        "default_max_pods_per_node": PODS_PER_NODE,
        "ip_allocation_policy": container.ClusterIpAllocationPolicyArgs(
            cluster_secondary_range_name=network.pods_range,
            services_secondary_range_name=network.services_range,
        ),
    }


def _access(args: GkeClusterArgs, network: GcpNetworkIds) -> dict[str, Any]:
    """Who reaches the API and with what: no password, no client certificate, nobody unknown."""
    return {
        "private_cluster_config": container.ClusterPrivateClusterConfigArgs(
            enable_private_nodes=True,
            # Whether the API is at its private address only.
            enable_private_endpoint=not args.api_public_cidrs,
            master_ipv4_cidr_block=str(network.control_plane) if network.control_plane else None,
        ),
        "master_authorized_networks_config": container.ClusterMasterAuthorizedNetworksConfigArgs(
            cidr_blocks=[
                container.ClusterMasterAuthorizedNetworksConfigCidrBlockArgs(
                    cidr_block=cidr, display_name=cidr
                )
                for cidr in args.api_public_cidrs
            ],
            # Otherwise any machine of any customer of Google Cloud is let in as well.
            gcp_public_cidrs_access_enabled=False,
        ),
        "master_auth": container.ClusterMasterAuthArgs(
            client_certificate_config=container.ClusterMasterAuthClientCertificateConfigArgs(
                issue_client_certificate=False
            )
        ),
        # Health checks only; RBAC bindings to system:anonymous have no effect.
        "anonymous_authentication_config": container.ClusterAnonymousAuthenticationConfigArgs(mode="LIMITED"),
        "workload_identity_config": container.ClusterWorkloadIdentityConfigArgs(
            workload_pool=f"{args.project}.svc.id.goog"
        ),
        "enable_shielded_nodes": True,
    }


def _observation() -> dict[str, Any]:
    """Logs, metrics and cost by namespace.

    Absent from the metrics is GKE's own `DCGM`: the GPU Operator brings a DCGM exporter, and two of them
    would read the same GPUs.
    """
    return {
        "logging_config": container.ClusterLoggingConfigArgs(
            enable_components=[
                "SYSTEM_COMPONENTS",
                "WORKLOADS",
                "APISERVER",
                "CONTROLLER_MANAGER",
                "SCHEDULER",
            ]
        ),
        "monitoring_config": container.ClusterMonitoringConfigArgs(
            enable_components=["SYSTEM_COMPONENTS"],
            managed_prometheus=container.ClusterMonitoringConfigManagedPrometheusArgs(enabled=True),
        ),
        "cost_management_config": container.ClusterCostManagementConfigArgs(enabled=True),
    }
