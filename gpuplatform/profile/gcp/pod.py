"""What a pod needs so that NCCL finds the fabric on GKE: interfaces, daemons, libraries, environment.

Sources: GoogleCloudPlatform/container-engine-accelerators, gpudirect-tcpx, gpudirect-tcpxo (release of
9 January 2026 and best-practice.md), gpudirect-rdma; GoogleCloudPlatform/cluster-toolkit,
examples/gke-a3-highgpu and its neighbours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from gpuplatform.profile.compute_domain import compute_domain, domain_claim
from gpuplatform.profile.fabric import Fabric, NvlinkDomain, Roce, Tcpx, Tcpxo
from gpuplatform.profile.gcp.networks import node_networks
from gpuplatform.profile.gcp.volumes import host, mount
from gpuplatform.profile.model import PodWiring

__all__ = ["pod"]

REGISTRY: Final = "us-docker.pkg.dev/gce-ai-infra"
TCPX_DAEMON: Final = f"{REGISTRY}/gpudirect-tcpx/tcpgpudmarxd-dev:v2.0.12"
TCPXO_DAEMON: Final = f"{REGISTRY}/gpudirect-tcpxo/tcpgpudmarxd-dev:v1.0.21"

LIBRARIES: Final = "/usr/local/nvidia/lib64"
HOST_LIBRARIES: Final = "/home/kubernetes/bin/nvidia/lib64"
GIB: Final = "/usr/local/gib"

_GPU_DEVICES: Final = (*(f"/dev/nvidia{index}" for index in range(8)), "/dev/nvidiactl", "/dev/nvidia-uvm")

# Processors of the eight-GPU machine's 208, near the first two NICs and near the last two.
_SENDERS: Final = ("8-21,112-125", "60-73,164-177")
_RECEIVERS: Final = ("22-35,126-139", "74-87,178-191")

_TCPX_ENV: Final = {
    "LD_LIBRARY_PATH": LIBRARIES,
    "NCCL_SOCKET_IFNAME": "eth0",
    "NCCL_ALGO": "Ring,Tree",
    "NCCL_PROTO": "Simple",
    "NCCL_CROSS_NIC": "0",
    "NCCL_NET_GDR_LEVEL": "PIX",
    "NCCL_P2P_PXN_LEVEL": "0",
    "NCCL_DYNAMIC_CHUNK_SIZE": "524288",
    "NCCL_P2P_NET_CHUNKSIZE": "524288",
    "NCCL_P2P_PCI_CHUNKSIZE": "524288",
    "NCCL_P2P_NVL_CHUNKSIZE": "1048576",
    "NCCL_BUFFSIZE": "4194304",
    "NCCL_NSOCKS_PERTHREAD": "4",
    "NCCL_SOCKET_NTHREADS": "1",
    "NCCL_GPUDIRECTTCPX_CTRL_DEV": "eth0",
    "NCCL_GPUDIRECTTCPX_SOCKET_IFNAME": "eth1,eth2,eth3,eth4",
    "NCCL_GPUDIRECTTCPX_TX_BINDINGS": "eth1:{0};eth2:{0};eth3:{1};eth4:{1}".format(*_SENDERS),
    "NCCL_GPUDIRECTTCPX_RX_BINDINGS": "eth1:{0};eth2:{0};eth3:{1};eth4:{1}".format(*_RECEIVERS),
    "NCCL_GPUDIRECTTCPX_PROGRAM_FLOW_STEERING_WAIT_MICROS": "500000",
    # Where the daemon's sockets are; the plugin's own default is /tmp.
    "NCCL_GPUDIRECTTCPX_UNIX_CLIENT_PREFIX": "/run/tcpx",
}

_TCPXO_ENV: Final = {
    "LD_LIBRARY_PATH": LIBRARIES,
    "NCCL_FASTRAK_CTRL_DEV": "eth0",
    "NCCL_FASTRAK_IFNAME": "eth1,eth2,eth3,eth4,eth5,eth6,eth7,eth8",
    "NCCL_SOCKET_IFNAME": "eth0",
    "NCCL_CROSS_NIC": "0",
    "NCCL_PROTO": "Simple,LL128",
    "NCCL_MIN_NCHANNELS": "4",
    "NCCL_TUNER_PLUGIN": "libnccl-tuner.so",
    "NCCL_TUNER_CONFIG_PATH": f"{LIBRARIES}/a3plus_tuner_config.textproto",
    "NCCL_SHIMNET_GUEST_CONFIG_CHECKER_CONFIG_FILE": f"{LIBRARIES}/a3plus_guest_config.textproto",
    "NCCL_NVLSTREE_MAX_CHUNKSIZE": "131072",
    "NCCL_P2P_NET_CHUNKSIZE": "524288",
    "NCCL_P2P_PCI_CHUNKSIZE": "524288",
    "NCCL_P2P_NVL_CHUNKSIZE": "1048576",
    "NCCL_FASTRAK_NUM_FLOWS": "2",
    "NCCL_FASTRAK_USE_SNAP": "1",
    "NCCL_FASTRAK_PLUGIN_ACCEPT_TIMEOUT_MS": "600000",
    "NCCL_FASTRAK_ENABLE_CONTROL_CHANNEL": "0",
    "NCCL_BUFFSIZE": "8388608",
    "NCCL_NET_GDR_LEVEL": "PIX",
    "NCCL_FASTRAK_ENABLE_HOTPATH_LOGGING": "0",
    "NCCL_FASTRAK_USE_LLCM": "1",
    "NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY": "/dev/aperture_devices",
    "NCCL_NVLS_ENABLE": "1",
}

# The rest is in a script of the plugin, which differs from machine to machine: a job sources
# /usr/local/gib/scripts/set_nccl_env.sh. What is here makes a job without the plugin fail: no silent TCP.
_GIB_ENV: Final = {
    "LD_LIBRARY_PATH": f"{LIBRARIES}:{GIB}/lib64",
    "NCCL_NET": "gIB",
    "NCCL_SOCKET_IFNAME": "eth0",
}


def pod(pool: str, connects: Fabric) -> PodWiring:
    """The wiring of a pod that uses all of a node's GPUs; nothing where there is no fabric."""
    match connects:
        case Tcpx():
            return _tcpx(pool, connects)
        case Tcpxo():
            return _tcpxo(pool, connects)
        case Roce():
            return _gib(pool, connects)
        case NvlinkDomain():
            return _nvlink(pool, connects)
        case _:
            return PodWiring(resources={})


def _tcpx(pool: str, connects: Tcpx) -> PodWiring:
    daemon = {
        "name": "tcpx-daemon",
        "image": TCPX_DAEMON,
        # A sidecar: it ends with the job's container and never keeps a finished job running.
        "restartPolicy": "Always",
        "command": ["/tcpgpudmarxd/build/app/tcpgpudmarxd"],
        "args": [
            *("--gpu_nic_preset", "a3vm"),
            *("--gpu_shmem_type", "fd"),
            *("--uds_path", "/run/tcpx"),
            *("--setup_param", "--verbose 128 2 0 "),
        ],
        "securityContext": {"capabilities": {"add": ["NET_ADMIN"]}},
        "env": [{"name": "LD_LIBRARY_PATH", "value": LIBRARIES}],
        "volumeMounts": [mount("libraries", LIBRARIES), mount("tcpx-socket", "/run/tcpx"), *_KERNEL_MOUNTS],
    }
    return PodWiring(
        resources={},
        env=_TCPX_ENV,
        annotations=_annotations(pool, connects, {"tcpx-daemon": _GPU_DEVICES}),
        capabilities=("IPC_LOCK",),
        volumes=(
            host("libraries", HOST_LIBRARIES),
            {"name": "tcpx-socket", "emptyDir": {}},
            *_KERNEL_VOLUMES,
            _SHARED_MEMORY,
        ),
        mounts=(mount("libraries", LIBRARIES), mount("tcpx-socket", "/run/tcpx"), _SHARED_MEMORY_MOUNT),
        init_containers=(daemon,),
    )


def _tcpxo(pool: str, connects: Tcpxo) -> PodWiring:
    start = "/fts/entrypoint_rxdm_container.sh"
    daemon = {
        "name": "tcpxo-daemon",
        "image": TCPXO_DAEMON,
        "restartPolicy": "Always",
        "command": ["/bin/sh", "-c"],
        "args": [f"chmod 755 {start} && exec {start} --num_hops=2 --num_nics={connects.networks}"],
        "securityContext": {"capabilities": {"add": ["NET_ADMIN", "NET_BIND_SERVICE"]}},
        "env": [
            {"name": "LD_LIBRARY_PATH", "value": LIBRARIES},
            {"name": "HEALTH_CHECK_LOG_FILE", "value": "/run/health-check"},
        ],
        # The daemon writes the file when it is ready, after some thirty seconds; on a bad node it never does.
        "startupProbe": {
            "exec": {"command": ["cat", "/run/health-check"]},
            "periodSeconds": 5,
            "failureThreshold": 24,
        },
        "volumeMounts": [mount("libraries", LIBRARIES), *_KERNEL_MOUNTS],
    }
    devices = (*_GPU_DEVICES, "/dev/dmabuf_import_helper")
    return PodWiring(
        resources={},
        env=_TCPXO_ENV,
        annotations=_annotations(pool, connects, {"tcpxo-daemon": devices}),
        capabilities=("IPC_LOCK",),
        volumes=(
            host("libraries", HOST_LIBRARIES),
            host("aperture-devices", "/dev/aperture_devices"),
            *_KERNEL_VOLUMES,
            _SHARED_MEMORY,
        ),
        mounts=(
            mount("libraries", LIBRARIES),
            mount("aperture-devices", "/dev/aperture_devices"),
            _SHARED_MEMORY_MOUNT,
        ),
        init_containers=(daemon,),
    )


def _gib(pool: str, connects: Roce) -> PodWiring:
    return PodWiring(
        resources={},
        env=_GIB_ENV,
        annotations=_annotations(pool, connects, {}),
        capabilities=("IPC_LOCK",),
        volumes=_GIB_VOLUMES,
        mounts=_GIB_MOUNTS,
    )


def _nvlink(pool: str, connects: NvlinkDomain) -> PodWiring:
    """NICs by claim, and a channel of the job's own NVLink domain (NVIDIA's driver for compute domains)."""
    adapters = connects.roce.adapters
    request = {"deviceClassName": "mrdma.google.com", "allocationMode": "ExactCount", "count": adapters}
    nics = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": f"{pool}-rdma"},
        "spec": {"spec": {"devices": {"requests": [{"name": "nics", "exactly": request}]}}},
    }
    metal = connects.roce.bare_metal
    return PodWiring(
        resources={},
        # On bare metal the plugin is in the job's image (examples/gke-a4x-max-bm/nccl-jobset-example.yaml).
        env=_GIB_ENV,
        capabilities=("IPC_LOCK",),
        volumes=_GIB_VOLUMES[1:] if metal else _GIB_VOLUMES,
        mounts=_GIB_MOUNTS[1:] if metal else _GIB_MOUNTS,
        claims=(
            {"name": "rdma", "resourceClaimTemplateName": f"{pool}-rdma"},
            domain_claim(pool),
        ),
        objects=(nics, compute_domain(pool)),
    )


def _annotations(pool: str, connects: Fabric, devices: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Interfaces from GKE's multi-networking; devices from the injector, since no daemon is privileged."""
    used = [network for network in node_networks(pool, connects) if network.interface]
    interfaces = [
        {"interfaceName": "eth0", "network": "default"},
        *({"interfaceName": network.interface, "network": network.name} for network in used),
    ]
    return {
        "networking.gke.io/default-interface": "eth0",
        "networking.gke.io/interfaces": json.dumps(interfaces),
        **{
            f"devices.gke.io/container.{container}": "".join(f"- path: {path}\n" for path in paths)
            for container, paths in devices.items()
        },
    }


# NCCL keeps its buffers here; the container runtime's default of 64 MiB is too small for eight GPUs.
_SHARED_MEMORY: Final = {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": "250Gi"}}
_SHARED_MEMORY_MOUNT: Final = mount("shared-memory", "/dev/shm")  # noqa: S108 - NCCL's place, not a temporary file
_KERNEL_VOLUMES: Final = (host("sys", "/sys"), host("proc-sys", "/proc/sys"))
_KERNEL_MOUNTS: Final = (mount("sys", "/hostsysfs"), mount("proc-sys", "/hostprocsysfs"))
_GIB_VOLUMES: Final = (
    host("gib", "/home/kubernetes/bin/gib"),
    host("nvidia", "/home/kubernetes/bin/nvidia"),
    _SHARED_MEMORY,
)
_GIB_MOUNTS: Final = (mount("gib", GIB), mount("nvidia", "/usr/local/nvidia"), _SHARED_MEMORY_MOUNT)
