"""Objects of the Kubernetes API, as plain resources: `pulumi_kubernetes.core.v1` is a large module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from gpuplatform.component import PlainResource

__all__ = ["KubernetesObject"]


class KubernetesObject(PlainResource):
    """One object of the API.

    Args:
        resource_name: Pulumi's logical name.
        group_version: As the provider's tokens spell it: `core/v1`, `rbac.authorization.k8s.io/v1`.
        kind: Such as `Namespace`.
        body: The object's fields beside `apiVersion` and `kind`, in the API's own camelCase.
        opts: Must name the cluster's provider, itself or through a parent: the ambient kubeconfig is never
            meant.
    """

    SDK = "pulumi-kubernetes"

    metadata: pulumi.Output[dict[str, Any]]

    def __init__(
        self,
        resource_name: str,
        group_version: str,
        kind: str,
        body: Mapping[str, Any],
        opts: pulumi.ResourceOptions,
    ) -> None:
        # The core group's objects say v1, while the provider's tokens say core/v1.
        api_version = group_version.removeprefix("core/")
        props = {"apiVersion": api_version, "kind": kind, **body}
        super().__init__(f"kubernetes:{group_version}:{kind}", resource_name, props, opts)
