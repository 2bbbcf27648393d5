"""How to get into an AKS cluster: by exec plugin, never a stored token; pure."""

from __future__ import annotations

import base64
import binascii
from typing import Final

import yaml

from gpuplatform.errors import GpuPlatformError
from gpuplatform.kubernetes.kubeconfig import exec_kubeconfig

__all__ = ["AKS_SERVER_ID", "kubeconfig", "kubeconfig_command"]

AKS_SERVER_ID: Final = "6dae42f8-4368-4678-94ff-3960e28e3630"
"""The Entra application that every AKS API server is: https://azure.github.io/kubelogin/concepts/aks.html."""


def kubeconfig(*, name: str, credentials: str) -> str:
    """A kubeconfig that asks `kubelogin` at each use, from what `listClusterUserCredential` returned.

    AKS's own is not passed on: its exec entry logs in by device code, which only a person can answer. This
    one takes the Azure CLI's login, and kubelogin lets AAD_LOGIN_METHOD (`workloadidentity` in a pipeline,
    `msi` on a virtual machine) take precedence over `--login`
    (Azure/kubelogin docs/book/src/concepts/login-modes/devicecode.md).

    Args:
        name: The cluster's name, which is the context's name as well.
        credentials: The kubeconfig that AKS returned, base64: it alone tells the certificate authority.

    Raises:
        GpuPlatformError: It is no kubeconfig with a server and its certificate authority.
    """
    endpoint, authority = _endpoint(name, credentials)
    plugin = {
        "command": "kubelogin",
        "args": ["get-token", "--login", "azurecli", "--server-id", AKS_SERVER_ID],
        "installHint": "kubelogin is missing: az aks install-cli, or https://azure.github.io/kubelogin",
    }
    return exec_kubeconfig(name=name, endpoint=endpoint, authority=authority, plugin=plugin)


def kubeconfig_command(name: str, group: str, subscription: str) -> str:
    """What a person types to get the same into their own kubeconfig."""
    return (
        f"az aks get-credentials --subscription {subscription} --resource-group {group} --name {name}"
        " && kubelogin convert-kubeconfig --login azurecli"
    )


def _endpoint(name: str, credentials: str) -> tuple[str, str]:
    try:
        found = yaml.safe_load(base64.b64decode(credentials, validate=True))
        entry = found["clusters"][0]["cluster"]
        return entry["server"], entry["certificate-authority-data"]
    except (binascii.Error, yaml.YAMLError, UnicodeDecodeError, LookupError, TypeError):
        raise GpuPlatformError(
            f"AKS returned no usable kubeconfig for {name}",
            rule="a kubeconfig names the API server and its certificate authority",
            way_out="the deploying identity needs the role Azure Kubernetes Service Cluster User Role",
        ) from None
