"""AKS: agent pools with AKS's own autoscaler; InfiniBand on the ND machines that have it."""

from __future__ import annotations

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.profile.azure.bandwidth import bandwidth
from gpuplatform.profile.azure.capacity import (
    capacity,
    capacity_labels,
    capacity_preconditions,
    capacity_taints,
    reservation_scope,
)
from gpuplatform.profile.azure.disks import local_disks
from gpuplatform.profile.azure.drivers import driver, driver_preconditions, image
from gpuplatform.profile.azure.fabric import check_feature, fabric, fabric_preconditions
from gpuplatform.profile.azure.placement import placement, placement_preconditions, topology_levels
from gpuplatform.profile.azure.pod import pod
from gpuplatform.profile.azure.zones import check_zones
from gpuplatform.profile.fabric import InfiniBand
from gpuplatform.profile.facts import CloudFacts
from gpuplatform.profile.model import Taint

__all__ = ["check_feature", "check_zones", "facts", "reservation_scope"]


def facts(pool: NodePool, sku: Sku, where: str) -> CloudFacts:
    """Azure's answers for `pool` on `sku`.

    Raises:
        Refusal: AKS cannot run the pool so; the sentence says why and what to use instead.
    """
    plan = capacity(pool, sku, where)
    connects = fabric(pool, sku)
    node_image = image(pool, sku, connects, where)
    group = placement(pool, connects, plan, where)
    if pool.zones is not None:
        check_zones(pool, connects, plan, pool.zones, where)
    infiniband = connects if isinstance(connects, InfiniBand) else None
    return CloudFacts(
        driver=driver(pool, sku, connects, node_image, where),
        image=node_image,
        arch=sku.arch,
        gpu_taint=Taint(key="nvidia.com/gpu", value="true", effect="NoSchedule"),
        capacity=plan,
        fabric=connects,
        placement=group,
        local_disks=local_disks(pool, sku, where),
        labels=capacity_labels(plan),
        taints=capacity_taints(plan),
        fabric_resources={infiniband.resource: infiniband.adapters} if infiniband else {},
        fabric_plugins=_plugins(infiniband),
        pod=pod(pool.name, connects),
        topology_levels=topology_levels(sku),
        bandwidth=bandwidth(sku, connects),
        preconditions=(
            *fabric_preconditions(pool, sku, connects),
            *capacity_preconditions(plan, sku),
            *driver_preconditions(sku),
            *placement_preconditions(group),
        ),
    )


def _plugins(infiniband: InfiniBand | None) -> tuple[str, ...]:
    if infiniband is None:
        return ()
    return ("sriov", "dra") if infiniband.nvlink_domain else ("sriov",)
