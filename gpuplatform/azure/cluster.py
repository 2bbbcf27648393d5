"""An AKS cluster: Entra for people, workload identity for pods, Cilium for packets, one system pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_azure_native import containerservice as aks

from gpuplatform.azure.access import cluster_identities, subscription_of
from gpuplatform.azure.kubeconfig import exec_kubeconfig
from gpuplatform.azure.network import AzureNetwork, AzureNetworkIds
from gpuplatform.azure.settings import (
    api_access,
    control_plane_identity,
    kubelet_identity,
    packets,
    people,
    support_plan,
    tier,
    upgrades,
)
from gpuplatform.azure.system_pool import system_pool
from gpuplatform.component import Component
from gpuplatform.contracts import ClusterHandle
from gpuplatform.errors import Refusal
from gpuplatform.naming import fit
from gpuplatform.tags import Tags

__all__ = ["AksCluster", "AksClusterArgs", "AksClusterIds"]

# The cluster's name is its DNS prefix too, which has at most 54 characters
# (https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules).
_LONGEST_NAME: Final = 54


@dataclass(frozen=True, kw_only=True)
class AksClusterArgs:
    """What an `AksCluster` is made from.

    Attributes:
        name: Its physical name, at most 54 characters.
        region: Location, such as `eastus`.
        kubernetes_version: A minor, such as `1.35`; AKS takes its newest patch at creation, and an unchanged
            minor never upgrades.
        network: The network, or the IDs of one that exists.
        admins: Object IDs of the Entra groups that get cluster-admin. Who deploys what runs in the cluster
            belongs to one of them.
        api_private: The Kubernetes API has an address inside the network and no other; who deploys into the
            cluster does so from there.
        api_public_cidrs: Who reaches the API's public address, where `api_private` is false.
        support: `extended` keeps a minor for two years on the Premium tier (AKSLongTermSupport).
        system_sku: Machine type of the system pool, four vCPUs or more.
        system_min: Nodes of the system pool, at least one.
        system_max: Nodes that its autoscaler may reach.
        tags: Tags of every resource, the nodes' included.
        protect: Protects the cluster from deletion.

    Raises:
        Refusal: A combination that AKS does not have.
    """

    name: str
    region: str
    kubernetes_version: str
    network: AzureNetwork | AzureNetworkIds
    admins: tuple[str, ...]
    system_sku: str
    system_min: int
    system_max: int
    tags: Tags
    api_private: bool = True
    api_public_cidrs: tuple[str, ...] = ()
    support: Literal["standard", "extended"] = "standard"
    protect: bool = False

    def __post_init__(self) -> None:
        if len(self.name) > _LONGEST_NAME:
            raise Refusal(
                f"the cluster's name {self.name!r} has {len(self.name)} characters",
                where="name",
                rule=f"it is its DNS prefix too, which has at most {_LONGEST_NAME}",
                way_out="shorten it",
            )
        if self.system_min < 1:
            raise Refusal(
                "a system pool without nodes",
                where="system_min",
                rule="AKS keeps at least one system node (https://learn.microsoft.com/azure/aks/use-system-pools)",
                way_out="write at least 1; 2 survive the loss of one",
            )
        if self.api_private and self.api_public_cidrs:
            raise Refusal(
                "an API that is private and open to public CIDRs at the same time",
                where="api_public_cidrs",
                rule="an AKS cluster has one API address, and authorized ranges exist for a public one only "
                "(https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges)",
                way_out="leave public_cidrs empty, or set private to false",
            )
        if not self.api_private and not self.api_public_cidrs:
            raise Refusal(
                "a public API without a list of who reaches it",
                where="api_public_cidrs",
                rule="AKS opens a public API without authorized ranges to the whole internet",
                way_out="list your own addresses, or set private to true",
            )


@dataclass(frozen=True, kw_only=True)
class AksClusterIds:
    """A cluster that exists already, as an `AksGpuPool` needs it.

    Attributes:
        resource_group_name: Its resource group.
        name: Its physical name.
        node_subnet_id: The subnet that the pool's nodes go into.
        kubernetes_version: The minor of the pool's nodes, at most the control plane's.
    """

    resource_group_name: pulumi.Input[str]
    name: pulumi.Input[str]
    node_subnet_id: pulumi.Input[str]
    kubernetes_version: str


class AksCluster(Component):
    """An AKS cluster with its identities, its system pool and its Kubernetes provider.

    GPU pools are no part of it: an inline pool can be neither added nor removed later, and editing one puts
    all of them into scaling (pulumi/pulumi-azure-native#579, #2719).

    Attributes:
        name: The physical name.
        id: The resource ID.
        endpoint: URL of the Kubernetes API.
        kubeconfig: A kubeconfig without a credential; a secret.
        kubeconfig_command: What a person types to get one.
        oidc_issuer: The issuer of service account tokens, which workload identities trust.
        handle: The same for the layers that don't know the cloud.
        ids: The same for `AksGpuPool`.
        resource: The ManagedCluster itself.
    """

    TOKEN: ClassVar[str] = "gpuplatform:index:AksCluster"  # noqa: S105 - a type token

    name: pulumi.Output[str]
    id: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    kubeconfig: pulumi.Output[str]
    kubeconfig_command: pulumi.Output[str]
    oidc_issuer: pulumi.Output[str]
    handle: ClusterHandle
    ids: AksClusterIds
    resource: aks.ManagedCluster

    def __init__(self, name: str, args: AksClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        network = args.network.ids if isinstance(args.network, AzureNetwork) else args.network
        identities = cluster_identities(
            name,
            parent=self,
            physical_name=args.name,
            resource_group_name=network.resource_group_name,
            region=args.region,
            node_subnet_id=network.node_subnet_id,
            tags=args.tags,
        )
        autoscaled = args.system_max > args.system_min
        self.resource = aks.ManagedCluster(
            f"{name}-aks",
            resource_name_=fit("AKS cluster", args.name),
            resource_group_name=network.resource_group_name,
            location=args.region,
            # Named, or it would be MC_<group>_<cluster>_<region>; it holds what AKS makes by itself.
            node_resource_group=fit("resource group", args.name, "nodes"),
            dns_prefix=args.name,
            kubernetes_version=args.kubernetes_version,
            agent_pool_profiles=[
                system_pool(
                    sku=args.system_sku,
                    nodes_min=args.system_min,
                    nodes_max=args.system_max,
                    kubernetes_version=args.kubernetes_version,
                    zones=network.zones,
                    node_subnet_id=network.node_subnet_id,
                    tags=args.tags,
                )
            ],
            api_server_access_profile=api_access(
                private=args.api_private,
                public_cidrs=args.api_public_cidrs,
                egress_cidrs=network.egress_cidrs,
            ),
            aad_profile=people(args.admins),
            enable_rbac=True,
            disable_local_accounts=True,
            network_profile=packets(pods=network.pod_cidr, services=network.service_cidr),
            identity=control_plane_identity(identities),
            identity_profile={"kubeletidentity": kubelet_identity(identities)},
            oidc_issuer_profile=aks.ManagedClusterOIDCIssuerProfileArgs(enabled=True),
            security_profile=aks.ManagedClusterSecurityProfileArgs(
                workload_identity=aks.ManagedClusterSecurityProfileWorkloadIdentityArgs(enabled=True)
            ),
            sku=tier(args.support),
            support_plan=support_plan(args.support),
            auto_upgrade_profile=upgrades(),
            tags=args.tags.azure(),
            opts=self.child(
                protect=args.protect,
                depends_on=list(identities.grants),
                # The autoscaler owns the count; without this each update would reset it.
                ignore_changes=["agentPoolProfiles[0].count"] if autoscaled else None,
            ),
        )
        self.name = self.resource.name
        self.id = self.resource.id
        self.endpoint = _endpoint(self.resource, private=args.api_private)
        self.kubeconfig = self._kubeconfig(args.name, network)
        self.kubeconfig_command = pulumi.Output.all(
            self.resource.id, self.resource.name, network.resource_group_name
        ).apply(_command)
        # Together with the ID: in a preview the profile echoes its inputs, and the issuer would read None.
        issuer = self.resource.oidc_issuer_profile.apply(lambda profile: profile.issuer_url)
        self.oidc_issuer = pulumi.Output.all(self.resource.id, issuer).apply(lambda known: known[1])
        provider = kubernetes.Provider(
            f"{name}-kubernetes",
            kubeconfig=self.kubeconfig,
            # Only a change of this replaces the provider and with it every object in the cluster; a new
            # kubeconfig does not (pulumi/pulumi-kubernetes#4019).
            cluster_identifier=self.resource.id,
            opts=self.child(),
        )
        self.handle = ClusterHandle(
            cloud="azure",
            name=self.name,
            id=self.id,
            endpoint=self.endpoint,
            kubeconfig=self.kubeconfig,
            kubeconfig_command=self.kubeconfig_command,
            oidc_issuer=self.oidc_issuer,
            provider=provider,
            cluster=self.resource,
            ready=(self.resource,),
        )
        self.ids = AksClusterIds(
            resource_group_name=network.resource_group_name,
            name=self.resource.name,
            node_subnet_id=network.node_subnet_id,
            kubernetes_version=args.kubernetes_version,
        )
        self.finish(
            name=self.name,
            id=self.id,
            endpoint=self.endpoint,
            kubeconfig=self.kubeconfig,
            kubeconfig_command=self.kubeconfig_command,
            oidc_issuer=self.oidc_issuer,
        )

    def _kubeconfig(self, cluster: str, network: AzureNetworkIds) -> pulumi.Output[str]:
        """From AKS's own kubeconfig, since it tells the certificate authority nowhere else.

        With local accounts off, that one holds no credential either.
        """
        credentials = aks.list_managed_cluster_user_credentials_output(
            resource_group_name=network.resource_group_name,
            resource_name=self.resource.name,
            format="exec",
            opts=pulumi.InvokeOutputOptions(parent=self),
        )
        return pulumi.Output.secret(
            credentials.kubeconfigs.apply(
                lambda found: exec_kubeconfig(cluster, found[0].value if found else "")
            )
        )


def _endpoint(cluster: aks.ManagedCluster, *, private: bool) -> pulumi.Output[str]:
    host = cluster.private_fqdn if private else cluster.fqdn
    url: pulumi.Output[str] = host.apply(lambda fqdn: f"https://{fqdn}:443")
    return url


def _command(known: list[str]) -> str:
    id_, name, group = known
    return (
        f"az aks get-credentials --subscription {subscription_of(id_)} --resource-group {group} --name {name}"
        " && kubelogin convert-kubeconfig --login azurecli"
    )
