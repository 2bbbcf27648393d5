"""Components that live inside a cluster, whichever cloud it runs on."""

from __future__ import annotations

from gpuplatform.kubernetes.charts import Chart
from gpuplatform.kubernetes.cluster_autoscaler import ClusterAutoscaler, ClusterAutoscalerArgs
from gpuplatform.kubernetes.compute_domains import ComputeDomains, ComputeDomainsArgs, shares_nvlink
from gpuplatform.kubernetes.device_isolation import DeviceIsolation, DeviceIsolationArgs, leaves_gpus_open
from gpuplatform.kubernetes.efa_device_plugin import EfaDevicePlugin, EfaDevicePluginArgs
from gpuplatform.kubernetes.gpu_operator import GpuOperator, GpuOperatorArgs
from gpuplatform.kubernetes.kueue import Kueue, KueueArgs
from gpuplatform.kubernetes.namespace import OperatorNamespace
from gpuplatform.kubernetes.network_operator import NetworkOperator, NetworkOperatorArgs
from gpuplatform.kubernetes.objects import KubernetesObject
from gpuplatform.kubernetes.storage_classes import StorageClasses, StorageClassesArgs
from gpuplatform.kubernetes.team import SERVICE_ACCOUNT, TeamSpace, TeamSpaceArgs, pod_security

__all__ = [
    "SERVICE_ACCOUNT",
    "Chart",
    "ClusterAutoscaler",
    "ClusterAutoscalerArgs",
    "ComputeDomains",
    "ComputeDomainsArgs",
    "DeviceIsolation",
    "DeviceIsolationArgs",
    "EfaDevicePlugin",
    "EfaDevicePluginArgs",
    "GpuOperator",
    "GpuOperatorArgs",
    "KubernetesObject",
    "Kueue",
    "KueueArgs",
    "NetworkOperator",
    "NetworkOperatorArgs",
    "OperatorNamespace",
    "StorageClasses",
    "StorageClassesArgs",
    "TeamSpace",
    "TeamSpaceArgs",
    "leaves_gpus_open",
    "pod_security",
    "shares_nvlink",
]
