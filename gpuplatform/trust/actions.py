"""The GitHub Actions that a workflow uses, pinned by commit: a tag can be moved to other code."""

from __future__ import annotations

from typing import Final

__all__ = ["ACTIONS", "RUNNER", "uses"]

RUNNER: Final = "ubuntu-24.04"

ACTIONS: Final[dict[str, tuple[str, str]]] = {
    # Name: the commit that the release's tag names, and the release, as of 2026-11.
    "actions/checkout": ("08c6903cd8c0fde910a37f88322edcfb5dd907a8", "v5.0.0"),
    "actions/setup-python": ("e797f83bcb11b83ae66e0230d6156d7c80228e7c", "v6.0.0"),
    "aws-actions/configure-aws-credentials": ("e6de054238d6b7531b4efff3b6587d9aade6a06c", "v6.2.3"),
    "azure/use-kubelogin": ("0ce7c36141aa27d4934872cf00b0120804c98a29", "v1.3"),
    "google-github-actions/auth": ("7c6bc770dae815cd3e89ee6cdf493a5fab2cc093", "v3.0.0"),
    "google-github-actions/setup-gcloud": ("aa5489c8933f4cc7a4f7d45035b3b1440c9c10db", "v3.0.1"),
    "pulumi/actions": ("8e5e406f4007fca908480587cb9893c07090f58d", "v7.0.0"),
}


def uses(action: str) -> str:
    """What a step's `uses:` says: the action and its commit."""
    return f"{action}@{ACTIONS[action][0]}"
