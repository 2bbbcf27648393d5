"""Every chart that is installed, with its repository and pinned version: the one place to change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = [
    "CHARTS",
    "CLUSTER_AUTOSCALER",
    "DRA_DRIVER",
    "EFA_DEVICE_PLUGIN",
    "GPU_OPERATOR",
    "KUEUE",
    "NETWORK_OPERATOR",
    "Chart",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One Helm chart at one version.

    Attributes:
        name: The chart's name in its repository.
        repository: URL of the Helm repository, or of the registry (`oci://`).
        version: The version exactly as the repository's index spells it.
        source: Where the chart is developed: its values and its change log.
    """

    name: str
    repository: str
    version: str
    source: str

    @property
    def in_registry(self) -> bool:
        """Whether it is pulled from a registry, where a chart is named with its place and has no index."""
        return self.repository.startswith("oci://")

    @property
    def reference(self) -> str:
        """What Helm is asked for."""
        return f"{self.repository}/{self.name}" if self.in_registry else self.name


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

NETWORK_OPERATOR: Final = Chart(
    name="network-operator",
    repository="https://helm.ngc.nvidia.com/nvidia",
    version="26.4.1",
    source="https://github.com/Mellanox/network-operator/tree/v26.4.1/deployment/network-operator",
)

EFA_DEVICE_PLUGIN: Final = Chart(
    name="aws-efa-k8s-device-plugin",
    repository="https://aws.github.io/eks-charts",
    # From v0.5.10 the plugin counts the adapters of p6-b200 right: 8, not 10.
    version="v0.5.30",
    source="https://github.com/aws/eks-charts/tree/master/stable/aws-efa-k8s-device-plugin",
)

DRA_DRIVER: Final = Chart(
    name="nvidia-dra-driver-gpu",
    repository="https://helm.ngc.nvidia.com/nvidia",
    # From v25.8.0 a compute domain grows with its job; older drivers wait for a number of nodes.
    version="25.8.1",
    source="https://github.com/NVIDIA/k8s-dra-driver-gpu/tree/v25.8.1/deployments/helm/nvidia-dra-driver-gpu",
)

KUEUE: Final = Chart(
    name="kueue",
    repository="oci://registry.k8s.io/kueue/charts",
    version="0.19.2",
    source="https://github.com/kubernetes-sigs/kueue/tree/v0.19.2/charts/kueue",
)

CHARTS: Final = (GPU_OPERATOR, NETWORK_OPERATOR, EFA_DEVICE_PLUGIN, KUEUE, CLUSTER_AUTOSCALER)
