"""The system node group: general-purpose machines for what the cluster itself needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import pulumi
from pulumi_aws import eks

from gpuplatform.aws.launch_template import launch_template, launch_template_of
from gpuplatform.aws.role import Role
from gpuplatform.component import Component
from gpuplatform.profile import POOL_LABEL
from gpuplatform.tags import Tags

__all__ = ["Arch", "SystemPool", "system_pool"]

Arch = Literal["amd64", "arm64"]

AMI_TYPES: Final[dict[Arch, str]] = {"amd64": "AL2023_x86_64_STANDARD", "arm64": "AL2023_ARM_64_STANDARD"}
DISK_GIB: Final = 100


@dataclass(frozen=True, kw_only=True)
class SystemPool:
    """The system pool's machines: type and architecture, and the autoscaler's bounds."""

    sku: str
    arch: Arch
    nodes_min: int
    nodes_max: int


def system_pool(
    owner: Component,
    prefix: str,
    pool: SystemPool,
    *,
    name: str,
    cluster: Any,
    kubernetes_version: str,
    role: Role,
    subnet_ids: Sequence[pulumi.Input[str]],
    tags: Tags,
    after: Sequence[pulumi.Resource],
) -> Any:
    """The node group as a child of `owner`.

    It has no taint: CoreDNS, the autoscaler and operators' controllers run here, kept off the GPU nodes by
    those nodes' own taints. Its physical name ends in random characters, unlike the GPU pools': another
    machine type replaces the group, and CoreDNS must have the new nodes before the old ones go.
    """
    logical = f"{prefix}-system"
    template = launch_template(owner, logical, node_name=f"{name}-system", disk_gib=DISK_GIB, tags=tags)
    return eks.NodeGroup(
        logical,
        cluster_name=cluster.name,
        version=kubernetes_version,
        node_role_arn=role.arn,
        subnet_ids=subnet_ids,
        ami_type=AMI_TYPES[pool.arch],
        capacity_type="ON_DEMAND",
        instance_types=[pool.sku],
        launch_template=launch_template_of(template),
        scaling_config=eks.NodeGroupScalingConfigArgs(
            min_size=pool.nodes_min, max_size=pool.nodes_max, desired_size=pool.nodes_min
        ),
        update_config=eks.NodeGroupUpdateConfigArgs(max_unavailable=1),
        node_repair_config=eks.NodeGroupNodeRepairConfigArgs(enabled=True),
        labels={POOL_LABEL: "system"},
        tags=tags.aws(),
        opts=owner.child(
            depends_on=[*after, *role.ready],
            # The autoscaler owns the current size. On the node group itself: on a component it does nothing
            # (pulumi/pulumi-eks#709).
            ignore_changes=["scalingConfig.desiredSize"] if pool.nodes_max > pool.nodes_min else [],
        ),
    )
