"""The footprint of a stack's configuration, before any resource exists."""

from __future__ import annotations

from gpuplatform import catalog
from gpuplatform.config import NodePool, Platform
from gpuplatform.config.defaults import system_sku
from gpuplatform.errors import Refusal
from gpuplatform.guardrails.footprint import ControlPlane, Footprint, NodeGroup, by_name
from gpuplatform.profile import NoFabric, node_profile

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
            fabric=None if cloud == "azure" else False,
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
                fabric=_fabric(config, pool),
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


def _fabric(config: Platform, pool: NodePool) -> bool | None:
    """Whether the pool's interfaces for collectives would be attached; None where nobody attaches them.

    A pool that cannot be built, or whose machine nobody knows, is refused elsewhere.
    """
    cloud = config.cloud.provider
    sku = catalog.load().sku(cloud, pool.sku)
    if cloud == "azure" or sku is None:
        return None
    try:
        return not isinstance(node_profile(pool, sku).fabric, NoFabric)
    except Refusal:
        return None
