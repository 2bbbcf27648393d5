"""In-cluster resources. Source: pulumi-kubernetes, provider/pkg/provider/helm_release.go (Diff)."""

from __future__ import annotations

from typing import Final

from gpuplatform.replacement.rule import Replacement

__all__ = ["ALWAYS", "REPLACEMENTS"]

ALWAYS: Final = ("metadata.namespace", "apiVersion", "kind")
"""Where an object is, and what it is, replaces it on every type."""

REPLACEMENTS: Final = (
    # All else is an upgrade of the release.
    Replacement("kubernetes:helm.sh/v3:Release", name="name", replace=("namespace",), recomputed=("status",)),
)
