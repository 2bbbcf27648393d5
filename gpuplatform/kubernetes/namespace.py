"""Namespaces of operators: privileged by declaration, since their pods mount the host and load drivers."""

from __future__ import annotations

import pulumi

from gpuplatform.kubernetes.objects import KubernetesObject

__all__ = ["OperatorNamespace"]


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
