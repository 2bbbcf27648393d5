"""Components on Google Cloud: network, GKE cluster, GPU pools, storage, identities, state, budget."""

from __future__ import annotations

from gpuplatform.gcp.budget import GcpBudget, GcpBudgetArgs
from gpuplatform.gcp.ci_identity import GcpCiIdentity, GcpCiIdentityArgs
from gpuplatform.gcp.cluster import GkeCluster, GkeClusterArgs, GkeClusterIds
from gpuplatform.gcp.fabric import GkeGpuNetworks, GkeGpuNetworksArgs, NodeInterface
from gpuplatform.gcp.gpu_pool import GkeGpuPool, GkeGpuPoolArgs
from gpuplatform.gcp.network import GcpNetwork, GcpNetworkArgs, GcpNetworkIds
from gpuplatform.gcp.node_daemons import GkeNodeDaemons, GkeNodeDaemonsArgs
from gpuplatform.gcp.object_store import GcpObjectStore, GcpObjectStoreArgs
from gpuplatform.gcp.shared_filesystem import GcpSharedFilesystem, GcpSharedFilesystemArgs
from gpuplatform.gcp.state_store import GcpStateStore, GcpStateStoreArgs
from gpuplatform.gcp.workload_identity import GcpWorkloadIdentity, GcpWorkloadIdentityArgs

__all__ = [
    "GcpBudget",
    "GcpBudgetArgs",
    "GcpCiIdentity",
    "GcpCiIdentityArgs",
    "GcpNetwork",
    "GcpNetworkArgs",
    "GcpNetworkIds",
    "GcpObjectStore",
    "GcpObjectStoreArgs",
    "GcpSharedFilesystem",
    "GcpSharedFilesystemArgs",
    "GcpStateStore",
    "GcpStateStoreArgs",
    "GcpWorkloadIdentity",
    "GcpWorkloadIdentityArgs",
    "GkeCluster",
    "GkeClusterArgs",
    "GkeClusterIds",
    "GkeGpuNetworks",
    "GkeGpuNetworksArgs",
    "GkeGpuPool",
    "GkeGpuPoolArgs",
    "GkeNodeDaemons",
    "GkeNodeDaemonsArgs",
    "NodeInterface",
]
