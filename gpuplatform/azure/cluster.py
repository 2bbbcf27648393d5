"""An AKS cluster with its identities and its system pool, ready for GPU pools and charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import containerservice as aks

from gpuplatform.azure.access import admin_access, viewer_access
from gpuplatform.azure.identity import Identities, cluster_identities, subscription_of
from gpuplatform.azure.kubeconfig import kubeconfig, kubeconfig_command
from gpuplatform.azure.network import AzureNetwork, AzureNetworkIds
from gpuplatform.azure.settings import (
    api_access,
    control_plane_identity,
    kubelet_identity,
    networking,
    storage_drivers,
    support_plan,
    tier,
    upgrades,
)
from gpuplatform.azure.system_pool import system_pool
from gpuplatform.contracts import ClusterArgs, ClusterComponent
from gpuplatform.errors import Refusal
from gpuplatform.naming import fit
from gpuplatform.profile.azure import reservation_scope

__all__ = ["AksCluster", "AksClusterArgs", "AksClusterIds"]


@dataclass(frozen=True, kw_only=True)
class AksClusterArgs(ClusterArgs):
    """What an `AksCluster` is made of: the arguments of every cluster, and those of Azure.

    Admins are object IDs of Entra groups. AKS takes the minor's newest patch at creation, and an unchanged
    minor never upgrades. The API has one address: `api_private` means that who deploys into the cluster does
    so from inside the network. `extended` support is two years on the Premium tier (AKSLongTermSupport). The
    system pool's machines have four vCPUs or more.

    Attributes:
        network: The network, or the IDs of one that exists.
        reservations: IDs of the capacity reservation groups that its pools draw on; its identity gets a role
            there.

    Raises:
        Refusal: AKS cannot build it.
    """

    CLOUD = "azure"
    KIND = "AKS cluster"

    network: AzureNetwork | AzureNetworkIds
    reservations: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.reservation_scopes  # refuses what is no group
        if self.system_min < 1:
            raise Refusal(
                "a system pool without nodes",
                where="cluster.system.nodes.min",
                rule="AKS keeps at least one system node (https://learn.microsoft.com/azure/aks/use-system-pools)",
                way_out="write at least 1; 2 survive the loss of one",
            )
        if self.api_private and self.api_public_cidrs:
            raise Refusal(
                "an API that is private and open to public CIDRs at the same time",
                where="cluster.api_access.public_cidrs",
                rule="an AKS cluster has one API address, and authorized ranges exist for a public one only "
                "(https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges)",
                way_out="leave public_cidrs empty, or set private to false",
            )
        if not self.api_private and not self.api_public_cidrs:
            raise Refusal(
                "a public API without a list of who reaches it",
                where="cluster.api_access.public_cidrs",
                rule="AKS opens a public API without authorized ranges to the whole internet",
                way_out="list your own addresses, or set private to true",
            )

    @property
    def network_ids(self) -> AzureNetworkIds:
        """What the cluster needs to know of its network."""
        return self.network.ids if isinstance(self.network, AzureNetwork) else self.network

    @property
    def reservation_scopes(self) -> tuple[str, ...]:
        """The resource groups of the reservations, each once: Azure refuses a second, equal assignment."""
        scopes = (reservation_scope(group, "cluster.reservations") for group in self.reservations)
        return tuple({scope.lower(): scope for scope in scopes}.values())


@dataclass(frozen=True, kw_only=True)
class AksClusterIds:
    """A cluster that exists already, for an `AksGpuPool` in it.

    Attributes:
        cluster_name: Its name.
        kubernetes_version: The minor of the pool's nodes, at most the control plane's.
        resource_group_name: Its resource group.
        node_subnet_id: The subnet that the pool's nodes go into.
        before_nodes: What must exist before a node is created.
        control_plane_principal_id: Object ID of the cluster's identity, which gets a role on what a pool
            makes beside its nodes; None where it has that already.
    """

    cluster_name: pulumi.Input[str]
    kubernetes_version: str
    resource_group_name: pulumi.Input[str]
    node_subnet_id: pulumi.Input[str]
    before_nodes: Sequence[pulumi.Resource] = ()
    control_plane_principal_id: pulumi.Input[str] | None = None


class AksCluster(ClusterComponent):
    """An AKS cluster: Entra for people, workload identity for pods, Cilium for packets, one system pool.

    GPU pools are no part of it: an inline pool can be neither added nor removed later, and editing one puts
    all of them into scaling (pulumi/pulumi-azure-native#579, #2719).

    Outputs: those of every cluster.

    Attributes:
        ids: What an `AksGpuPool` needs.
    """

    TOKEN = "gpuplatform:index:AksCluster"  # noqa: S105 - a type token, no secret

    ids: AksClusterIds

    def __init__(self, name: str, args: AksClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self._name = name
        self._args = args
        network = args.network_ids
        identities = cluster_identities(
            self, name, args, network=network, reservation_scopes=args.reservation_scopes
        )
        cluster = self._control_plane(network, identities)
        self.ids = AksClusterIds(
            cluster_name=cluster.name,
            kubernetes_version=args.kubernetes_version,
            resource_group_name=network.resource_group_name,
            node_subnet_id=network.node_subnet_id,
            before_nodes=identities.draws_on,
            control_plane_principal_id=identities.control_plane.principal_id,
        )
        # Together with the ID: in a preview the profile echoes its inputs, and the issuer would read None.
        issuer = cluster.oidc_issuer_profile.apply(lambda profile: profile.issuer_url)
        self.finish_cluster(
            name,
            cloud=args.CLOUD,
            cluster=cluster,
            name=cluster.name,
            id_=cluster.id,
            endpoint=(cluster.private_fqdn if args.api_private else cluster.fqdn).apply(
                lambda host: f"https://{host}:443"
            ),
            kubeconfig=self._kubeconfig(cluster, network),
            kubeconfig_command=pulumi.Output.all(
                cluster.name, network.resource_group_name, cluster.id.apply(subscription_of)
            ).apply(lambda known: kubeconfig_command(*known)),
            oidc_issuer=pulumi.Output.all(cluster.id, issuer).apply(lambda known: known[1]),
            ready=(cluster,),
        )
        viewer_access(self, name, args, handle=self.handle, cluster_id=cluster.id)

    def _control_plane(self, network: AzureNetworkIds, identities: Identities) -> aks.ManagedCluster:
        args = self._args
        return aks.ManagedCluster(
            f"{self._name}-aks",
            resource_name_=args.name,
            resource_group_name=network.resource_group_name,
            location=args.region,
            # Named, or it would be MC_<group>_<cluster>_<region>; it holds what AKS makes by itself.
            node_resource_group=fit("resource group", args.name, "nodes"),
            dns_prefix=args.name,
            kubernetes_version=args.kubernetes_version,
            agent_pool_profiles=[system_pool(args, network=network)],
            api_server_access_profile=api_access(args, network=network),
            aad_profile=admin_access(args),
            enable_rbac=True,
            disable_local_accounts=True,
            network_profile=networking(network),
            identity=control_plane_identity(identities),
            identity_profile={"kubeletidentity": kubelet_identity(identities)},
            oidc_issuer_profile=aks.ManagedClusterOIDCIssuerProfileArgs(enabled=True),
            security_profile=aks.ManagedClusterSecurityProfileArgs(
                workload_identity=aks.ManagedClusterSecurityProfileWorkloadIdentityArgs(enabled=True)
            ),
            storage_profile=storage_drivers(args),
            sku=tier(args.support),
            support_plan=support_plan(args.support),
            auto_upgrade_profile=upgrades(),
            tags=args.tags.azure(),
            opts=self.child(
                protect=args.protect,
                depends_on=[*network.ready, *identities.grants],
                # The autoscaler owns the count; without this each update would reset it.
                ignore_changes=["agentPoolProfiles[0].count"] if args.system_autoscaled else [],
            ),
        )

    def _kubeconfig(self, cluster: aks.ManagedCluster, network: AzureNetworkIds) -> pulumi.Output[str]:
        """From AKS's own kubeconfig, since it tells the certificate authority nowhere else.

        With local accounts off, that one holds no credential either.
        """
        args = self._args
        credentials = aks.list_managed_cluster_user_credentials_output(
            resource_group_name=network.resource_group_name,
            resource_name=cluster.name,
            format="exec",
            opts=pulumi.InvokeOutputOptions(parent=self),
        )
        config: pulumi.Output[str] = credentials.kubeconfigs.apply(
            lambda found: kubeconfig(name=args.name, credentials=found[0].value if found else "")
        )
        return config
