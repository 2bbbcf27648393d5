"""Images of managed node groups, each of which brings the GPU driver with it."""

from __future__ import annotations

from typing import Final

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.config.sharing import Mig
from gpuplatform.errors import Refusal
from gpuplatform.profile.driver import AmiDriver

__all__ = ["bottlerocket", "driver", "image_labels"]

# Bottlerocket runs these itself; the operator starts its own on every node that does not say so
# (NVIDIA/aicr, recipes for Bottlerocket).
_BOTTLEROCKET_OWNS: Final = ("container-toolkit", "device-plugin", "driver", "mig-manager")


def driver(pool: NodePool, sku: Sku, where: str) -> AmiDriver:
    """The image of the pool's nodes, which owns the driver.

    Raises:
        Refusal: EKS has no such image, or the image leaves no room for what the pool asks for.
    """
    if pool.image not in {None, "al2023", "bottlerocket"}:
        raise Refusal(
            f"EKS has no managed node group of {pool.image}",
            where=f"{where}.image",
            rule="its GPU images are Amazon Linux 2023 and Bottlerocket",
            way_out="use image: al2023, or image: bottlerocket",
        )
    if pool.driver == "operator":
        # Its driver container ends in ImagePullBackOff there (NVIDIA/gpu-operator#686); Bottlerocket loads no
        # module that is not its own.
        raise Refusal(
            "NVIDIA's GPU Operator cannot install the driver on EKS's images",
            where=f"{where}.driver",
            rule="Amazon Linux and Bottlerocket have the driver in the image, and no container for it",
            way_out="leave driver out, or say driver: cloud",
        )
    if sku.gpu_model == "GB200":
        _grace_blackwell(pool, sku, where)
    if pool.image == "bottlerocket":
        return AmiDriver(
            ami_type="BOTTLEROCKET_ARM_64_NVIDIA" if sku.arch == "arm64" else "BOTTLEROCKET_x86_64_NVIDIA"
        )
    return AmiDriver(ami_type="AL2023_ARM_64_NVIDIA" if sku.arch == "arm64" else "AL2023_x86_64_NVIDIA")


def bottlerocket(ami: AmiDriver) -> bool:
    """Whether the image is Bottlerocket, which also advertises the GPUs itself."""
    return ami.ami_type.startswith("BOTTLEROCKET")


def image_labels(ami: AmiDriver) -> dict[str, str]:
    """Labels that keep the operator from running what the image runs already."""
    owned = _BOTTLEROCKET_OWNS if bottlerocket(ami) else ()
    return {f"nvidia.com/gpu.deploy.{part}": "false" for part in owned}


def _grace_blackwell(pool: NodePool, sku: Sku, where: str) -> None:
    """Source: https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-nvidia-ultraserver.html."""
    if pool.image == "bottlerocket":
        raise Refusal(
            f"Bottlerocket has no IMEX service for the NVLink domain of {sku.name}",
            where=f"{where}.image",
            rule="Amazon Linux 2023 for Arm has it",
            way_out="use image: al2023",
        )
    if isinstance(pool.sharing, Mig):
        raise Refusal(
            f"the GPUs of {sku.name} cannot be cut by MIG on EKS",
            where=f"{where}.sharing",
            rule="its image's driver manages GPU memory itself (CDMM), which excludes MIG",
            way_out="share them by kind: time-slicing or mps",
        )
