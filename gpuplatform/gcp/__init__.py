"""Components of Google Cloud: network, cluster, GPU pool."""

from __future__ import annotations

from gpuplatform.gcp.cluster import GkeCluster, GkeClusterArgs
from gpuplatform.gcp.gpu_pool import GkeClusterIds, GkeGpuPool, GkeGpuPoolArgs
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
