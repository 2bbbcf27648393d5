"""Unprivileged pods get no GPUs that they did not ask for, where the node image brings the container toolkit.

Where the GPU Operator installs the toolkit, its values say the same (`gpuplatform.profile.operator`).
Bottlerocket and GKE's own runtime are so by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from gpuplatform.component import Component
from gpuplatform.contracts import ClusterHandle
from gpuplatform.kubernetes.objects import KubernetesObject
from gpuplatform.profile import POOL_LABEL, AksDriver, AmiDriver, Driver, NodeProfile, tolerations

__all__ = ["NAMESPACE", "DeviceIsolation", "DeviceIsolationArgs", "isolation_daemon", "leaves_gpus_open"]

NAMESPACE: Final = "kube-system"
NAME: Final = "gpu-device-isolation"
IMAGE: Final = "registry.k8s.io/e2e-test-images/busybox:1.29-4"

# The toolkit reads its file at the start of each container, so nothing has to be restarted. It is written
# again and again: an update of the image's package brings the default back. The second key keeps the other
# way of handing over devices, which no environment variable of an image can take.
DONE: Final = "/tmp/done"  # noqa: S108 - in the container, where nobody else writes
SCRIPT: Final = f"""\
while true; do
  if chroot /host nvidia-ctk config --in-place \\
    --set accept-nvidia-visible-devices-envvar-when-unprivileged=false \\
    --set accept-nvidia-visible-devices-as-volume-mounts=true >/dev/null; then
    touch {DONE}
  else
    rm -f {DONE}
  fi
  sleep 60 & wait
done
"""


@dataclass(frozen=True, kw_only=True)
class DeviceIsolationArgs:
    """Which nodes are closed.

    Attributes:
        cluster: The cluster.
        profiles: All pools of the cluster; at least one of them needs it.
        pools: The GPU pools' own resources; the DaemonSet comes after them and goes before them.
    """

    cluster: ClusterHandle
    profiles: Sequence[NodeProfile]
    pools: Sequence[pulumi.Resource]


def leaves_gpus_open(driver: Driver) -> bool:
    """Whether the image's toolkit gives all GPUs to any pod whose image sets NVIDIA_VISIBLE_DEVICES=all."""
    return isinstance(driver, AksDriver) or (
        isinstance(driver, AmiDriver) and driver.ami_type.startswith("AL2023")
    )


def isolation_daemon(profiles: Sequence[NodeProfile]) -> dict[str, Any]:
    """The DaemonSet, for the pools that need it; pure.

    A node runs pods some seconds before the DaemonSet's own: what this cannot close is that window.
    Source: NVIDIA/aicr recipes/components/gpu-operator/manifests/nvidia-toolkit-hardening-aks.yaml.
    """
    labels = {"app.kubernetes.io/name": NAME}
    pools = sorted(profile.pool for profile in profiles if leaves_gpus_open(profile.driver))
    term = {"matchExpressions": [{"key": POOL_LABEL, "operator": "In", "values": pools}]}
    container = {
        "name": "isolation",
        "image": IMAGE,
        "command": ["sh", "-c", SCRIPT],
        "securityContext": {"privileged": True},  # it changes a file of the host
        "readinessProbe": {"exec": {"command": ["test", "-f", DONE]}, "periodSeconds": 10},
        "resources": {
            "requests": {"cpu": "10m", "memory": "16Mi"},
            "limits": {"memory": "64Mi"},
        },
        "volumeMounts": [{"name": "host", "mountPath": "/host"}],
    }
    pod = {
        "priorityClassName": "system-node-critical",
        "automountServiceAccountToken": False,
        "affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        },
        "tolerations": tolerations(profiles),
        "containers": [container],
        "volumes": [{"name": "host", "hostPath": {"path": "/", "type": "Directory"}}],
    }
    return {
        "metadata": {"name": NAME, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


class DeviceIsolation(Component):
    """The DaemonSet in kube-system, where privileged pods are admitted on all clouds.

    Outputs:
        daemon_set: Its name.
        namespace: Where it is.
    """

    TOKEN = "gpuplatform:index:DeviceIsolation"  # noqa: S105 - a type token, no secret

    daemon_set: str
    namespace: str

    def __init__(
        self, name: str, args: DeviceIsolationArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        cluster = args.cluster
        KubernetesObject(
            f"{name}-daemon",
            "apps/v1",
            "DaemonSet",
            isolation_daemon(args.profiles),
            self.child(
                provider=cluster.provider,
                deleted_with=cluster.cluster,
                depends_on=[*cluster.ready, *args.pools],
            ),
        )
        self.daemon_set = NAME
        self.namespace = NAMESPACE
        self.finish(daemon_set=self.daemon_set, namespace=self.namespace)
