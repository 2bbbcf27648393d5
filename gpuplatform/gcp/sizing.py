"""How many nodes a pool has: the configuration counts a pool's, GKE in places those of a zone; pure."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PoolSize", "pool_size"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSize:
    """The size of a node pool.

    Attributes:
        autoscaled: Whether GKE's autoscaler decides between the pool's bounds.
        per_zone: Nodes in each zone: for good where it is not autoscaled, else at the start.
    """

    autoscaled: bool
    per_zone: int


def pool_size(nodes_min: int, nodes_max: int, zones: int) -> PoolSize:
    """The size of a pool of `nodes_min` to `nodes_max` nodes in all, in `zones` zones.

    A pool of a fixed size is autoscaled all the same where its zones cannot share it evenly: only the
    autoscaler knows a total. An autoscaled pool starts at its minimum, rounded up to a whole number for each
    zone unless that goes past its maximum: the autoscaler takes away what is idle, while it need not add what
    is missing (https://cloud.google.com/kubernetes-engine/docs/concepts/cluster-autoscaler, "Minimum and
    maximum node pool size").

    Raises:
        ValueError: The bounds are out of order, or there is no zone.
    """
    if not 0 <= nodes_min <= nodes_max or nodes_max < 1 or zones < 1:
        raise ValueError(f"no pool has {nodes_min} to {nodes_max} nodes in {zones} zones")
    if nodes_min == nodes_max and nodes_min % zones == 0:
        return PoolSize(autoscaled=False, per_zone=nodes_min // zones)
    rounded_up = -(-nodes_min // zones)
    fits = rounded_up * zones <= nodes_max
    return PoolSize(autoscaled=True, per_zone=rounded_up if fits else nodes_min // zones)
