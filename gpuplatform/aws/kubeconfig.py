"""How to get into an EKS cluster: by exec plugin, never a stored token; pure."""

from __future__ import annotations

import json

__all__ = ["kubeconfig", "kubeconfig_command"]


def kubeconfig(*, name: str, region: str, endpoint: str, authority: str) -> str:
    """A kubeconfig as JSON, which every YAML reader takes, that asks `aws eks get-token` at each use.

    The shape is that of `aws eks update-kubeconfig`. Which identity the AWS CLI uses is the environment's
    affair (AWS_PROFILE, a role in CI), so the file is the same for everybody.

    Args:
        name: The cluster's name, which is the context's name as well.
        region: The cluster's region.
        endpoint: URL of its API.
        authority: Its certificate authority, base64.
    """
    plugin = {
        # The version that the AWS CLI answers with.
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "aws",
        "args": ["--region", region, "eks", "get-token", "--cluster-name", name, "--output", "json"],
        "interactiveMode": "IfAvailable",
        "provideClusterInfo": False,
    }
    cluster = {"server": endpoint, "certificate-authority-data": authority}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": cluster}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
            "users": [{"name": name, "user": {"exec": plugin}}],
        }
    )


def kubeconfig_command(name: str, region: str) -> str:
    """What a person types to get the same into their own kubeconfig."""
    return f"aws eks update-kubeconfig --region {region} --name {name}"
