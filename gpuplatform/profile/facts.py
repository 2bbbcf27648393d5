"""What a cloud's module answers for one machine type; the same shape on all three."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gpuplatform.profile.model import Driver, Taint

__all__ = ["CloudFacts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudFacts:
    """See `NodeProfile` for the fields that pass through.

    Attributes:
        gpu_taint: Keeps pods that ask for no GPU off the nodes.
        labels: What the cloud's own tools look for on a GPU node.
        spot_labels: What the cloud itself puts on a spot node, declared so that updates don't remove it.
        spot_taints: Likewise.
        needs_scale_hints: Whether the autoscaler must be told what a node of an empty pool looks like.
    """

    driver: Driver
    image: str
    arch: Literal["amd64", "arm64"]
    gpu_taint: Taint
    accelerator: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    spot_labels: dict[str, str] = field(default_factory=dict)
    spot_taints: tuple[Taint, ...] = ()
    needs_scale_hints: bool = False
