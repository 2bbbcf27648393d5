"""The all-reduce bandwidth that two nodes must reach, for the machines with a published figure."""

from __future__ import annotations

from typing import Final

from gpuplatform.catalog import Sku
from gpuplatform.profile.bandwidth import Bandwidth
from gpuplatform.profile.fabric import Fabric, InfiniBand

__all__ = ["bandwidth"]

# All of them are the busbw of the largest message, not the average over sizes. They hold for a pod as it is
# wired here, without the topology file of Azure's HPC images and without SHARP: with both an ND96isr_H100_v5
# reaches about 450 (Azure/ai-infrastructure-on-azure, sku_performance_baseline).
_FLOORS: Final[dict[str, Bandwidth]] = {
    "Standard_ND96asr_v4": Bandwidth(
        floor=180, metric="peak", source="Azure/aks-rdma-infiniband tests/expected-output.md"
    ),
    "Standard_ND96isr_H100_v5": Bandwidth(
        floor=150, metric="peak", source="two untuned nodes on AKS reach 157 GB/s"
    ),
    # Between NVLink domains; inside one about 937 is to be expected, and two nodes may stand either way.
    "Standard_ND128isr_GB300_v6": Bandwidth(
        floor=150,
        metric="peak",
        source="Azure/ai-infrastructure-on-azure skills/slurm/sku_performance_baseline",
        max_bytes=16 << 30,
    ),
}


def bandwidth(sku: Sku, connects: Fabric) -> Bandwidth | None:
    """The floor for this machine over InfiniBand; None where nobody published one, or the pool has none."""
    return _FLOORS.get(sku.name) if isinstance(connects, InfiniBand) else None
