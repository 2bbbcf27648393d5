"""What an agent pool's nodes need so that they reach each other: a proximity placement group, or nothing.

InfiniBand comes with the machine and takes no resource: a feature of the subscription keeps a pool on one
network of it, and the Network Operator does the rest inside the cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_azure_native import compute

from gpuplatform.azure.cluster import AksClusterIds
from gpuplatform.azure.identity import CONTRIBUTOR, grant
from gpuplatform.component import Component
from gpuplatform.profile import NodeProfile
from gpuplatform.tags import Tags

__all__ = ["Near", "proximity_group"]


@dataclass(frozen=True, kw_only=True)
class Near:
    """Where a pool's nodes stand.

    Attributes:
        id: The group's ID; None where the nodes may stand anywhere.
        ready: What must exist before AKS can place a node there.
    """

    id: pulumi.Input[str] | None = None
    ready: tuple[pulumi.Resource, ...] = ()


def proximity_group(
    owner: Component,
    prefix: str,
    tags: Tags,
    *,
    cluster: AksClusterIds,
    profile: NodeProfile,
    zones: tuple[str, ...],
) -> Near:
    """The group that the profile asks for: a new one, the user's own, or none.

    A new one is told what it is for: Azure then chooses a data centre of the zone that has the machines. The
    cluster's identity writes to it when it adds nodes
    (https://learn.microsoft.com/azure/aks/aks-service-permissions), and a user's own must let it.
    """
    if profile.placement.kind == "existing":
        return Near(id=profile.placement.name)
    if profile.placement.kind != "proximity":
        return Near()
    group = compute.ProximityPlacementGroup(
        f"{prefix}-near",
        # A cluster's name has 63 characters at most and a pool's 12, a group's 80.
        proximity_placement_group_name=pulumi.Output.concat(cluster.cluster_name, "-", profile.pool),
        resource_group_name=cluster.resource_group_name,
        proximity_placement_group_type=compute.ProximityPlacementGroupType.STANDARD,
        intent=compute.ProximityPlacementGroupPropertiesIntentArgs(vm_sizes=[profile.sku]),
        zones=list(zones),
        tags=tags.azure(),
        opts=owner.child(),
    )
    if cluster.control_plane_principal_id is None:
        return Near(id=group.id)
    writes = grant(owner, f"{prefix}-places-nodes", cluster.control_plane_principal_id, CONTRIBUTOR, group.id)
    return Near(id=group.id, ready=(writes,))
