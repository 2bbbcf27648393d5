"""How several pods share one GPU: a closed union; left out, a pod has whole GPUs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gpuplatform.config.base import Model

__all__ = ["Mig", "Mps", "Sharing", "TimeSlicing"]

Replicas = Annotated[
    # The device plugin refuses one (NVIDIA/k8s-device-plugin#1433); its documented ceiling for MPS is 48.
    int, Field(ge=2, le=48, description="Pods that share one GPU.")
]

Rename = Annotated[
    bool | None,
    Field(
        description="Advertise nvidia.com/gpu.shared, so that no pod gets a share unawares; left out: "
        "wherever the device plugin can, which GKE's own cannot."
    ),
]


class Mig(Model):
    """Slices with memory and compute of their own, in hardware."""

    kind: Literal["mig"]
    profile: Annotated[str, Field(pattern=r"^\d+g\.\d+gb(\+me)?$", description="Such as 1g.10gb.")]


class TimeSlicing(Model):
    """Turns on the whole GPU; memory is shared and nothing is isolated."""

    kind: Literal["time-slicing"]
    replicas: Replicas
    rename: Rename = None


class Mps(Model):
    """CUDA's Multi-Process Service: shares of memory and compute, limits enforced by the driver."""

    kind: Literal["mps"]
    replicas: Replicas
    rename: Rename = None


Sharing = Annotated[Mig | TimeSlicing | Mps, Field(discriminator="kind")]
