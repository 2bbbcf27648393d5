"""What Google calls the GPUs of a machine type, and how a GPU on an N1 host is spelt."""

from __future__ import annotations

from typing import Final

from gpuplatform.catalog import Sku
from gpuplatform.errors import Refusal

__all__ = ["accelerator", "machine_type"]

# Source: https://cloud.google.com/kubernetes-engine/docs/concepts/gpus, "Available GPU models"; the key is
# the catalogue's family, since one GPU model has several names (H100 on a3-high and on a3-mega).
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


def accelerator(sku: Sku, where: str) -> str:
    """The name of the machine's GPUs in GKE's API, such as `nvidia-h100-80gb`.

    Raises:
        Refusal: The host of an attached GPU is missing, or the machine has a share of a GPU.
    """
    if sku.attaches_to_host:
        gpu = sku.name.removeprefix("n1+")
        raise Refusal(
            f"{sku.name} is a GPU without a host",
            where=f"{where}.sku",
            rule="a GPU that is attached to an N1 host is named with its host",
            way_out=f"name the host too: n1-standard-8+{gpu}",
        )
    if sku.gpu_count < 1:
        raise Refusal(
            f"{sku.name} has {sku.gpu_count} of a GPU",
            where=f"{where}.sku",
            # A share is a virtual GPU: GoogleCloudPlatform/container-engine-accelerators has an installer of
            # its own for it (nvidia-driver-installer/cos/daemonset-vgpu-latest.yaml).
            rule="a share of a GPU needs the virtual GPU's driver, which nothing here installs",
            way_out="choose g4-standard-48 (one whole GPU) and let pods share it: sharing: {kind: mig, ...}",
        )
    attached = sku.name.partition("+")[2].partition(":")[0]
    return attached or _ACCELERATORS[sku.family]


def machine_type(sku_name: str) -> str:
    """The machine type as Google's API takes it: the host alone where GPUs are attached to one."""
    return sku_name.partition("+")[0]
