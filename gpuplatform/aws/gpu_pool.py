"""A pool of GPU nodes on EKS: one managed node group, as its profile says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_aws import eks

from gpuplatform.aws.cluster import EksCluster
from gpuplatform.aws.launch_template import launch_template, launch_template_of
from gpuplatform.aws.resource import AwsResource
from gpuplatform.component import Component
from gpuplatform.errors import Refusal
from gpuplatform.naming import problem
from gpuplatform.profile import AmiDriver, NodeProfile
from gpuplatform.tags import Tags

__all__ = ["EksClusterIds", "EksGpuPool", "EksGpuPoolArgs"]

EFFECTS: Final = {
    "NoSchedule": "NO_SCHEDULE",
    "PreferNoSchedule": "PREFER_NO_SCHEDULE",
    "NoExecute": "NO_EXECUTE",
}
"""EKS spells taint effects its own way (https://docs.aws.amazon.com/eks/latest/APIReference/API_Taint.html)."""

MOST_TAINTS: Final = 50
"""Of a node group (https://docs.aws.amazon.com/eks/latest/userguide/node-taints-managed-node-groups.html)."""
MOST_GROUP_TAGS: Final = 50
"""Of an Auto Scaling group (kubernetes/autoscaler, proposals/circumvent-tag-limit-aws.md)."""
EKS_GROUP_TAGS: Final = 5
"""EKS's own: eks:cluster-name, eks:nodegroup-name, kubernetes.io/cluster/..., two for the autoscaler."""

_HINTS: Final = "k8s.io/cluster-autoscaler/node-template/"


@dataclass(frozen=True, kw_only=True)
class EksClusterIds:
    """An existing EKS cluster, for a pool of one's own in it.

    Attributes:
        cluster_name: Its name.
        kubernetes_version: The minor that the nodes get; at most the control plane's.
        node_role_arn: A role with the policies that EKS nodes need.
        subnet_by_zone: One private subnet's ID for each zone.
        before_nodes: What must exist before a node group is created, such as the CNI add-on.
    """

    cluster_name: pulumi.Input[str]
    kubernetes_version: str
    node_role_arn: pulumi.Input[str]
    subnet_by_zone: Mapping[str, pulumi.Input[str]]
    before_nodes: Sequence[pulumi.Resource] = ()


@dataclass(frozen=True, kw_only=True)
class EksGpuPoolArgs:
    """One GPU pool.

    Attributes:
        cluster: The cluster component, or the IDs of an existing cluster.
        profile: What the nodes are: `gpuplatform.profile.node_profile`.
        nodes_min: Nodes that are always there; 0 lets the pool scale from zero.
        nodes_max: Nodes that the autoscaler may reach.
        zones: Zones of the cluster's network that the pool uses.
        tags: Tags of every resource, of the instances, their disks and interfaces.
    """

    cluster: EksCluster | EksClusterIds
    profile: NodeProfile
    nodes_min: int
    nodes_max: int
    zones: tuple[str, ...]
    tags: Tags


class EksGpuPool(Component):
    """A managed node group of one GPU machine type.

    The machine type is set on the node group, not in the launch template: the two refuse each other, and here
    a policy reads it before anything exists. Another machine type replaces the group, the old one first:
    two pools at once would need twice the GPU quota, and a reservation holds only one.

    The autoscaler owns the number of nodes between the bounds, and EKS refuses bounds that exclude the
    current number. Where an update says so, set `nodes_min` and `nodes_max` both to the bound that was
    refused: a fixed size is applied. The next update takes the bounds that were meant.

    Outputs:
        node_group_name: The node group's name.
        node_group_arn: Its ARN.
        autoscaling_group: Name of the Auto Scaling group that EKS made for it.

    Attributes:
        node_group: The resource that everything on GPUs depends on.

    Raises:
        Refusal: EKS cannot hold the pool as it is described.
    """

    TOKEN = "gpuplatform:index:EksGpuPool"  # noqa: S105 - a type token, no secret

    node_group: pulumi.Resource
    node_group_name: pulumi.Output[str]
    node_group_arn: pulumi.Output[str]
    autoscaling_group: pulumi.Output[str]

    def __init__(self, name: str, args: EksGpuPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        hints = args.profile.scale_from_zero if args.nodes_min == 0 else {}
        _check(args, hints)
        super().__init__(name, opts)
        self._name = name
        self._args = args
        group = self._node_group()
        self.node_group = group
        self.node_group_name = group.node_group_name
        self.node_group_arn = group.arn
        self.autoscaling_group = group.resources[0].autoscaling_groups[0].name
        for key, value in hints.items():
            # On the Auto Scaling group itself: a node group's tags do not reach it
            # (aws/containers-roadmap#724).
            AwsResource(
                "aws:autoscaling/tag:Tag",
                f"{name}-{key.removeprefix(_HINTS)}",
                {
                    "autoscalingGroupName": self.autoscaling_group,
                    "tag": {"key": key, "value": value, "propagateAtLaunch": False},
                },
                self.child(),
            )
        self.finish(
            node_group_name=self.node_group_name,
            node_group_arn=self.node_group_arn,
            autoscaling_group=self.autoscaling_group,
        )

    def _node_group(self) -> Any:
        args, profile, driver = self._args, self._args.profile, _driver(self._args.profile)
        logical = f"{self._name}-gpu-pool"
        template = launch_template(
            self,
            logical,
            node_name=pulumi.Output.concat(args.cluster.cluster_name, "-", profile.pool),
            disk_gib=profile.disk_gib,
            tags=args.tags,
        )
        return eks.NodeGroup(
            logical,
            cluster_name=args.cluster.cluster_name,
            node_group_name=profile.pool,
            version=args.cluster.kubernetes_version,
            node_role_arn=args.cluster.node_role_arn,
            subnet_ids=[args.cluster.subnet_by_zone[zone] for zone in args.zones],
            ami_type=driver.ami_type,
            # Spot is asked for here and nowhere else: managed node groups refuse market options in the
            # launch template, and have no maximum price (terraform-provider-aws#18025).
            capacity_type="SPOT" if profile.spot else "ON_DEMAND",
            instance_types=[profile.sku],
            launch_template=launch_template_of(template),
            scaling_config=eks.NodeGroupScalingConfigArgs(
                min_size=args.nodes_min, max_size=args.nodes_max, desired_size=args.nodes_min
            ),
            # The old node goes before the new one comes, one at a time. By default EKS first launches up to
            # two more in each zone: GPUs that no quota and no budget has room for
            # (https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html).
            update_config=eks.NodeGroupUpdateConfigArgs(max_unavailable=1, update_strategy="MINIMAL"),
            node_repair_config=eks.NodeGroupNodeRepairConfigArgs(enabled=True),
            labels=profile.labels,
            taints=[
                eks.NodeGroupTaintArgs(key=taint.key, value=taint.value or None, effect=EFFECTS[taint.effect])
                for taint in profile.taints
            ],
            tags=args.tags.aws(),
            opts=self.child(
                depends_on=list(args.cluster.before_nodes),
                delete_before_replace=True,
                # Without it each update would set an autoscaled pool back to its minimum; where the size is
                # fixed, a change of it must get through (pulumi/pulumi-eks#709).
                ignore_changes=["scalingConfig.desiredSize"] if args.nodes_max > args.nodes_min else [],
            ),
        )


def _driver(profile: NodeProfile) -> AmiDriver:
    """The driver's owner; always the image: Amazon Linux has no driver container (gpu-operator#686)."""
    if not isinstance(profile.driver, AmiDriver):
        raise Refusal(
            f"the profile's driver is {type(profile.driver).__name__}",
            where=f"node_pools.{profile.pool}",
            rule="on EKS the driver is part of the node's image",
            way_out="make the profile from a machine type of AWS",
        )
    return profile.driver


def _check(args: EksGpuPoolArgs, hints: Mapping[str, str]) -> None:
    profile = args.profile
    where = f"node_pools.{profile.pool}"
    _driver(profile)
    if (why := problem("EKS node group", profile.pool)) is not None:
        raise Refusal(why, where=f"{where}.name")
    if stray := sorted(set(args.zones) - set(args.cluster.subnet_by_zone)):
        raise Refusal(
            f"{', '.join(stray)} is no zone of the cluster's network",
            where=f"{where}.zones",
            way_out=f"choose among {', '.join(args.cluster.subnet_by_zone)}",
        )
    if len(profile.taints) > MOST_TAINTS:
        raise Refusal(
            f"the pool has {len(profile.taints)} taints",
            where=f"{where}.taints",
            rule=f"a managed node group takes {MOST_TAINTS}",
            way_out="leave some out",
        )
    room = MOST_GROUP_TAGS - EKS_GROUP_TAGS
    if len(hints) > room:
        raise Refusal(
            f"the pool scales from zero and has {len(hints)} labels, taints and resources to announce",
            where=f"{where}.labels",
            rule=f"each is a tag of its Auto Scaling group, which has room for {room} beside EKS's own",
            way_out="leave labels out, or keep one node: nodes.min: 1",
        )
