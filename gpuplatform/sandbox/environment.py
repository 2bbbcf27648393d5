"""The environment of a command inside the sandbox: the engine's attachment points, and nothing real.

Whatever could let a program or a provider reach a real account is taken out: credentials, profiles, the
addresses of credential services, the login to a real state. The cloud tools' own default files are turned to
an empty folder, so that a forgotten lazy client finds nothing either.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from gpuplatform.sandbox.workspace import Home

__all__ = ["ENGINE", "build"]

ENGINE = "GPUPLATFORM_SANDBOX_ENGINE"
"""Tells the sandbox's own `pulumi` where the engine is."""

REAL_PREFIXES = (
    "ALIBABA_CLOUD_",
    "ACTIONS_ID_TOKEN_",  # GitHub's OIDC tokens, which clouds exchange for credentials
    "ARM_",
    "AWS_",
    "AZURE_",
    "CLOUDSDK_",
    "GCE_",
    "GCLOUD_",
    "GCP_",
    "GOOGLE_",
    "HELM_",
    "KUBE_",
    "PULUMI_",
    "VAULT_",
)
REAL_NAMES = (
    "IDENTITY_ENDPOINT",
    "IDENTITY_HEADER",
    "KUBECONFIG",
    "MSI_ENDPOINT",
    "MSI_SECRET",
    "BOTO_CONFIG",
)

KEPT = (
    "ARM_LOCATION",
    "AWS_DEFAULT_REGION",
    "AWS_REGION",
    "GOOGLE_PROJECT",
    "GOOGLE_REGION",
    "GOOGLE_ZONE",
    "PULUMI_CONTINUE_ON_ERROR",
    "PULUMI_DEBUG_COMMANDS",
    "PULUMI_DEBUG_GRPC",
    "PULUMI_EXPERIMENTAL",
    "PULUMI_PARALLEL",
    "PULUMI_SKIP_CONFIRMATIONS",
    "PULUMI_STACK",
)
"""Where a program puts things and how the engine works: none of it opens an account.

Deliberately absent: PULUMI_SKIP_CHECKPOINTS. A command that is killed with it leaves nothing to recover from.
"""


def build(
    environ: Mapping[str, str], home: Home, engine: Path, providers: Mapping[str, int], language: int
) -> dict[str, str]:
    """The environment for a command.

    Args:
        environ: The user's own.
        home: The sandbox's folders.
        engine: The real `pulumi`.
        providers: Ports of the simulated clouds by package name, such as {"aws": 40001}.
        language: Port of the Python language host.
    """
    kept = {name: value for name, value in environ.items() if not _is_real(name)}
    loopback = ",".join(
        filter(None, (environ.get("NO_PROXY") or environ.get("no_proxy"), "127.0.0.1,localhost"))
    )
    return {
        **kept,
        ENGINE: str(engine),
        "GPUPLATFORM_HOME": str(home.root.parent),
        "PATH": os.pathsep.join((str(home.bin), environ.get("PATH", os.defpath))),
        # gRPC honours the proxy variables, also for 127.0.0.1.
        "NO_PROXY": loopback,
        "no_proxy": loopback,
        # Without the sidecar files of the backend's library (gocloud.dev/blob/fileblob): it empties one
        # before it writes it, and an engine killed in between leaves a state that no command can read.
        "PULUMI_BACKEND_URL": f"file://{home.state}?metadata=skip",
        # It protects nothing: what is in this state are secrets of simulated clouds.
        "PULUMI_CONFIG_PASSPHRASE": "sandbox",
        "PULUMI_DEBUG_LANGUAGES": f"python:{language}",
        "PULUMI_DEBUG_PROVIDERS": ",".join(f"{name}:{port}" for name, port in providers.items()),
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_HOME": str(home.pulumi_home),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AZURE_CONFIG_DIR": str(home.empty),
        "CLOUDSDK_CONFIG": str(home.empty),
        "KUBECONFIG": str(home.empty / "kubeconfig"),
    }


def _is_real(name: str) -> bool:
    # PULUMI_OPTION_* goes too: it sets any flag of the engine, so --remote would get in unseen by the shim.
    return name in REAL_NAMES or (name.startswith(REAL_PREFIXES) and name not in KEPT)
