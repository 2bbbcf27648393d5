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

__all__ = ["SystemPoolArgs", "system_pool"]

AMI_TYPES: Final = {"amd64": "AL2023_x86_64_STANDARD", "arm64": "AL2023_ARM_64_STANDARD"}
DISK_GIB: Final = 100


@dataclass(frozen=True, kw_only=True)
class SystemPoolArgs:
    """The system pool's machines.

    Attributes:
        sku: Machine type, such as `m6i.xlarge`.
        arch: Its architecture, which decides the image.
        nodes_min: Nodes that are always there.
        nodes_max: Nodes that the autoscaler may reach.
    """

    sku: str
    arch: Literal["amd64", "arm64"] = "amd64"
    nodes_min: int = 2
    nodes_max: int = 4


def system_pool(
    owner: Component,
    prefix: str,
    args: SystemPoolArgs,
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
        ami_type=AMI_TYPES[args.arch],
        capacity_type="ON_DEMAND",
        instance_types=[args.sku],
        launch_template=launch_template_of(template),
        scaling_config=eks.NodeGroupScalingConfigArgs(
            min_size=args.nodes_min, max_size=args.nodes_max, desired_size=args.nodes_min
        ),
        update_config=eks.NodeGroupUpdateConfigArgs(max_unavailable=1),
        node_repair_config=eks.NodeGroupNodeRepairConfigArgs(enabled=True),
        labels={POOL_LABEL: "system"},
        tags=tags.aws(),
        opts=owner.child(
            depends_on=[*after, *role.ready],
            # The autoscaler owns the current size. On the node group itself: on a component it does nothing
            # (pulumi/pulumi-eks#709).
            ignore_changes=["scalingConfig.desiredSize"] if args.nodes_max > args.nodes_min else [],
        ),
    )
