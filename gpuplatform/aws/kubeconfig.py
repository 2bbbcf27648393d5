"""How to get into an EKS cluster: by exec plugin, never a stored token; pure."""

from __future__ import annotations

from gpuplatform.kubernetes.kubeconfig import exec_kubeconfig

__all__ = ["kubeconfig", "kubeconfig_command"]


def kubeconfig(*, name: str, endpoint: str, authority: str, region: str) -> str:
    """A kubeconfig that asks `aws eks get-token` at each use, as `aws eks update-kubeconfig` writes it.

    Which identity the AWS CLI uses is the environment's affair (AWS_PROFILE, a role in CI), so the file is
    the same for everybody.

    Args:
        name: The cluster's name, which is the context's name as well.
        endpoint: URL of its API.
        authority: Its certificate authority, base64.
        region: The cluster's region.
    """
    plugin = {
        "command": "aws",
        "args": ["--region", region, "eks", "get-token", "--cluster-name", name, "--output", "json"],
    }
    return exec_kubeconfig(name=name, endpoint=endpoint, authority=authority, plugin=plugin)


def kubeconfig_command(name: str, region: str) -> str:
    """What a person types to get the same into their own kubeconfig."""
    return f"aws eks update-kubeconfig --region {region} --name {name}"
