"""A GKE node pool: what system and GPU pools have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi
from pulumi_gcp import container

from gpuplatform.component import Component
from gpuplatform.contracts import TAINT_EFFECTS
from gpuplatform.gcp.sizing import pool_size
from gpuplatform.profile import Taint
from gpuplatform.tags import Tags

__all__ = ["NodePool", "node_pool"]

_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
"""All APIs: what nodes may do is for their service account's roles to say, not for scopes
(https://cloud.google.com/compute/docs/access/service-accounts#scopes_best_practice)."""


@dataclass(frozen=True, kw_only=True)
class NodePool:
    """One node pool.

    Attributes:
        name: Its name in the cluster.
        cluster: The cluster's name.
        location: The cluster's region.
        zones: Where its nodes are.
        nodes_min: Nodes in all zones together that are always there.
        nodes_max: Nodes in all zones together that the autoscaler may reach.
        sku: Machine type.
        image: Node image, such as `COS_CONTAINERD`.
        disk_gib: Boot disk, GiB.
        service_account: Address of the nodes' service account.
        tags: Labels of the pool's machines and disks.
        labels: Kubernetes labels.
        taints: Kubernetes taints.
        accelerators: GPUs of each node.
        secure_boot: Whether only signed kernels and modules start.
        surge: Nodes that an upgrade adds before it takes old ones away; none means that it takes one first.
        repaired: Whether GKE replaces broken nodes.
        any_zone: Whether the autoscaler takes whichever zone has machines, instead of spreading nodes evenly.
        node_config: What else `nodeConfig` holds.
        arguments: What else the node pool holds.
        replaced_on: Inputs that GKE would change in place, and that replace the pool instead.
    """

    name: str
    cluster: pulumi.Input[str]
    location: str
    zones: tuple[str, ...]
    nodes_min: int
    nodes_max: int
    sku: str
    image: str
    disk_gib: int
    service_account: pulumi.Input[str]
    tags: Tags
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[Taint] = ()
    accelerators: Sequence[Any] = ()
    secure_boot: bool
    surge: int
    repaired: bool = True
    any_zone: bool = False
    node_config: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    replaced_on: Sequence[str] = ()


def node_pool(owner: Component, logical: str, pool: NodePool, *, after: Sequence[pulumi.Resource]) -> Any:
    """The pool as a child of `owner`, created after `after`."""
    size = pool_size(pool.nodes_min, pool.nodes_max, len(pool.zones))
    return container.NodePool(
        logical,
        name=pool.name,
        cluster=pool.cluster,
        location=pool.location,
        node_locations=list(pool.zones),
        initial_node_count=size.per_zone if size.autoscaled else None,
        node_count=None if size.autoscaled else size.per_zone,
        autoscaling=_autoscaling(pool) if size.autoscaled else None,
        # A release channel accepts no "off" for upgrades ("Auto_upgrade must be true when release_channel
        # REGULAR is set"); the cluster's maintenance exclusion holds them back (settings.py).
        management=container.NodePoolManagementArgs(auto_repair=pool.repaired, auto_upgrade=True),
        upgrade_settings=container.NodePoolUpgradeSettingsArgs(
            strategy="SURGE", max_surge=pool.surge, max_unavailable=0 if pool.surge else 1
        ),
        node_config=_node_config(pool),
        **pool.arguments,
        opts=owner.child(
            depends_on=list(after),
            # The name is taken while the old pool stands.
            delete_before_replace=True,
            # Sizes are the autoscaler's once the pool runs, and another initial size would replace it
            # (pulumi/pulumi-eks#709 is the same on AWS). Here, on the child: on a component it does nothing.
            ignore_changes=["initialNodeCount", "nodeCount"] if size.autoscaled else [],
            replace_on_changes=list(pool.replaced_on),
        ),
    )


def _autoscaling(pool: NodePool) -> Any:
    """Bounds for all zones together, since that is what the configuration and the budget count."""
    return container.NodePoolAutoscalingArgs(
        total_min_node_count=pool.nodes_min,
        total_max_node_count=pool.nodes_max,
        # ANY goes to the zone that has the machines, which spot and GPUs need; BALANCED spreads over zones
        # (https://cloud.google.com/kubernetes-engine/docs/concepts/cluster-autoscaler, "Location policy").
        location_policy="ANY" if pool.any_zone else "BALANCED",
    )


def _node_config(pool: NodePool) -> Any:
    """Deliberately absent: the disk type, for which GKE picks one that most machine types support."""
    config: dict[str, Any] = {
        "machine_type": pool.sku,
        "image_type": pool.image,
        "disk_size_gb": pool.disk_gib,
        "spot": False,
        "service_account": pool.service_account,
        "oauth_scopes": [_SCOPE],
        "labels": dict(pool.labels),
        "resource_labels": pool.tags.gcp(),
        "taints": [
            container.NodePoolNodeConfigTaintArgs(key=t.key, value=t.value, effect=TAINT_EFFECTS[t.effect])
            for t in pool.taints
        ],
        "guest_accelerators": list(pool.accelerators),
        "gvnic": container.NodePoolNodeConfigGvnicArgs(enabled=True),
        "shielded_instance_config": container.NodePoolNodeConfigShieldedInstanceConfigArgs(
            enable_secure_boot=pool.secure_boot, enable_integrity_monitoring=True
        ),
        # Pods get Workload Identity, never the nodes' own account, from the metadata server.
        "workload_metadata_config": container.NodePoolNodeConfigWorkloadMetadataConfigArgs(
            mode="GKE_METADATA"
        ),
        # What the API adds by itself; undeclared, it would be a difference.
        "metadata": {"disable-legacy-endpoints": "true"},
    }
    return container.NodePoolNodeConfigArgs(**{**config, **pool.node_config})
