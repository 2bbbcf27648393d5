"""The system node pool: general-purpose machines for what the cluster itself needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pulumi

from gpuplatform.component import Component
from gpuplatform.contracts import ClusterArgs
from gpuplatform.gcp.node_pool import NodePool, node_pool

__all__ = ["system_pool"]

DISK_GIB: Final = 100


def system_pool(
    owner: Component,
    prefix: str,
    args: ClusterArgs,
    *,
    cluster: Any,
    zones: tuple[str, ...],
    service_account: pulumi.Input[str],
    after: Sequence[pulumi.Resource],
) -> pulumi.Resource:
    """The node pool as a child of `owner`, created after `after`.

    It has no taint: controllers of everything installed later run here, kept off the GPU nodes by those
    nodes' own taints.
    """
    pool: pulumi.Resource = node_pool(
        owner,
        f"{prefix}-system-pool",
        NodePool(
            name="system",
            cluster=cluster.name,
            location=args.region,
            zones=zones,
            nodes_min=args.system_min,
            nodes_max=args.system_max,
            sku=args.system_sku,
            image="COS_CONTAINERD",
            disk_gib=DISK_GIB,
            service_account=service_account,
            tags=args.tags,
            secure_boot=True,
            surge=1,
        ),
        after=after,
    )
    return pool
