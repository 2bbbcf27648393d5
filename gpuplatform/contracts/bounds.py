"""How many nodes a pool may have, on every cloud."""

from __future__ import annotations

from gpuplatform.errors import Refusal

__all__ = ["check_bounds"]


def check_bounds(where: str, nodes_min: int, nodes_max: int) -> None:
    """Refuses bounds that no autoscaler could keep.

    Raises:
        Refusal: They are out of order, or the pool could never have a node.
    """
    if not 0 <= nodes_min <= nodes_max or nodes_max < 1:
        raise Refusal(
            f"{nodes_min} to {nodes_max} nodes",
            where=where,
            rule="min is at least 0, max at least 1, and min is not above max",
            way_out="swap them, or raise max",
        )
