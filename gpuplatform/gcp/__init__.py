"""Components on Google Cloud: network, GKE cluster, GPU pool, and what GPUDirect needs."""

from __future__ import annotations

from gpuplatform.gcp.cluster import GkeCluster, GkeClusterArgs, GkeClusterIds
from gpuplatform.gcp.fabric import GkeGpuNetworks, GkeGpuNetworksArgs, NodeInterface
from gpuplatform.gcp.gpu_pool import GkeGpuPool, GkeGpuPoolArgs
from gpuplatform.gcp.network import GcpNetwork, GcpNetworkArgs, GcpNetworkIds
from gpuplatform.gcp.node_daemons import GkeNodeDaemons, GkeNodeDaemonsArgs

__all__ = [
    "GcpNetwork",
    "GcpNetworkArgs",
    "GcpNetworkIds",
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
