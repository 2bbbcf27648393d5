"""The GPU Operator's Helm values as a function of who owns the driver; pure.

Sources: NVIDIA/gpu-operator deployments/gpu-operator/values.yaml (v26.3.3, v26.7.0) for the keys; the
platform guides at https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest for EKS, GKE and AKS;
NVIDIA/aicr recipes/components/gpu-operator for what runs on each cloud.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from gpuplatform.profile.driver import AksDriver, AmiDriver, Driver, GkeDriver, OperatorDriver
from gpuplatform.profile.fabric import InfiniBand
from gpuplatform.profile.health import health_values
from gpuplatform.profile.model import NodeProfile
from gpuplatform.profile.owners import one_owner
from gpuplatform.profile.sharing_values import sharing_values

__all__ = ["operator_values", "tolerations"]

GKE_DRIVER_DIR: Final = "/home/kubernetes/bin/nvidia"

# An image with NVIDIA_VISIBLE_DEVICES=all in it, which every CUDA image is, gets all GPUs of a node without
# having asked for one, unless the runtime ignores the variable where the container is unprivileged
# ("Preventing Unprivileged Access to GPUs in Kubernetes" in NVIDIA's documents). `file`: what containerd
# prints of its configuration is migrated to a newer version than the file that the toolkit's drop-in is
# then merged into, and containerd no longer starts (NVIDIA/aicr#1688).
TOOLKIT_ENV: Final = (
    {"name": "RUNTIME_CONFIG_SOURCE", "value": "file"},
    {"name": "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED", "value": "false"},
)


def operator_values(profiles: Sequence[NodeProfile]) -> dict[str, Any]:
    """Helm values for the one GPU Operator of a cluster with these pools.

    Raises:
        Refusal: The pools have two owners of the driver, which one operator cannot serve.
    """
    driver = one_owner(profiles)
    tolerated = tolerations(profiles)
    values: dict[str, Any] = {
        # The chart's limit of 350Mi is too little on clusters with many nodes (NVIDIA/aicr).
        "operator": {"resources": {"limits": {"memory": "700Mi"}}},
        # Devices are handed over by name (CDI): with it the device plugin needs no environment variable.
        "cdi": {"enabled": True},
        "daemonsets": {"tolerations": tolerated},
        **_node_feature_discovery(profiles, tolerated),
        # On by default from v26.7.0; without the Prometheus CRDs the release then fails.
        "dcgmExporter": {"serviceMonitor": {"enabled": False}},
        # Virtual machines and confidential computing, which no pool is for. The Kata plugin is on by
        # default and renders a field that the CRD of its own chart does not declare (NVIDIA/aicr).
        **{name: {"enabled": False} for name in _NOT_FOR_CONTAINERS},
    }
    for part in (_owner_values(driver, profiles), sharing_values(profiles), health_values()):
        values = _merged(values, part)
    return values


_NOT_FOR_CONTAINERS: Final = (
    "ccManager",
    "kataSandboxDevicePlugin",
    "sandboxDevicePlugin",
    "vfioManager",
    "vgpuDeviceManager",
)


def tolerations(profiles: Iterable[NodeProfile]) -> list[dict[str, str]]:
    """One toleration with operator Exists for each taint key on any pool.

    Never Equal: a value that differs (`true` on EKS, `present` on GKE) leaves the DaemonSet at zero pods
    without an event (NVIDIA/k8s-device-plugin#1934).
    """
    keys = dict.fromkeys((taint.key, taint.effect) for profile in profiles for taint in profile.taints)
    return [{"key": key, "operator": "Exists", "effect": effect} for key, effect in keys]


def _node_feature_discovery(
    profiles: Sequence[NodeProfile], tolerated: list[dict[str, str]]
) -> dict[str, Any]:
    """Exactly one chart brings Node Feature Discovery: the Network Operator where there is InfiniBand.

    Two of them take each other's labels off the nodes (Mellanox/network-operator#1212).
    """
    if any(isinstance(profile.fabric, InfiniBand) for profile in profiles):
        return {"nfd": {"enabled": False}}
    return {"nfd": {"enabled": True}, "node-feature-discovery": {"worker": {"tolerations": tolerated}}}


def _owner_values(driver: Driver, profiles: Sequence[NodeProfile]) -> dict[str, Any]:
    match driver:
        case AmiDriver():
            return _ami(profiles)
        case GkeDriver():
            # GKE runs its own device plugin; a second one would advertise each GPU twice.
            return {"devicePlugin": {"enabled": False}, **_google_paths()}
        case AksDriver():
            # Always these three together: two toolkits fight over containerd's configuration
            # (NVIDIA/gpu-operator#525, Azure/aks-rdma-infiniband#54).
            return {
                "driver": {"enabled": False},
                "toolkit": {"enabled": False},
                "devicePlugin": {"enabled": True},  # AKS's own one is not installed beside it
                "operator": {"runtimeClass": "nvidia-container-runtime"},
            }
        case OperatorDriver(host="gke-cos"):
            # No driver container can build for Container-Optimized OS: Google's installer does.
            return {"devicePlugin": {"enabled": True}, **_google_paths()}
        case OperatorDriver():
            return _operator(profiles)


def _ami(profiles: Sequence[NodeProfile]) -> dict[str, Any]:
    """Amazon Linux has no driver container: left on, its DaemonSet ends in ImagePullBackOff.

    NVIDIA/gpu-operator#686. The image has gdrcopy's module and, since EFA is none, no MOFED. Bottlerocket
    brings a device plugin as well: its nodes turn the operator's off by label, or the chart does where
    there are no others.
    """
    own_plugin = {profile.device_plugins[0] for profile in profiles} == {"bottlerocket"}
    env = [{"name": "MOFED_ENABLED", "value": "false"}, {"name": "GDRCOPY_ENABLED", "value": "true"}]
    return {
        "driver": {"enabled": False},
        "toolkit": {"enabled": False},
        "devicePlugin": {"enabled": False} if own_plugin else {"enabled": True, "env": env},
    }


def _google_paths() -> dict[str, Any]:
    return {
        "driver": {"enabled": False},
        "hostPaths": {"driverInstallDir": GKE_DRIVER_DIR},
        "toolkit": {"enabled": True, "installDir": GKE_DRIVER_DIR, "env": list(TOOLKIT_ENV)},
        "gdrcopy": {"enabled": False},  # its module cannot be built for Container-Optimized OS
    }


def _operator(profiles: Sequence[NodeProfile]) -> dict[str, Any]:
    """The operator's own driver; with GPUDirect RDMA where a pool has InfiniBand.

    Nodes without Mellanox adapters skip the wait for MOFED (the operator's validator asks for the label
    feature.node.kubernetes.io/pci-15b3.present). The host has no MOFED: the Network Operator's container
    brings it, and `useHostMofed` would build nvidia-peermem against the wrong symbols (NVIDIA/aicr).
    """
    rdma = any(isinstance(profile.driver, OperatorDriver) and profile.driver.rdma for profile in profiles)
    return {
        "driver": {
            "enabled": True,
            "rdma": {"enabled": rdma, "useHostMofed": False},
            "upgradePolicy": _UPGRADE,
        },
        "toolkit": {"enabled": True, "env": list(TOOLKIT_ENV)},
        "devicePlugin": {"enabled": True},
        "gdrcopy": {"enabled": rdma},
        "operator": {"runtimeClass": "nvidia"},
    }


# A new driver means that all GPU pods leave a node. One node at a time, after the jobs on it have ended,
# and never by deleting a pod that nothing would start again.
_UPGRADE: Final = {
    "autoUpgrade": True,
    "maxParallelUpgrades": 1,
    "waitForCompletion": {"podSelector": "batch.kubernetes.io/job-name", "timeoutSeconds": 0},
    "gpuPodDeletion": {"force": False, "timeoutSeconds": 300, "deleteEmptyDir": True},
    "drain": {"enable": False},
}


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Both, and `above` where they meet; mappings are joined, all else replaced."""
    joined = dict(below)
    for key, value in above.items():
        old = joined.get(key)
        joined[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return joined
