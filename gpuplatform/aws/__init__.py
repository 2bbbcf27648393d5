"""Components on AWS: network, cluster, GPU pool, storage tiers, identities, budget, and Pulumi's state."""

from __future__ import annotations

from gpuplatform.aws.autoscaler import AutoscalerRole, AutoscalerRoleArgs
from gpuplatform.aws.budget import AwsBudget, AwsBudgetArgs
from gpuplatform.aws.ci_identity import AwsCiIdentity, AwsCiIdentityArgs, ci_role_arn
from gpuplatform.aws.cluster import EksCluster, EksClusterArgs, EksClusterIds, EksFabricIds
from gpuplatform.aws.gpu_pool import EksGpuPool, EksGpuPoolArgs
from gpuplatform.aws.network import AwsNetwork, AwsNetworkArgs, AwsNetworkIds
from gpuplatform.aws.object_store import AwsObjectStore, AwsObjectStoreArgs
from gpuplatform.aws.shared_filesystem import AwsSharedFilesystem, AwsSharedFilesystemArgs
from gpuplatform.aws.state_store import AwsStateStore, AwsStateStoreArgs
from gpuplatform.aws.workload_identity import AwsWorkloadIdentity, AwsWorkloadIdentityArgs

__all__ = [
    "AutoscalerRole",
    "AutoscalerRoleArgs",
    "AwsBudget",
    "AwsBudgetArgs",
    "AwsCiIdentity",
    "AwsCiIdentityArgs",
    "AwsNetwork",
    "AwsNetworkArgs",
    "AwsNetworkIds",
    "AwsObjectStore",
    "AwsObjectStoreArgs",
    "AwsSharedFilesystem",
    "AwsSharedFilesystemArgs",
    "AwsStateStore",
    "AwsStateStoreArgs",
    "AwsWorkloadIdentity",
    "AwsWorkloadIdentityArgs",
    "EksCluster",
    "EksClusterArgs",
    "EksClusterIds",
    "EksFabricIds",
    "EksGpuPool",
    "EksGpuPoolArgs",
    "ci_role_arn",
]
