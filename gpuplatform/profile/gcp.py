"""GKE: Container-Optimized OS with Google's driver and device plugin, GKE's own autoscaler."""

from __future__ import annotations

from typing import Final

from gpuplatform.catalog import Sku
from gpuplatform.errors import Refusal
from gpuplatform.profile.facts import CloudFacts
from gpuplatform.profile.model import GkeDriver, Taint

__all__ = ["facts"]

# Source: https://cloud.google.com/kubernetes-engine/docs/concepts/gpus, "Available GPU models"; the key is
# the catalogue's family, since one GPU model has several accelerator names (H100 on a3-high and on a3-mega).
_ACCELERATORS: Final[dict[str, str]] = {
    "a2-standard": "nvidia-tesla-a100",
    "a2-ultra": "nvidia-a100-80gb",
    "a3-high": "nvidia-h100-80gb",
    "a3-edge": "nvidia-h100-80gb",
    "a3-mega": "nvidia-h100-mega-80gb",
    "a3-ultra": "nvidia-h200-141gb",
    "a4": "nvidia-b200",
    "a4x": "nvidia-gb200",
    "a4x-max": "nvidia-gb300",
    "g2": "nvidia-l4",
    "g4": "nvidia-rtx-pro-6000",
}


def facts(sku: Sku, where: str) -> CloudFacts:
    """Google Cloud's answers for `sku`.

    Raises:
        Refusal: The machine is an N1 host with GPUs attached to it, whose type does not name its GPUs.
    """
    accelerator = _ACCELERATORS.get(sku.family)
    if accelerator is None:
        raise Refusal(
            f"{sku.name} attaches GPUs to an N1 host",
            where=where,
            rule="a pool's machine type names its GPUs, so that count and price follow from it",
            way_out="choose g2-standard-4 (one L4) or larger: gpuplatform sku list --cloud gcp",
        )
    return CloudFacts(
        driver=GkeDriver(),
        image="COS_CONTAINERD",
        arch="arm64" if sku.arch == "arm64" else "amd64",
        accelerator=accelerator,
        # GKE adds this taint only where another pool without GPUs exists already, and then it differs from
        # what was declared and recreates the pool: so it is always declared, with GKE's own value
        # (terraform-google-modules/terraform-google-kubernetes-engine#703).
        gpu_taint=Taint(key="nvidia.com/gpu", value="present", effect="NoSchedule"),
        # GKE labels spot nodes cloud.google.com/gke-spot=true by itself, and sets no taint.
    )
