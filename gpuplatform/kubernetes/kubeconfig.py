"""A kubeconfig that gets its token from an exec plugin at each use; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["exec_kubeconfig"]


def exec_kubeconfig(*, name: str, endpoint: str, authority: str, plugin: Mapping[str, Any]) -> str:
    """A kubeconfig as JSON, which every YAML reader takes; it holds no credential.

    Args:
        name: The cluster's name, which is the context's name as well.
        endpoint: URL of its API.
        authority: Its certificate authority, base64.
        plugin: The `exec` entry: a command, its arguments, and what is particular to it
            (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#configuration).
    """
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {"name": name, "cluster": {"server": endpoint, "certificate-authority-data": authority}}
            ],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
            "users": [{"name": name, "user": {"exec": {**_ASKED, **plugin}}}],
        }
    )


_ASKED = {
    # The version that the AWS CLI, kubelogin and gke-gcloud-auth-plugin answer with.
    "apiVersion": "client.authentication.k8s.io/v1beta1",
    "interactiveMode": "IfAvailable",
    "provideClusterInfo": False,
}
