"""How kubectl and the Kubernetes provider get into a GKE cluster: an exec plugin, no stored token; pure."""

from __future__ import annotations

import json

__all__ = ["kubeconfig", "kubeconfig_command"]


def kubeconfig(*, name: str, endpoint: str, authority: str) -> str:
    """A kubeconfig as JSON, which every YAML reader takes, that asks `gke-gcloud-auth-plugin` at each use.

    The shape is that of `gcloud container clusters get-credentials`. Whose identity the plugin uses is the
    environment's affair (gcloud's login, application default credentials in CI), so the file is the same for
    everybody.

    Args:
        name: The cluster's name, which is the context's name as well.
        endpoint: URL of its API.
        authority: Its certificate authority, base64.
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
            "users": [
                {
                    "name": name,
                    "user": {
                        "exec": {
                            # The version that the plugin answers with
                            # (https://cloud.google.com/blog/products/containers-kubernetes/kubectl-auth-changes-in-gke).
                            "apiVersion": "client.authentication.k8s.io/v1beta1",
                            "command": "gke-gcloud-auth-plugin",
                            "installHint": "gcloud components install gke-gcloud-auth-plugin",
                            "interactiveMode": "IfAvailable",
                            "provideClusterInfo": True,
                        }
                    },
                }
            ],
        }
    )


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
