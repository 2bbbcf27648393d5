"""Components on Azure: network, AKS cluster, GPU pool; storage, identities, state and budget."""

from __future__ import annotations

from gpuplatform.azure.budget import AzureBudget, AzureBudgetArgs
from gpuplatform.azure.ci_identity import AzureCiIdentity, AzureCiIdentityArgs
from gpuplatform.azure.cluster import AksCluster, AksClusterArgs, AksClusterIds
from gpuplatform.azure.gpu_pool import AksGpuPool, AksGpuPoolArgs
from gpuplatform.azure.lustre_driver import AzureLustreDriver, AzureLustreDriverArgs
from gpuplatform.azure.network import AzureNetwork, AzureNetworkArgs, AzureNetworkIds, FileEndpoints
from gpuplatform.azure.object_store import AzureObjectStore, AzureObjectStoreArgs
from gpuplatform.azure.shared_filesystem import AzureSharedFilesystem, AzureSharedFilesystemArgs
from gpuplatform.azure.state_store import AzureStateStore, AzureStateStoreArgs
from gpuplatform.azure.workload_identity import AzureWorkloadIdentity, AzureWorkloadIdentityArgs

__all__ = [
    "AksCluster",
    "AksClusterArgs",
    "AksClusterIds",
    "AksGpuPool",
    "AksGpuPoolArgs",
    "AzureBudget",
    "AzureBudgetArgs",
    "AzureCiIdentity",
    "AzureCiIdentityArgs",
    "AzureLustreDriver",
    "AzureLustreDriverArgs",
    "AzureNetwork",
    "AzureNetworkArgs",
    "AzureNetworkIds",
    "AzureObjectStore",
    "AzureObjectStoreArgs",
    "AzureSharedFilesystem",
    "AzureSharedFilesystemArgs",
    "AzureStateStore",
    "AzureStateStoreArgs",
    "AzureWorkloadIdentity",
    "AzureWorkloadIdentityArgs",
    "FileEndpoints",
]
