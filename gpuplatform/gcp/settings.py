"""What a GKE cluster is told at its creation, part by part, as the API spells it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pulumi_gcp import container

from gpuplatform.contracts import ClusterArgs, Mount, Support
from gpuplatform.gcp.identity import NodeAccount
from gpuplatform.gcp.network import GcpNetworkIds

__all__ = ["addons", "api_access", "default_pool", "networking", "observation", "upgrades"]

PODS_PER_NODE: Final = 110
"""GKE's default, for which it takes a /24 of the pods' range a node: what config/layout.py counts with."""

CHANNELS: Final = {"standard": "REGULAR", "extended": "EXTENDED"}
"""A minor lives 14 months in REGULAR and 24 in EXTENDED, at an extra charge after the first 14
(https://cloud.google.com/kubernetes-engine/docs/concepts/extended-channel)."""

WINDOW_START: Final = "2026-01-03T00:00:00Z"
WINDOW_END: Final = "2026-01-03T12:00:00Z"
"""Saturday and Sunday, 0 to 12 o'clock UTC. GKE asks for at least 48 hours in any 32 days
(https://cloud.google.com/kubernetes-engine/docs/concepts/maintenance-windows-and-exclusions)."""

EXCLUSION_START: Final = "2026-01-01T00:00:00Z"
"""Fixed and past: a clock here would change the cluster with every update."""


def default_pool(nodes: NodeAccount) -> dict[str, Any]:
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


def networking(network: GcpNetworkIds) -> dict[str, Any]:
    """Pods and services in ranges of the subnet's own; Dataplane V2 enforces network policies by itself."""
    return {
        "network": network.id,
        "subnetwork": network.node_subnet_id,
        "networking_mode": "VPC_NATIVE",
        "datapath_provider": "ADVANCED_DATAPATH",
        "default_max_pods_per_node": PODS_PER_NODE,
        "ip_allocation_policy": container.ClusterIpAllocationPolicyArgs(
            cluster_secondary_range_name=network.pods_range,
            services_secondary_range_name=network.services_range,
        ),
    }


def api_access(args: ClusterArgs, *, network: GcpNetworkIds) -> dict[str, Any]:
    """Who reaches the API and with what: no password, no client certificate, nobody unknown."""
    return {
        "private_cluster_config": container.ClusterPrivateClusterConfigArgs(
            enable_private_nodes=True,
            # Whether the API is at its private address only.
            enable_private_endpoint=not args.api_public_cidrs,
            master_ipv4_cidr_block=str(network.control_plane_cidr) if network.control_plane_cidr else None,
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
    }


def observation() -> dict[str, Any]:
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


def addons(mounts: Sequence[Mount]) -> dict[str, Any]:
    """The CSI drivers for what pods mount beside disks; each is on where asked for, and off where not.

    Nothing is said for a cluster whose pods mount nothing: all three are off by default. Lustre is mounted by
    nodes with Container-Optimized OS only, on Arm from 1.34.1-gke.2541000 on
    (https://docs.cloud.google.com/managed-lustre/docs/lustre-csi-driver-overview), and with secure boot on
    machines with GPUs only, so not by the system pool
    (https://cloud.google.com/managed-lustre/docs/connect-from-kubernetes-engine-existing-instance).
    """
    if not mounts:
        return {}
    return {
        "addons_config": container.ClusterAddonsConfigArgs(
            gcs_fuse_csi_driver_config=container.ClusterAddonsConfigGcsFuseCsiDriverConfigArgs(
                enabled="object" in mounts
            ),
            lustre_csi_driver_config=container.ClusterAddonsConfigLustreCsiDriverConfigArgs(
                enabled="lustre" in mounts
            ),
            gcp_filestore_csi_driver_config=container.ClusterAddonsConfigGcpFilestoreCsiDriverConfigArgs(
                enabled="nfs" in mounts
            ),
        )
    }


def upgrades(support: Support) -> dict[str, Any]:
    """Patches of the control plane at weekends; minors and nodes only when somebody asks for them.

    An upgrade of a GPU node ends the training job on it, so nodes stay as they are until the minor's end of
    support, as in Google's own blueprints for GPU clusters (GoogleCloudPlatform/cluster-toolkit, gke-a4).
    To bring a pool to its control plane's version, run `gcloud container clusters upgrade` with
    `--node-pool`: what a person starts, an exclusion does not stop. A node pool's `version` is deliberately
    not set: given as a minor it differs from the version that GKE answers with, after each patch anew.
    """
    scope = "NO_MINOR_OR_NODE_UPGRADES"
    return {
        "release_channel": container.ClusterReleaseChannelArgs(channel=CHANNELS[support]),
        "maintenance_policy": container.ClusterMaintenancePolicyArgs(
            recurring_window=container.ClusterMaintenancePolicyRecurringWindowArgs(
                start_time=WINDOW_START, end_time=WINDOW_END, recurrence="FREQ=WEEKLY;BYDAY=SA,SU"
            ),
            maintenance_exclusions=[
                container.ClusterMaintenancePolicyMaintenanceExclusionArgs(
                    exclusion_name="no-minor-or-node-upgrades",
                    start_time=EXCLUSION_START,
                    exclusion_options=container.ClusterMaintenancePolicyMaintenanceExclusionExclusionOptionsArgs(
                        scope=scope, end_time_behavior="UNTIL_END_OF_SUPPORT"
                    ),
                )
            ],
        ),
    }
