"""Who installs the driver on GKE, and what follows from it: the image, a label, the device plugin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile.driver import GkeDriver, OperatorDriver

__all__ = ["COS", "NO_GKE_PLUGIN", "UBUNTU", "Ownership", "ownership"]

COS: Final = "COS_CONTAINERD"
UBUNTU: Final = "UBUNTU_CONTAINERD"

NO_GKE_PLUGIN: Final = "gke-no-default-nvidia-gpu-device-plugin"
"""The label that keeps GKE's device plugin off a node, and with it the step that finishes GKE's driver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """One of the three combinations that work.

    Attributes:
        driver: Who installs it.
        image: The node image in GKE's API.
        labels: Node labels that belong to it.
        gpu_plugin: Who advertises `nvidia.com/gpu`.
    """

    driver: GkeDriver | OperatorDriver
    image: str
    labels: dict[str, str]
    gpu_plugin: Literal["gke", "gpu-operator"]


def ownership(pool: NodePool, sku: Sku, where: str) -> Ownership:
    """The owner of the driver on the pool's nodes.

    Google's driver is finished by an init container of GKE's own device plugin: with the label that turns the
    plugin off, a node comes up without a driver; without it beside NVIDIA's plugin, each GPU is advertised
    twice (NVIDIA/aicr#1716, pull requests 1998 and 2047). So version, label, plugin and installer are decided
    here, together.

    Raises:
        Refusal: The two settings that clash, named.
    """
    image = _image(pool, sku, where)
    if image == UBUNTU and pool.driver == "cloud":
        raise Refusal(
            "driver: cloud and image: ubuntu do not go together on GKE",
            where=f"{where}.driver",
            rule="Google's driver is used on Container-Optimized OS; on Ubuntu the GPU Operator brings one",
            way_out="use driver: cloud with image: cos, or driver: operator with image: ubuntu",
        )
    if image == COS and pool.driver != "operator":
        return Ownership(driver=_google_driver(sku), image=COS, labels={}, gpu_plugin="gke")
    return Ownership(
        driver=OperatorDriver(host="gke-ubuntu" if image == UBUNTU else "gke-cos"),
        image=image,
        labels={NO_GKE_PLUGIN: "true"},
        gpu_plugin="gpu-operator",
    )


def _google_driver(sku: Sku) -> GkeDriver:
    # Google's own blueprint for the RTX PRO 6000 asks for LATEST, those of all others for the default
    # (GoogleCloudPlatform/cluster-toolkit, examples/gke-g4/gke-g4.yaml).
    return GkeDriver(version="LATEST" if sku.family == "g4" else "DEFAULT")


def _image(pool: NodePool, sku: Sku, where: str) -> str:
    match pool.image:
        case None | "cos":
            return COS
        case "ubuntu":
            if sku.arch == "arm64":
                raise Refusal(
                    f"image: ubuntu and sku: {sku.name} do not go together on GKE",
                    where=f"{where}.image",
                    rule="GKE's GPU machines with Arm processors run Container-Optimized OS",
                    way_out="use image: cos",
                )
            return UBUNTU
        case other:
            raise Refusal(
                f"GKE has no node image {other}",
                where=f"{where}.image",
                way_out="use cos (Container-Optimized OS) or ubuntu",
            )
