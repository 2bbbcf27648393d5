"""Components that live inside a cluster, whichever cloud it runs on."""

from __future__ import annotations

from gpuplatform.kubernetes.charts import Chart
from gpuplatform.kubernetes.cluster_autoscaler import ClusterAutoscaler, ClusterAutoscalerArgs
from gpuplatform.kubernetes.gpu_operator import GpuOperator, GpuOperatorArgs
from gpuplatform.kubernetes.namespace import OperatorNamespace
from gpuplatform.kubernetes.objects import KubernetesObject

__all__ = [
    "Chart",
    "ClusterAutoscaler",
    "ClusterAutoscalerArgs",
    "GpuOperator",
    "GpuOperatorArgs",
    "KubernetesObject",
    "OperatorNamespace",
]
