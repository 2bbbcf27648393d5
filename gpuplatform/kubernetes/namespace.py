"""Namespaces of operators: privileged by declaration, since their pods mount the host and load drivers."""

from __future__ import annotations

from typing import Final

import pulumi

from gpuplatform.kubernetes.objects import KubernetesObject

__all__ = ["OperatorNamespace", "critical_pods_quota"]

CRITICAL_CLASSES: Final = ("system-node-critical", "system-cluster-critical")


class OperatorNamespace(KubernetesObject):
    """A namespace in which privileged pods are admitted.

    Where a cluster enforces Pod Security Admission by default, operators' pods are refused without this label
    (https://kubernetes.io/docs/concepts/security/pod-security-admission, Azure/aks-rdma-infiniband#15).
    Only operators' namespaces carry it, never a team's.

    Attributes:
        name: The namespace's name, plain: charts are installed into it by name.
    """

    name: str

    def __init__(self, resource_name: str, name: str, opts: pulumi.ResourceOptions) -> None:
        self.name = name
        labels = {"pod-security.kubernetes.io/enforce": "privileged"}
        super().__init__(
            resource_name, "core/v1", "Namespace", {"metadata": {"name": name, "labels": labels}}, opts
        )


def critical_pods_quota(name: str, namespace: str, opts: pulumi.ResourceOptions) -> KubernetesObject:
    """GKE admits pods of the critical priority classes only where a quota names them.

    Without it the operator's pods are refused, which shows only as a release that times out
    (NVIDIA/gpu-operator#660). The amount is that of kube-system on Google's clusters
    (kubernetes/kubernetes, cluster/gce/addons/admission-resource-quota-critical-pods): the quota is a
    permission, and a real number would stop the DaemonSets on some node of a large cluster.
    """
    scope = {"scopeName": "PriorityClass", "operator": "In", "values": list(CRITICAL_CLASSES)}
    return KubernetesObject(
        name,
        "core/v1",
        "ResourceQuota",
        {
            "metadata": {"name": f"{namespace}-critical-pods", "namespace": namespace},
            "spec": {"hard": {"pods": "1G"}, "scopeSelector": {"matchExpressions": [scope]}},
        },
        opts,
    )
