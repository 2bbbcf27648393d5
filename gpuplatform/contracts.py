"""What the clouds have in common, as the layers above see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from gpuplatform.catalog import Cloud

__all__ = ["ClusterHandle"]


@dataclass(frozen=True, kw_only=True)
class ClusterHandle:
    """A running cluster, whatever its cloud.

    Attributes:
        cloud: Which cloud it is on.
        name: Its physical name.
        id: What identifies it for good: ARN (AWS), resource ID (Azure), resource name (GCP: without the API's
            version, so not the self link). It is the Kubernetes provider's `cluster_identifier`: only when it
            changes are the objects in the cluster replaced (pulumi/pulumi-kubernetes#4019).
        endpoint: URL of the Kubernetes API.
        kubeconfig: A kubeconfig that gets its token from the cloud's exec plugin; it holds no credential,
            and is a secret all the same, since it tells where the API is.
        kubeconfig_command: What a person types to get a kubeconfig.
        oidc_issuer: The issuer of the cluster's service account tokens.
        provider: The Kubernetes provider that belongs to the cluster.
        cluster: The cloud's cluster resource: what `deleted_with` names.
        ready: What must exist before anything can run in the cluster: system nodes, add-ons, access.
    """

    cloud: Cloud
    name: pulumi.Output[str]
    id: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    kubeconfig: pulumi.Output[str]
    kubeconfig_command: pulumi.Output[str]
    oidc_issuer: pulumi.Output[str]
    provider: kubernetes.Provider
    cluster: pulumi.Resource
    ready: Sequence[pulumi.Resource]
