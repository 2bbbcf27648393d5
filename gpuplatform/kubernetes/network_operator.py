"""NVIDIA's Network Operator: InfiniBand for pods, with its drivers, on AKS.

Sources: Mellanox/network-operator v26.4.1 (hack/release.yaml for the images that belong together, deployment/
network-operator for the values); Azure/aks-rdma-infiniband configs/ for what differs on Azure.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from gpuplatform.contracts import ClusterHandle
from gpuplatform.kubernetes.charts import NETWORK_OPERATOR, Chart
from gpuplatform.kubernetes.namespace import OperatorNamespace
from gpuplatform.kubernetes.objects import KubernetesObject
from gpuplatform.kubernetes.release import ReleaseComponent
from gpuplatform.profile import InfiniBand, NodeProfile, tolerations

__all__ = [
    "NAMESPACE",
    "NetworkOperator",
    "NetworkOperatorArgs",
    "infiniband_rule",
    "network_operator_values",
    "nic_cluster_policy",
]

NAMESPACE: Final = "network-operator"
RELEASE: Final = "network-operator"
TIMEOUT_SECONDS: Final = 900

IMAGES: Final = "nvcr.io/nvidia/mellanox"
IMAGE_VERSION: Final = "network-operator-v26.4.1"
MOFED_VERSION: Final = "doca3.4.1-26.04-1.1.0.0-1"

PRESENT: Final = "feature.node.kubernetes.io/pci-15b3.present"
"""The node label that says "InfiniBand here"; the GPU Operator's validator asks for it as well."""

SHARED_PODS: Final = 1000
"""How many pods may hold the adapters of a node at once, where they are shared."""


@dataclass(frozen=True, kw_only=True)
class NetworkOperatorArgs:
    """What the operator is installed into, and for which pools.

    Attributes:
        cluster: The cluster.
        profiles: All pools of the cluster.
        pools: The GPU pools' own resources; the operator comes after them and goes before them.
        chart: The chart and its version.
    """

    cluster: ClusterHandle
    profiles: Sequence[NodeProfile]
    pools: Sequence[pulumi.Resource]
    chart: Chart = NETWORK_OPERATOR


def network_operator_values(profiles: Sequence[NodeProfile]) -> dict[str, Any]:
    """The chart's values; pure.

    It brings the cluster's one Node Feature Discovery, and the GPU Operator's is off: InfiniBand must be
    known before the GPU driver is built. Its own rule for network cards stays off: it labels every Mellanox
    adapter, and on Azure accelerated networking gives one to machines without InfiniBand as well.
    """
    return {
        "nfd": {"enabled": True, "deployNodeFeatureRules": False},
        "node-feature-discovery": {"worker": {"tolerations": tolerations(profiles)}},
        "sriovNetworkOperator": {"enabled": False},
        "maintenanceOperator": {"enabled": False},
    }


def infiniband_rule() -> dict[str, Any]:
    """The NodeFeatureRule that finds Azure's InfiniBand: the virtual functions 101c and 101e."""
    vendor = {"op": "In", "value": ["15b3"]}
    device = {"op": "In", "value": ["101c", "101e"]}
    found = {"feature": "pci.device", "matchExpressions": {"vendor": vendor, "device": device}}
    return {
        "metadata": {"name": "infiniband"},
        "spec": {"rules": [{"name": "infiniband", "labels": {PRESENT: "true"}, "matchFeatures": [found]}]},
    }


def nic_cluster_policy(profiles: Sequence[NodeProfile]) -> dict[str, Any]:
    """The NicClusterPolicy: MOFED from a container, and who hands the adapters to pods."""
    resources = {p.fabric.resource for p in profiles if isinstance(p.fabric, InfiniBand)}
    term = {"matchExpressions": [{"key": PRESENT, "operator": "In", "values": ["true"]}]}
    return {
        "metadata": {"name": "nic-cluster-policy"},  # the operator looks at no other name
        "spec": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}},
            "tolerations": tolerations(profiles),
            "ofedDriver": _mofed(),
            **({"sriovDevicePlugin": _exclusive()} if "rdma/ib" in resources else {}),
            **({"rdmaSharedDevicePlugin": _shared()} if "rdma/shared_ib" in resources else {}),
        },
    }


def _mofed() -> dict[str, Any]:
    return {
        "repository": IMAGES,
        "image": "doca-driver",
        "version": MOFED_VERSION,
        # The module that the host loaded first would else win (Mellanox/doca-driver-build#52).
        "env": [
            {
                "name": "OFED_BLACKLIST_MODULES_FILE",
                "value": "/host/etc/modprobe.d/blacklist-ofed-modules.conf",
            }
        ],
        "startupProbe": {"initialDelaySeconds": 10, "periodSeconds": 20},
        "livenessProbe": {"initialDelaySeconds": 30, "periodSeconds": 30},
        "readinessProbe": {"initialDelaySeconds": 10, "periodSeconds": 30},
        # As with the GPU driver: one node at a time, after its jobs have ended.
        "upgradePolicy": {
            "autoUpgrade": True,
            "maxParallelUpgrades": 1,
            "waitForCompletion": {"podSelector": "batch.kubernetes.io/job-name", "timeoutSeconds": 0},
            "drain": {"enable": True, "force": False, "deleteEmptyDir": True, "timeoutSeconds": 300},
        },
    }


def _exclusive() -> dict[str, Any]:
    """`rdma/ib`: each adapter is one pod's at a time."""
    selectors = {"vendors": ["15b3"], "linkTypes": ["infiniband"], "isRdma": True}
    found = {"resourcePrefix": "rdma", "resourceName": "ib", "selectors": selectors}
    return _plugin("sriov-network-device-plugin", {"resourceList": [found]})


def _shared() -> dict[str, Any]:
    """`rdma/shared_ib`: every pod that asks gets all adapters of its node."""
    selectors = {"vendors": ["15b3"], "linkTypes": ["infiniband"]}
    found = {"resourceName": "shared_ib", "rdmaHcaMax": SHARED_PODS, "selectors": selectors}
    return _plugin("k8s-rdma-shared-dev-plugin", {"periodicUpdateInterval": 300, "configList": [found]})


def _plugin(image: str, config: dict[str, Any]) -> dict[str, Any]:
    return {"repository": IMAGES, "image": image, "version": IMAGE_VERSION, "config": json.dumps(config)}


class NetworkOperator(ReleaseComponent):
    """The operator, the rule that finds the adapters, and the policy that says what to do with them.

    Outputs: those of every release.

    Attributes:
        policy: What the GPU Operator comes after: its driver is built against MOFED's.
    """

    TOKEN = "gpuplatform:index:NetworkOperator"  # noqa: S105 - a type token, no secret

    policy: KubernetesObject

    def __init__(
        self, name: str, args: NetworkOperatorArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        cluster = args.cluster
        nodes = (*cluster.ready, *args.pools)
        namespace = OperatorNamespace(f"{name}-namespace", NAMESPACE, self.in_cluster(cluster, nodes))
        release = self.install(
            name,
            args.chart,
            cluster=cluster,
            release=RELEASE,
            namespace=namespace.name,
            values=network_operator_values(args.profiles),
            after=[namespace, *nodes],
            timeout=TIMEOUT_SECONDS,
        )
        # The kinds come with the release: nothing of them can be made before it.
        rule = KubernetesObject(
            f"{name}-infiniband",
            "nfd.k8s-sigs.io/v1alpha1",
            "NodeFeatureRule",
            infiniband_rule(),
            self.in_cluster(cluster, [release, *nodes]),
        )
        self.policy = KubernetesObject(
            f"{name}-policy",
            "mellanox.com/v1alpha1",
            "NicClusterPolicy",
            nic_cluster_policy(args.profiles),
            self.in_cluster(cluster, [release, rule, *nodes]),
        )
        self.finish_release(release, namespace=namespace.name, chart=args.chart)
