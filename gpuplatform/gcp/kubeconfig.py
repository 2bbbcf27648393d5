"""How to get into a GKE cluster: by exec plugin, never a stored token; pure."""

from __future__ import annotations

from gpuplatform.kubernetes.kubeconfig import exec_kubeconfig

__all__ = ["kubeconfig", "kubeconfig_command"]


def kubeconfig(*, name: str, endpoint: str, authority: str) -> str:
    """A kubeconfig that asks `gke-gcloud-auth-plugin` at each use.

    As `gcloud container clusters get-credentials` writes it
    (https://cloud.google.com/blog/products/containers-kubernetes/kubectl-auth-changes-in-gke). Whose identity
    the plugin uses is the environment's affair (gcloud's login, application default credentials in CI), so
    the file is the same for everybody.

    Args:
        name: The cluster's name, which is the context's name as well.
        endpoint: URL of its API.
        authority: Its certificate authority, base64.
    """
    plugin = {
        "command": "gke-gcloud-auth-plugin",
        "installHint": "gcloud components install gke-gcloud-auth-plugin",
        "provideClusterInfo": True,
    }
    return exec_kubeconfig(name=name, endpoint=endpoint, authority=authority, plugin=plugin)


def kubeconfig_command(name: str, region: str, project: str, *, internal: bool) -> str:
    """What a person types to get the same into their own kubeconfig.

    Args:
        name: The cluster's name.
        region: The cluster's region.
        project: The project's ID.
        internal: Whether the API has no address outside the network.
    """
    command = f"gcloud container clusters get-credentials {name} --region {region} --project {project}"
    return f"{command} --internal-ip" if internal else command
