"""DaemonSets of Google's that a GKE pool's nodes need: NCCL plugins, the device injector, driver installers.

Sources, read on 30 November 2026 at GoogleCloudPlatform/container-engine-accelerators 992db812 and
GoogleCloudPlatform/cluster-toolkit 10470803: gpudirect-tcpx/nccl-tcpx-installer.yaml,
gpudirect-tcpxo/nccl-tcpxo-installer.yaml, gpudirect-rdma/nccl-rdma-installer.yaml and its -a4x,
nri_device_injector/nri-device-injector.yaml, nvidia-driver-installer/cos/daemonset-preloaded.yaml and its
-latest-a4x, asapd-lite-installer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gpuplatform.profile.driver import OperatorDriver
from gpuplatform.profile.fabric import NvlinkDomain, Roce, Tcpx, Tcpxo
from gpuplatform.profile.gcp.pod import REGISTRY
from gpuplatform.profile.gcp.volumes import host, mount
from gpuplatform.profile.model import NodeProfile

__all__ = ["NAMESPACE", "node_daemons"]

NAMESPACE: Final = "kube-system"
"""Where critical pods need no quota of their own."""

# The plugin and its receive daemon (pod.py) are released together: v3.1.9 with v2.0.12, v1.0.15 with v1.0.21.
TCPX_PLUGIN: Final = f"{REGISTRY}/gpudirect-tcpx/nccl-plugin-gpudirecttcpx-dev:v3.1.9"
TCPXO_PLUGIN: Final = f"{REGISTRY}/gpudirect-tcpxo/nccl-plugin-gpudirecttcpx-dev:v1.0.15"
GIB_PLUGIN: Final = f"{REGISTRY}/gpudirect-gib/nccl-plugin-gib:v1.1.0"
GIB_PLUGIN_ARM: Final = f"{REGISTRY}/gpudirect-gib/nccl-plugin-gib-arm64:v1.1.0"
INJECTOR: Final = (
    "gcr.io/gke-release/nri-device-injector"
    "@sha256:6e79483d52abdc28454bf186320b10a56b0f117a10e8d65d5c74dbb821a76970"
)
ASAPD: Final = f"{REGISTRY}/asapd-lite/asapd-lite:v0.0.8"
PAUSE: Final = "gke.gcr.io/pause:3.8@sha256:880e63f94b145e46f1b1082bb71b85e21f16b99b180b9996407d61240ceb9830"
SHELL: Final = "ubuntu:24.04"
COS_INSTALLER: Final = "cos-nvidia-installer:fixed"
"""Preloaded on every GPU node that runs Container-Optimized OS; never pulled."""

NVIDIA_HOST: Final = "/home/kubernetes/bin/nvidia"

Object = dict[str, Any]


def node_daemons(profiles: Sequence[NodeProfile]) -> tuple[Object, ...]:
    """The DaemonSets of a cluster with these pools, each once; none on a cluster that needs none."""
    fabrics = [profile.fabric for profile in profiles]
    rdma = [profile for profile in profiles if isinstance(profile.fabric, Roce | NvlinkDomain)]
    metal = [profile for profile in rdma if _metal(profile)]
    arm = [profile for profile in rdma if profile.arch == "arm64" and not _metal(profile)]
    amd = [profile for profile in rdma if profile.arch == "amd64"]
    cos = [p for p in profiles if isinstance(p.driver, OperatorDriver) and p.driver.host == "gke-cos"]
    tcpx = [profile for profile in profiles if isinstance(profile.fabric, Tcpx)]
    tcpxo = [profile for profile in profiles if isinstance(profile.fabric, Tcpxo)]
    found: list[Object] = []
    if any(isinstance(fabric, Tcpx | Tcpxo) for fabric in fabrics):
        found.append(_device_injector([*tcpx, *tcpxo]))
    if tcpx:
        found.append(_tcpx_installer(tcpx))
    if tcpxo:
        found.append(_tcpxo_installer(tcpxo))
    if amd:
        found.append(_gib_installer("nccl-rdma-installer", GIB_PLUGIN, amd))
    if arm:
        found.append(_gib_installer("nccl-rdma-installer-arm64", GIB_PLUGIN_ARM, arm))
    if metal:
        found.append(_asapd_lite(metal))
    if cos:
        found.append(_driver_installer(cos))
    return tuple(found)


def _metal(profile: NodeProfile) -> bool:
    return isinstance(profile.fabric, NvlinkDomain) and profile.fabric.roce.bare_metal


def _tcpx_installer(profiles: Sequence[NodeProfile]) -> Object:
    return _daemon_set(
        "nccl-tcpx-installer",
        profiles,
        volumes=[host("var-lib", "/var/lib"), host("host-bin", "/home/kubernetes/bin")],
        init=[_plugin("nccl-tcpx-installer", TCPX_PLUGIN, "/var/lib/tcpx/lib64")],
    )


def _tcpxo_installer(profiles: Sequence[NodeProfile]) -> Object:
    return _daemon_set(
        "nccl-tcpxo-installer",
        profiles,
        volumes=[host("var-lib", "/var/lib"), host("host-bin", "/home/kubernetes/bin")],
        init=[
            {
                "name": "open-host",
                "image": SHELL,
                "securityContext": {"privileged": True},
                "command": ["nsenter", "-at", "1", "--", "bash", "-c", _APERTURES],
            },
            _plugin("nccl-tcpxo-installer", TCPXO_PLUGIN, "/var/lib/tcpxo/lib64"),
        ],
    )


# In the host's own namespaces: TCP is let in, the module that shares GPU memory is loaded, and each TCPXO NIC
# (PCI 1ae0:0084) becomes visible below /dev, where unprivileged pods can be given it.
_APERTURES: Final = """set -e
iptables -C INPUT -p tcp -j ACCEPT 2>/dev/null || iptables -I INPUT -p tcp -j ACCEPT
modprobe import-helper
for nic in $(lspci -nn -D | grep '1ae0:0084' | cut -d ' ' -f 1); do
  mkdir -p "/dev/aperture_devices/$nic"
  mountpoint -q "/dev/aperture_devices/$nic" || \
    mount --bind "$(readlink -f "/sys/bus/pci/devices/$nic")" "/dev/aperture_devices/$nic"
done
chmod -R a+r /dev/aperture_devices/
chmod a+rw /dev/aperture_devices/*/resource*
"""


def _plugin(name: str, image: str, installed: str) -> Object:
    script = (
        "set -e; chmod 755 /scripts/container_entry.sh; "
        "/scripts/container_entry.sh install --install-nccl; "
        f"mkdir -p /usr/local/nvidia/lib64; cp -r {installed}/. /usr/local/nvidia/lib64"
    )
    return {
        "name": name,
        "image": image,
        "resources": {"requests": {"cpu": "150m"}},
        "securityContext": {"privileged": True},
        "command": ["/bin/sh", "-c"],
        "args": [script],
        "volumeMounts": [mount("var-lib", "/var/lib"), mount("host-bin", "/usr/local")],
    }


def _gib_installer(name: str, image: str, profiles: Sequence[NodeProfile]) -> Object:
    # The x86 plugin brings NCCL itself as well; on Arm the job's image does.
    install = "install" if image == GIB_PLUGIN_ARM else "install --install-nccl"
    target = "/usr/local/home/kubernetes/bin"
    script = (
        f"set -e; /scripts/container_entry.sh {install}; "
        f"cp -r /var/lib/gib/lib64/. {target}/nvidia/lib64; cp -r /var/lib/gib/. {target}/gib"
    )
    container = {
        "name": name,
        "image": image,
        "resources": {"requests": {"cpu": "150m"}},
        "securityContext": {"privileged": True},
        "command": ["/bin/sh", "-c"],
        "args": [script],
        "volumeMounts": [mount("libraries", f"{target}/nvidia/lib64"), mount("gib", f"{target}/gib")],
    }
    libraries = {"path": f"{NVIDIA_HOST}/lib64", "type": "DirectoryOrCreate"}
    volumes = [{"name": "libraries", "hostPath": libraries}, host("gib", "/home/kubernetes/bin/gib")]
    return _daemon_set(name, profiles, volumes=volumes, init=[container])


def _device_injector(profiles: Sequence[NodeProfile]) -> Object:
    """Gives the receive daemons the GPUs that their pod's annotation names, since they are not privileged."""
    injector = {
        "name": "device-injector",
        "image": INJECTOR,
        "resources": {"requests": {"cpu": "150m"}},
        "securityContext": {"privileged": True},
        "volumeMounts": [mount("dev", "/dev"), mount("nri", "/var/run/nri")],
    }
    volumes = [host("dev", "/dev"), host("nri", "/var/run/nri")]
    return _daemon_set("device-injector", profiles, volumes=volumes, run=injector)


def _asapd_lite(profiles: Sequence[NodeProfile]) -> Object:
    """Brings the NICs of bare-metal machines up; it takes 8 GiB of the node's large pages."""
    paths = {
        "sys": "/sys",
        "proc": "/proc",
        "udev-rules": "/etc/udev/rules.d",
        "run-udev": "/run/udev",
        "run-asapd-lite": "/run/asapd-lite",
        "log": "/var/log/google/asapd-lite",
        "lib": "/var/lib/google/asapd-lite",
        "systemd": "/etc/systemd/system",
        "run-systemd": "/run/systemd",
    }
    created = {"run-asapd-lite", "log", "lib"}
    volumes = [
        {
            "name": name,
            "hostPath": {"path": path, **({"type": "DirectoryOrCreate"} if name in created else {})},
        }
        for name, path in paths.items()
    ]
    probe = {"httpGet": {"path": "/healthz", "port": 19540}}
    daemon = {
        "name": "asapd-lite",
        "image": ASAPD,
        "command": ["/usr/local/bin/run_asapd_lite.sh"],
        "args": [
            "--run_hairpin_probe=true",
            "--hairpin_sender_port_start=12345",
            "--hairpin_receiver_port_start=23456",
        ],
        "env": [{"name": "LD_LIBRARY_PATH", "value": "/asapd-lite/controller"}],
        "livenessProbe": {**probe, "initialDelaySeconds": 60},
        "readinessProbe": probe,
        "resources": {"limits": {"hugepages-2Mi": "8192Mi", "memory": "1024Mi"}},
        "securityContext": {"privileged": True},
        "volumeMounts": [
            *(mount(name, path) for name, path in paths.items()),
            mount("huge-pages", "/hugepages-2Mi"),
        ],
    }
    volumes.append({"name": "huge-pages", "emptyDir": {"medium": "HugePages-2Mi"}})
    return _daemon_set("asapd-lite", profiles, volumes=volumes, run=daemon)


def _driver_installer(profiles: Sequence[NodeProfile]) -> Object:
    """Google's driver where NVIDIA's operator owns the rest: it has no driver container for this system."""
    # A second installation over a loaded module fails; a node that restarts finds the first one's.
    script = (
        "set -e; lsmod | grep -q nvidia || /cos-gpu-installer install --version=latest; "
        f"chmod 755 /root{NVIDIA_HOST}"
    )
    paths = {"nvidia": NVIDIA_HOST, "vulkan": f"{NVIDIA_HOST}/vulkan/icd.d", "dev": "/dev", "root": "/"}
    container = {
        "name": "nvidia-driver-installer",
        "image": COS_INSTALLER,
        "imagePullPolicy": "Never",
        "resources": {"requests": {"cpu": "150m"}},
        "securityContext": {"privileged": True},
        "env": [
            {"name": key, "value": value}
            for key, value in {
                "NVIDIA_INSTALL_DIR_HOST": NVIDIA_HOST,
                "NVIDIA_INSTALL_DIR_CONTAINER": "/usr/local/nvidia",
                "VULKAN_ICD_DIR_HOST": f"{NVIDIA_HOST}/vulkan/icd.d",
                "VULKAN_ICD_DIR_CONTAINER": "/etc/vulkan/icd.d",
                "ROOT_MOUNT_DIR": "/root",
                "COS_TOOLS_DIR_HOST": "/var/lib/cos-tools",
                "COS_TOOLS_DIR_CONTAINER": "/build/cos-tools",
            }.items()
        ],
        "command": ["bash", "-c"],
        "args": [script],
        "volumeMounts": [
            mount("nvidia", "/usr/local/nvidia"),
            mount("vulkan", "/etc/vulkan/icd.d"),
            mount("dev", "/dev"),
            mount("root", "/root"),
            mount("cos-tools", "/build/cos-tools"),
        ],
    }
    volumes = [*(host(name, path) for name, path in paths.items()), host("cos-tools", "/var/lib/cos-tools")]
    # Nodes whose driver GKE installs carry this label, and must not get a second one.
    unmanaged = {"key": "cloud.google.com/gke-gpu-driver-version", "operator": "DoesNotExist"}
    return _daemon_set(
        "nvidia-driver-installer", profiles, volumes=volumes, init=[container], also=[unmanaged]
    )


def _daemon_set(
    name: str,
    profiles: Sequence[NodeProfile],
    *,
    volumes: list[Object],
    init: Sequence[Object] = (),
    run: Object | None = None,
    also: Sequence[Object] = (),
) -> Object:
    """A DaemonSet on the nodes of these machine types only, whatever their taints.

    A taint that is not tolerated leaves it at zero pods without an event (NVIDIA/k8s-device-plugin#1934).
    """
    accelerators = sorted({profile.accelerator or "" for profile in profiles})
    nodes = [{"key": "cloud.google.com/gke-accelerator", "operator": "In", "values": accelerators}, *also]
    spec: Object = {
        "priorityClassName": "system-node-critical",
        "hostNetwork": True,
        "hostPID": True,
        "tolerations": [{"operator": "Exists"}],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": nodes}]
                }
            }
        },
        "volumes": volumes,
        **({"initContainers": list(init)} if init else {}),
        "containers": [run or {"name": "pause", "image": PAUSE}],
    }
    labels = {"k8s-app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "updateStrategy": {"type": "RollingUpdate"},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
