"""What a GPU node's image is told before it joins: local disks, huge pages, Bottlerocket's sharing; pure."""

from __future__ import annotations

import base64
import json
from typing import Any, Final

from gpuplatform.profile import AmiDriver, Efa, NodeProfile, SharedGpu

__all__ = ["user_data"]

# EKS adds a part of its own, with the cluster's name and address, so this says nothing else
# (https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html, "Amazon EC2 user data"). RAID0
# takes one disk or more, and moves the kubelet's and containerd's directories onto them
# (https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/).
_NODE_CONFIG: Final = """\
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  instance:
    localStorage:
      strategy: RAID0

--//--
"""

_BIND: Final = ("/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods")
_NVIDIA: Final = "settings.kubelet-device-plugins.nvidia"

# bottlerocket-os/bottlerocket-core-kit, sources/nvidia-migmanager: GPUs by model and memory.
_MIG_GPUS: Final[dict[str, str]] = {
    "p4d": "a100.40gb",
    "p4de": "a100.80gb",
    "p5": "h100.80gb",
    "p5e": "h200.141gb",
    "p5en": "h200.141gb",
}


def user_data(profile: NodeProfile) -> str:
    """Base64 text for the launch template; empty where the image needs to be told nothing."""
    text = _bottlerocket(profile) if _is_bottlerocket(profile) else _al2023(profile)
    return base64.b64encode(text.encode()).decode()


def _is_bottlerocket(profile: NodeProfile) -> bool:
    return isinstance(profile.driver, AmiDriver) and profile.driver.ami_type.startswith("BOTTLEROCKET")


def _al2023(profile: NodeProfile) -> str:
    return _NODE_CONFIG if profile.local_disks.mode == "ephemeral" else ""


def _bottlerocket(profile: NodeProfile) -> str:
    """TOML, which EKS merges with its own (https://bottlerocket.dev, "Settings")."""
    tables: dict[str, dict[str, Any]] = {}
    if profile.local_disks.mode == "ephemeral":
        commands = [["apiclient", "ephemeral-storage", "init"]]
        commands.append(["apiclient", "ephemeral-storage", "bind", "--dirs", *_BIND])
        disks = {"commands": commands, "mode": "always", "essential": True}
        tables["settings.bootstrap-commands.local-disks"] = disks
    if isinstance(profile.fabric, Efa):
        # Amazon Linux sets them aside with its EFA driver; here nobody does.
        tables["settings.kernel.sysctl"] = {"vm.nr_hugepages": "5128"}
    if profile.sharing is not None:
        tables.update(_sharing(profile.sharing, profile.sku))
    return "\n".join(_table(name, values) for name, values in tables.items())


def _sharing(sharing: SharedGpu, sku: str) -> dict[str, dict[str, Any]]:
    """https://bottlerocket.dev, "kubelet-device-plugins"."""
    if sharing.kind == "mig":
        gpu = _MIG_GPUS[sku.partition(".")[0]]
        return {
            _NVIDIA: {"device-partitioning-strategy": "mig"},
            f"{_NVIDIA}.mig.profile": {gpu: sharing.profile},
        }
    shares: dict[str, Any] = {"replicas": sharing.per_gpu}
    if sharing.kind == "time-slicing":
        shares |= {
            "rename-by-default": sharing.resource.endswith(".shared"),
            "fail-requests-greater-than-one": True,
        }
    return {_NVIDIA: {"device-sharing-strategy": sharing.kind}, f"{_NVIDIA}.{sharing.kind}": shares}


def _table(name: str, values: dict[str, Any]) -> str:
    # JSON's strings, numbers, booleans and arrays of them are TOML's.
    lines = (f"{json.dumps(key)} = {json.dumps(value)}" for key, value in values.items())
    return "\n".join((f"[{name}]", *lines, ""))
