"""Components on Google Cloud: network, GKE cluster, GPU pool."""

from __future__ import annotations

from gpuplatform.gcp.cluster import GkeCluster, GkeClusterArgs, GkeClusterIds
from gpuplatform.gcp.gpu_pool import GkeGpuPool, GkeGpuPoolArgs
from gpuplatform.gcp.network import GcpNetwork, GcpNetworkArgs, GcpNetworkIds

__all__ = [
    "GcpNetwork",
    "GcpNetworkArgs",
    "GcpNetworkIds",
    "GkeCluster",
    "GkeClusterArgs",
    "GkeClusterIds",
    "GkeGpuPool",
    "GkeGpuPoolArgs",
]
