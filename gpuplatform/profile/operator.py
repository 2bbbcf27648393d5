"""The GPU Operator's Helm values as a function of who owns the driver; pure.

Sources: NVIDIA/gpu-operator deployments/gpu-operator/values.yaml (v26.3.3, v26.7.0) for the keys; the
platform guides at https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest for EKS, GKE and AKS.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from gpuplatform.errors import Refusal
from gpuplatform.profile.model import AksDriver, AmiDriver, Driver, GkeDriver, NodeProfile

__all__ = ["operator_values", "tolerations"]

GKE_DRIVER_DIR: Final = "/home/kubernetes/bin/nvidia"


def operator_values(profiles: Sequence[NodeProfile]) -> dict[str, Any]:
    """Helm values for the one GPU Operator of a cluster with these pools.

    Raises:
        Refusal: The pools have two owners of the driver, which one operator cannot serve.
    """
    owners: dict[type[Driver], NodeProfile] = {}
    for profile in profiles:
        owners.setdefault(type(profile.driver), profile)
    if len(owners) > 1:
        names = " and ".join(f"{p.pool} ({type(p.driver).__name__})" for p in owners.values())
        raise Refusal(
            f"two owners of the GPU driver in one cluster: {names}",
            rule="one GPU Operator has one set of values",
            way_out="give the pools one owner, or put them into two clusters",
        )
    tolerated = tolerations(profiles)
    return {
        # The chart's default of 350Mi is too little on clusters with many nodes (NVIDIA/aicr's values).
        "operator": {"resources": {"limits": {"memory": "700Mi"}}},
        "daemonsets": {"tolerations": tolerated},
        "node-feature-discovery": {"worker": {"tolerations": tolerated}},
        # v26.7.0 turned this on by default; without the Prometheus CRDs the release then fails.
        "dcgmExporter": {"serviceMonitor": {"enabled": False}},
        **_owner_values(profiles[0].driver),
    }


def tolerations(profiles: Iterable[NodeProfile]) -> list[dict[str, str]]:
    """One toleration with operator Exists for each taint key on any pool.

    Never Equal: a value that differs (`true` on EKS, `present` on GKE) leaves the DaemonSet at zero pods
    without an event (NVIDIA/k8s-device-plugin#1934).
    """
    keys = dict.fromkeys((taint.key, taint.effect) for profile in profiles for taint in profile.taints)
    return [{"key": key, "operator": "Exists", "effect": effect} for key, effect in keys]


def _owner_values(driver: Driver) -> dict[str, Any]:
    match driver:
        case AmiDriver():
            # Amazon Linux has no driver container: left on, its DaemonSet ends in ImagePullBackOff
            # (NVIDIA/gpu-operator#686).
            return {"driver": {"enabled": False}, "toolkit": {"enabled": False}}
        case GkeDriver():
            # GKE runs its own device plugin; a second one would advertise each GPU twice.
            return {
                "driver": {"enabled": False},
                "devicePlugin": {"enabled": False},
                "hostPaths": {"driverInstallDir": GKE_DRIVER_DIR},
                "toolkit": {
                    "installDir": GKE_DRIVER_DIR,
                    "env": [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}],
                },
            }
        case AksDriver():
            # Always these three together: two toolkits fight over containerd's configuration
            # (NVIDIA/gpu-operator#525, Azure/aks-rdma-infiniband#54).
            return {
                "driver": {"enabled": False},
                "toolkit": {"enabled": False},
                "operator": {
                    "runtimeClass": "nvidia-container-runtime",
                    "resources": {"limits": {"memory": "700Mi"}},
                },
            }
