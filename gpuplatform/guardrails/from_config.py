"""The footprint of a stack's configuration, before any resource exists."""

from __future__ import annotations

from gpuplatform.config import Platform
from gpuplatform.config.defaults import system_sku
from gpuplatform.guardrails.footprint import ControlPlane, Footprint, NodeGroup, by_name

__all__ = ["footprint_of_config"]


def footprint_of_config(config: Platform) -> Footprint:
    """What the stack would run; subjects are named as the configuration names them."""
    cloud, region = config.cloud.provider, config.cloud.region
    zones = tuple(sorted(config.network.zones))
    system = config.cluster.system
    groups = [
        NodeGroup(
            name="system",
            where="cluster.system",
            cloud=cloud,
            machine=system_sku(config),
            region=region,
            zones=zones,
            nodes_min=system.nodes.min,
            nodes_max=system.nodes.max,
            asks_for_gpus=False,
        ),
        *(
            NodeGroup(
                name=pool.name,
                where=f"node_pools.{pool.name}",
                cloud=cloud,
                machine=pool.sku,
                region=region,
                zones=tuple(sorted(pool.zones)) if pool.zones else zones,
                nodes_min=pool.nodes.min,
                nodes_max=pool.nodes.max,
                capacity=pool.capacity.kind,
                asks_for_gpus=True,
                purpose=pool.purpose,
            )
            for pool in config.node_pools
        ),
    ]
    plane = ControlPlane(
        name=config.physical_name,
        where="cluster",
        cloud=cloud,
        region=region,
        kubernetes_version=config.cluster.kubernetes_version,
        support=config.cluster.support,
    )
    return Footprint(node_groups=by_name(groups), control_planes=(plane,))
