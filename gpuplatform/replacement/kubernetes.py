"""In-cluster resources.

Source: pulumi-kubernetes, provider/pkg/provider/diff.go (objects) and helm_release.go (releases).
"""

from __future__ import annotations

from typing import Final

from gpuplatform.replacement.rule import Replacement

__all__ = ["ALWAYS", "REPLACEMENTS"]

ALWAYS: Final = ("metadata.namespace", "apiVersion", "kind")
"""Where an object is, and what it is, replaces it on every type."""

REPLACEMENTS: Final = (
    Replacement("kubernetes:core/v1:PersistentVolume", replace=("spec.csi",)),
    Replacement("kubernetes:core/v1:PersistentVolumeClaim", replace=("spec",)),
    Replacement(
        "kubernetes:storage.k8s.io/v1:StorageClass",
        replace=("parameters", "provisioner"),
        # "updates to reclaimPolicy are forbidden" (kubernetes/kubernetes, pkg/apis/storage/validation).
        immutable=("reclaimPolicy", "volumeBindingMode"),
    ),
    # All else is an upgrade of the release.
    Replacement("kubernetes:helm.sh/v3:Release", name="name", replace=("namespace",), recomputed=("status",)),
)
