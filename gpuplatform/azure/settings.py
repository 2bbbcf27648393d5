"""What an AKS cluster is told at its creation, part by part, as the API spells it."""

from __future__ import annotations

from pulumi_azure_native import containerservice as aks

from gpuplatform.azure.identity import Identities
from gpuplatform.azure.network import AzureNetworkIds
from gpuplatform.contracts import ClusterArgs, Support

__all__ = [
    "api_access",
    "control_plane_identity",
    "kubelet_identity",
    "networking",
    "storage_drivers",
    "support_plan",
    "tier",
    "upgrades",
]


def api_access(
    args: ClusterArgs, *, network: AzureNetworkIds
) -> aks.ManagedClusterAPIServerAccessProfileArgs:
    """One address for the Kubernetes API: inside the network, or public for those on the list.

    The nodes of a public one come from the NAT gateway's address, which AKS does not add by itself; without
    it no node would join (https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges).
    """
    if args.api_private:
        return aks.ManagedClusterAPIServerAccessProfileArgs(
            enable_private_cluster=True,
            private_dns_zone="system",  # AKS's own, in the node resource group, linked to the virtual network
            enable_private_cluster_public_fqdn=False,
            disable_run_command=True,  # `az aks command invoke` would be a way around the network
        )
    return aks.ManagedClusterAPIServerAccessProfileArgs(
        enable_private_cluster=False,
        authorized_ip_ranges=[*args.api_public_cidrs, *network.egress_cidrs],
    )


def networking(network: AzureNetworkIds) -> aks.ContainerServiceNetworkProfileArgs:
    """CNI overlay, with pods outside the virtual network's addresses, and Cilium.

    Cilium enforces network policies without kube-proxy, as GKE's Dataplane V2 does; its policy engine has to
    be named with it (https://learn.microsoft.com/azure/aks/azure-cni-powered-by-cilium).
    """
    return aks.ContainerServiceNetworkProfileArgs(
        network_plugin=aks.NetworkPlugin.AZURE,
        network_plugin_mode=aks.NetworkPluginMode.OVERLAY,
        network_dataplane=aks.NetworkDataplane.CILIUM,
        network_policy=aks.NetworkPolicy.CILIUM,
        pod_cidr=str(network.pod_cidr),
        service_cidr=str(network.service_cidr),
        dns_service_ip=str(network.service_cidr[10]),
        load_balancer_sku=aks.LoadBalancerSku.STANDARD,
        outbound_type=aks.OutboundType.USER_ASSIGNED_NAT_GATEWAY,
    )


def control_plane_identity(identities: Identities) -> aks.ManagedClusterIdentityArgs:
    """Who the control plane is towards Azure."""
    return aks.ManagedClusterIdentityArgs(
        type=aks.ResourceIdentityType.USER_ASSIGNED,
        # A list as input, a map as output: unknown as a whole until update, so that no preview reads the list
        # back where the SDK expects the map (pulumi/pulumi-azure-native#2525).
        user_assigned_identities=identities.control_plane.id.apply(lambda id_: [id_]),
    )


def kubelet_identity(identities: Identities) -> aks.UserAssignedIdentityArgs:
    """Who the nodes are towards Azure."""
    kubelet = identities.kubelet
    return aks.UserAssignedIdentityArgs(
        resource_id=kubelet.id, client_id=kubelet.client_id, object_id=kubelet.principal_id
    )


def tier(support: Support) -> aks.ManagedClusterSKUArgs:
    """Standard, or Premium for extended support; Free has no SLA, and the catalogue prices Standard."""
    chosen = (
        aks.ManagedClusterSKUTier.PREMIUM if support == "extended" else aks.ManagedClusterSKUTier.STANDARD
    )
    return aks.ManagedClusterSKUArgs(name=aks.ManagedClusterSKUName.BASE, tier=chosen)


def support_plan(support: Support) -> aks.KubernetesSupportPlan:
    """How long a minor lives; the long term is Premium's (https://learn.microsoft.com/azure/aks/long-term-support)."""
    if support == "extended":
        return aks.KubernetesSupportPlan.AKS_LONG_TERM_SUPPORT
    return aks.KubernetesSupportPlan.KUBERNETES_OFFICIAL


def storage_drivers(args: ClusterArgs) -> aks.ManagedClusterStorageProfileArgs | None:
    """The CSI drivers that the cluster's mounts need; None leaves AKS's own choice, disks and files, alone.

    Blob's is off unless asked for (https://learn.microsoft.com/azure/aks/azure-blob-csi). Managed Lustre's is
    none of AKS's: `AzureLustreDriver` installs it.
    """
    if not args.mounts:
        return None
    return aks.ManagedClusterStorageProfileArgs(
        blob_csi_driver=aks.ManagedClusterStorageProfileBlobCSIDriverArgs(enabled="object" in args.mounts),
        disk_csi_driver=aks.ManagedClusterStorageProfileDiskCSIDriverArgs(enabled=True),
        file_csi_driver=aks.ManagedClusterStorageProfileFileCSIDriverArgs(enabled=True),
        snapshot_controller=aks.ManagedClusterStorageProfileSnapshotControllerArgs(enabled=True),
    )


def upgrades() -> aks.ManagedClusterAutoUpgradeProfileArgs:
    """None by itself: every channel drains nodes when AKS decides to, and a drained node ends a training job.

    As on EKS and GKE an upgrade is somebody's decision: a new minor in the configuration, a patch or a node
    image by `az aks upgrade` and `az aks nodepool upgrade --node-image-only`.
    """
    return aks.ManagedClusterAutoUpgradeProfileArgs(
        upgrade_channel=aks.UpgradeChannel.NONE, node_os_upgrade_channel=aks.NodeOSUpgradeChannel.NONE
    )
