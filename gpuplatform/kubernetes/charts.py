"""Every chart that is installed, with its repository and pinned version: the one place to change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["CHARTS", "CLUSTER_AUTOSCALER", "GPU_OPERATOR", "Chart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One Helm chart at one version.

    Attributes:
        name: The chart's name in its repository.
        repository: URL of the Helm repository.
        version: The version exactly as the repository's index spells it.
        source: Where the chart is developed: its values and its change log.
    """

    name: str
    repository: str
    version: str
    source: str


GPU_OPERATOR: Final = Chart(
    name="gpu-operator",
    repository="https://helm.ngc.nvidia.com/nvidia",
    # Driver branch 580. v26.7.0 moves to 595 and turns the ServiceMonitor on by default.
    version="v26.3.3",
    source="https://github.com/NVIDIA/gpu-operator/tree/v26.3.3/deployments/gpu-operator",
)

CLUSTER_AUTOSCALER: Final = Chart(
    name="cluster-autoscaler",
    repository="https://kubernetes.github.io/autoscaler",
    version="9.59.0",
    source="https://github.com/kubernetes/autoscaler/tree/cluster-autoscaler-chart-9.59.0/charts/cluster-autoscaler",
)

CHARTS: Final = (GPU_OPERATOR, CLUSTER_AUTOSCALER)
