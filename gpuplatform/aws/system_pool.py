"""The system node group: general-purpose machines for what the cluster itself needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import pulumi
from pulumi_aws import eks

from gpuplatform.aws.identity import Role
from gpuplatform.aws.launch_template import launch_template, launch_template_of
from gpuplatform.component import Component
from gpuplatform.contracts import ClusterArgs
from gpuplatform.profile import POOL_LABEL

__all__ = ["Arch", "system_pool"]

Arch = Literal["amd64", "arm64"]

AMI_TYPES: Final[dict[Arch, str]] = {"amd64": "AL2023_x86_64_STANDARD", "arm64": "AL2023_ARM_64_STANDARD"}
DISK_GIB: Final = 100


def system_pool(
    owner: Component,
    prefix: str,
    args: ClusterArgs,
    *,
    arch: Arch,
    cluster: Any,
    role: Role,
    subnet_ids: Sequence[pulumi.Input[str]],
    after: Sequence[pulumi.Resource],
) -> Any:
    """The node group as a child of `owner`, created after `after`.

    It has no taint: CoreDNS, the autoscaler and operators' controllers run here, kept off the GPU nodes by
    those nodes' own taints. Its physical name ends in random characters, unlike the GPU pools': another
    machine type replaces the group, and CoreDNS must have the new nodes before the old ones go.
    """
    logical = f"{prefix}-system"
    template = launch_template(
        owner, logical, node_name=f"{args.name}-system", disk_gib=DISK_GIB, tags=args.tags
    )
    return eks.NodeGroup(
        logical,
        cluster_name=cluster.name,
        version=args.kubernetes_version,
        node_role_arn=role.arn,
        subnet_ids=subnet_ids,
        ami_type=AMI_TYPES[arch],
        capacity_type="ON_DEMAND",
        instance_types=[args.system_sku],
        launch_template=launch_template_of(template),
        scaling_config=eks.NodeGroupScalingConfigArgs(
            min_size=args.system_min, max_size=args.system_max, desired_size=args.system_min
        ),
        update_config=eks.NodeGroupUpdateConfigArgs(max_unavailable=1),
        node_repair_config=eks.NodeGroupNodeRepairConfigArgs(enabled=True),
        labels={POOL_LABEL: "system"},
        tags=args.tags.aws(),
        opts=owner.child(
            depends_on=[*after, *role.ready],
            # The autoscaler owns the current size. On the node group itself: on a component it does nothing
            # (pulumi/pulumi-eks#709).
            ignore_changes=["scalingConfig.desiredSize"] if args.system_autoscaled else [],
        ),
    )
