"""A kubeconfig that holds no credential: kubelogin asks Entra for a token at each use; pure."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Final

import yaml

from gpuplatform.errors import GpuPlatformError

__all__ = ["AKS_SERVER_ID", "exec_kubeconfig"]

AKS_SERVER_ID: Final = "6dae42f8-4368-4678-94ff-3960e28e3630"
"""The Entra application that every AKS API server is: https://azure.github.io/kubelogin/concepts/aks.html."""


def exec_kubeconfig(cluster: str, credentials: str) -> str:
    """The kubeconfig of `cluster`, as JSON, from what `listClusterUserCredential` returned.

    AKS's own is not passed on: its exec entry logs in by device code, which only a person can answer. This
    one takes the Azure CLI's login, and kubelogin lets AAD_LOGIN_METHOD (`workloadidentity` in a pipeline,
    `msi` on a virtual machine) take precedence over `--login`
    (Azure/kubelogin docs/book/src/concepts/login-modes/devicecode.md).

    Args:
        cluster: The cluster's physical name.
        credentials: The kubeconfig that AKS returned, base64.

    Raises:
        GpuPlatformError: It is no kubeconfig with a server and its certificate authority.
    """
    server, authority = _endpoint(cluster, credentials)
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": cluster, "cluster": {"server": server, "certificate-authority-data": authority}}
        ],
        "users": [{"name": cluster, "user": {"exec": _exec()}}],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": cluster}}],
        "current-context": cluster,
    }
    return json.dumps(config)


def _exec() -> dict[str, Any]:
    return {
        "apiVersion": "client.authentication.k8s.io/v1beta1",  # the version that kubelogin speaks
        "command": "kubelogin",
        "args": ["get-token", "--login", "azurecli", "--server-id", AKS_SERVER_ID],
        "installHint": "kubelogin is missing: az aks install-cli, or https://azure.github.io/kubelogin",
        "interactiveMode": "IfAvailable",
        "provideClusterInfo": False,
    }


def _endpoint(cluster: str, credentials: str) -> tuple[str, str]:
    try:
        found = yaml.safe_load(base64.b64decode(credentials, validate=True))
        entry = found["clusters"][0]["cluster"]
        return entry["server"], entry["certificate-authority-data"]
    except (binascii.Error, yaml.YAMLError, UnicodeDecodeError, LookupError, TypeError):
        raise GpuPlatformError(
            f"AKS returned no usable kubeconfig for {cluster}",
            rule="a kubeconfig names the API server and its certificate authority",
            way_out="the deploying identity needs the role Azure Kubernetes Service Cluster User Role",
        ) from None
