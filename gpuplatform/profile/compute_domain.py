"""A job's own NVLink domain over several nodes: NVIDIA's driver for compute domains (DRA)."""

from __future__ import annotations

from typing import Any

__all__ = ["compute_domain", "domain_claim"]


def compute_domain(pool: str) -> dict[str, Any]:
    """The object that must exist in the pods' namespace; its channel is what they claim.

    `numNodes` 0 lets the domain grow with the job's pods: a number would hold the job back until as many have
    come (NVIDIA/k8s-dra-driver-gpu, feature gate IMEXDaemonsWithDNSNames, on by default).
    """
    return {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": {"name": f"{pool}-domain"},
        "spec": {"numNodes": 0, "channel": {"resourceClaimTemplate": {"name": f"{pool}-channel"}}},
    }


def domain_claim(pool: str) -> dict[str, str]:
    """An entry of the pod's `resourceClaims`: a channel of the pool's domain."""
    return {"name": "domain", "resourceClaimTemplateName": f"{pool}-channel"}
