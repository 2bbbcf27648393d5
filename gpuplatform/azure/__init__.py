"""Components on Azure: network, AKS cluster, GPU pool."""

from __future__ import annotations

from gpuplatform.azure.cluster import AksCluster, AksClusterArgs, AksClusterIds
from gpuplatform.azure.gpu_pool import AksGpuPool, AksGpuPoolArgs
from gpuplatform.azure.network import AzureNetwork, AzureNetworkArgs, AzureNetworkIds

__all__ = [
    "AksCluster",
    "AksClusterArgs",
    "AksClusterIds",
    "AksGpuPool",
    "AksGpuPoolArgs",
    "AzureNetwork",
    "AzureNetworkArgs",
    "AzureNetworkIds",
]
