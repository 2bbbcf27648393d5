"""The all-reduce bandwidth that two nodes must reach, for the machines with a published figure."""

from __future__ import annotations

from typing import Final

from gpuplatform.catalog import Sku
from gpuplatform.profile.bandwidth import Bandwidth
from gpuplatform.profile.fabric import Efa, Fabric

__all__ = ["bandwidth"]

# The validator reads the busbw of the largest message, which is the peak of a healthy run
# (NVIDIA/aicr validators/performance/nccl_all_reduce_bw_constraint.go).
_FLOORS: Final[dict[str, Bandwidth]] = {
    "p5.48xlarge": Bandwidth(
        floor=300, metric="peak", source="NVIDIA/aicr recipes/overlays/h100-eks-ubuntu-training.yaml"
    ),
}


def bandwidth(sku: Sku, connects: Fabric) -> Bandwidth | None:
    """The floor for this machine over EFA; None where nobody published one, or the pool has no EFA."""
    return _FLOORS.get(sku.name) if isinstance(connects, Efa) else None
