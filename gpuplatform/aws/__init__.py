"""Components on AWS: network, EKS cluster, GPU pool, and the autoscaler's role."""

from __future__ import annotations

from gpuplatform.aws.autoscaler import AutoscalerRole, AutoscalerRoleArgs
from gpuplatform.aws.cluster import EksCluster, EksClusterArgs, EksClusterIds, EksFabricIds
from gpuplatform.aws.gpu_pool import EksGpuPool, EksGpuPoolArgs
from gpuplatform.aws.network import AwsNetwork, AwsNetworkArgs, AwsNetworkIds

__all__ = [
    "AutoscalerRole",
    "AutoscalerRoleArgs",
    "AwsNetwork",
    "AwsNetworkArgs",
    "AwsNetworkIds",
    "EksCluster",
    "EksClusterArgs",
    "EksClusterIds",
    "EksFabricIds",
    "EksGpuPool",
    "EksGpuPoolArgs",
]
