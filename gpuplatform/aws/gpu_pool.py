"""A pool of GPU nodes on EKS: one managed node group, as its profile says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_aws import eks

from gpuplatform.aws.cluster import EksCluster, EksClusterIds
from gpuplatform.aws.fabric import fabric_security_group, placement_group
from gpuplatform.aws.launch_template import launch_template, launch_template_of
from gpuplatform.aws.machines import machines
from gpuplatform.aws.resource import AwsResource, LaunchTemplate
from gpuplatform.contracts import TAINT_EFFECTS, GpuPoolArgs, GpuPoolComponent, driver_of
from gpuplatform.errors import Refusal
from gpuplatform.profile import AmiDriver, Efa
from gpuplatform.profile.aws import why_one_zone
from gpuplatform.profile.sharing import MIG_LABEL

__all__ = ["EksGpuPool", "EksGpuPoolArgs"]

MOST_TAINTS: Final = 50
"""Of a node group (https://docs.aws.amazon.com/eks/latest/userguide/node-taints-managed-node-groups.html)."""
MOST_GROUP_TAGS: Final = 50
"""Of an Auto Scaling group (kubernetes/autoscaler, proposals/circumvent-tag-limit-aws.md)."""
EKS_GROUP_TAGS: Final = 5
"""EKS's own: eks:cluster-name, eks:nodegroup-name, kubernetes.io/cluster/..., two for the autoscaler."""

CAPACITY_TYPES: Final = {
    "on-demand": "ON_DEMAND",
    "spot": "SPOT",
    "reservation": "ON_DEMAND",
    "capacity-block": "CAPACITY_BLOCK",
}
"""By kind of capacity. The SDK's own list lacks the last (hashicorp/terraform-provider-aws#40876)."""

REPLACED_ON: Final = (f'labels["{MIG_LABEL}"]',)
"""EKS would change it in place, and the MIG manager cut GPUs anew under the pods that use them."""

_HINTS: Final = "k8s.io/cluster-autoscaler/node-template/"


@dataclass(frozen=True, kw_only=True)
class EksGpuPoolArgs(GpuPoolArgs):
    """What an `EksGpuPool` is made of: the arguments of every pool, and its cluster.

    Attributes:
        cluster: The cluster, or the IDs of one that exists.

    Raises:
        Refusal: EKS cannot hold the pool as it is described.
    """

    KIND = "EKS node group"
    # The driver is part of the image: Amazon Linux has no driver container (NVIDIA/gpu-operator#686).
    DRIVER = (AmiDriver,)

    cluster: EksCluster | EksClusterIds

    def __post_init__(self) -> None:
        super().__post_init__()
        known = self.cluster_ids.subnet_by_zone
        if stray := sorted(set(self.zones) - set(known)):
            raise Refusal(
                f"{', '.join(stray)} is no zone of the cluster's network",
                where=f"{self.where}.zones",
                rule="a pool's zones are among its cluster's",
                way_out=f"choose among {', '.join(known)}",
            )
        self._check_zones()
        if isinstance(self.profile.fabric, Efa) and self.cluster_ids.fabric is None:
            raise Refusal(
                f"{self.profile.sku} has Elastic Fabric Adapters, and the cluster is without `fabric`",
                where=f"{self.where}.fabric",
                rule="their security group lies in the cluster's VPC, beside the cluster's own",
                way_out="give EksClusterIds fabric=EksFabricIds(...), or the pool fabric: none",
            )
        if len(self.profile.taints) > MOST_TAINTS:
            raise Refusal(
                f"the pool has {len(self.profile.taints)} taints",
                where=f"{self.where}.taints",
                rule=f"a managed node group takes {MOST_TAINTS}",
                way_out="leave some out",
            )
        room = MOST_GROUP_TAGS - EKS_GROUP_TAGS
        if len(self.hints) > room:
            raise Refusal(
                f"the pool scales from zero and announces {len(self.hints)} labels, taints and resources",
                where=f"{self.where}.labels",
                rule=f"each is a tag of its Auto Scaling group, which has room for {room} beside EKS's own",
                way_out="leave labels out, or keep one node: nodes.min: 1",
            )

    def _check_zones(self) -> None:
        profile = self.profile
        together = profile.placement.kind == "cluster"
        why = why_one_zone(profile.fabric, profile.capacity, together=together)
        if why is not None and len(self.zones) != 1:
            raise Refusal(
                f"pool {profile.pool} would use zones {', '.join(self.zones)}",
                where=f"{self.where}.zones",
                rule=why,
                way_out="choose one",
            )

    @property
    def cluster_ids(self) -> EksClusterIds:
        """What the pool needs to know of its cluster."""
        return self.cluster.ids if isinstance(self.cluster, EksCluster) else self.cluster

    @property
    def hints(self) -> Mapping[str, str]:
        """What the autoscaler is told of a pool that may have no node to look at."""
        return self.profile.scale_from_zero if self.nodes_min == 0 else {}


class EksGpuPool(GpuPoolComponent):
    """A managed node group of one GPU machine type.

    The machine type is set on the node group, not in the launch template: the two refuse each other, and here
    a policy reads it before anything exists. A capacity block wants it in the template. Another machine type
    replaces the group, the old one first: two pools at once would need twice the GPU quota, and a reservation
    holds only one.

    The autoscaler owns the number of nodes between the bounds, and EKS refuses bounds that exclude the
    current number. Where an update says so, set `nodes_min` and `nodes_max` both to the bound that was
    refused: a fixed size is applied. The next update takes the bounds that were meant.

    Outputs, beside those of every pool:
        autoscaling_group: Name of the Auto Scaling group that EKS made for it.
    """

    TOKEN = "gpuplatform:index:EksGpuPool"  # noqa: S105 - a type token, no secret

    autoscaling_group: pulumi.Output[str]

    def __init__(self, name: str, args: EksGpuPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        group = self._node_group(name, args)
        self.autoscaling_group = group.resources[0].autoscaling_groups[0].name
        for key, value in args.hints.items():
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
        self.finish_pool(group, group.node_group_name, group.arn, autoscaling_group=self.autoscaling_group)

    def _launch_template(
        self, logical: str, args: EksGpuPoolArgs
    ) -> tuple[LaunchTemplate, list[pulumi.Resource]]:
        """The template, and what must exist beside it before a node is launched."""
        cluster, profile = args.cluster_ids, args.profile
        groups: list[pulumi.Input[str]] = []
        first: list[pulumi.Resource] = []
        if isinstance(profile.fabric, Efa) and cluster.fabric is not None:
            group, rules = fabric_security_group(
                self, f"{logical}-efa", vpc_id=cluster.fabric.vpc_id, tags=args.tags
            )
            groups = [cluster.fabric.security_group_id, group.id]
            first += rules
        near: pulumi.Input[str] | None = profile.placement.name or None
        if profile.placement.kind == "cluster":
            near = placement_group(self, logical, tags=args.tags).id
        template = launch_template(
            self,
            logical,
            node_name=pulumi.Output.concat(cluster.cluster_name, "-", profile.pool),
            disk_gib=profile.disk_gib,
            tags=args.tags,
            bottlerocket=driver_of(profile, AmiDriver).ami_type.startswith("BOTTLEROCKET"),
            more=machines(profile, security_groups=groups, placement_group=near),
        )
        return template, first

    def _node_group(self, name: str, args: EksGpuPoolArgs) -> Any:
        cluster, profile = args.cluster_ids, args.profile
        logical = f"{name}-gpu-pool"
        template, first = self._launch_template(logical, args)
        block = profile.capacity.kind == "capacity-block"
        return eks.NodeGroup(
            logical,
            cluster_name=cluster.cluster_name,
            node_group_name=profile.pool,
            version=cluster.kubernetes_version,
            release_version=profile.image_release or None,
            node_role_arn=cluster.node_role_arn,
            subnet_ids=[cluster.subnet_by_zone[zone] for zone in args.zones],
            ami_type=driver_of(profile, AmiDriver).ami_type,
            # Spot is asked for here and nowhere else: managed node groups refuse market options in the
            # launch template, and have no maximum price (terraform-provider-aws#18025).
            capacity_type=CAPACITY_TYPES[profile.capacity.kind],
            instance_types=None if block else [profile.sku],
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
                eks.NodeGroupTaintArgs(
                    key=taint.key, value=taint.value or None, effect=TAINT_EFFECTS[taint.effect]
                )
                for taint in profile.taints
            ],
            tags=args.tags.aws(),
            opts=self.child(
                depends_on=[*cluster.before_nodes, *first],
                delete_before_replace=True,
                replace_on_changes=list(REPLACED_ON),
                # Without it each update would set an autoscaled pool back to its minimum; where the size is
                # fixed, a change of it must get through (pulumi/pulumi-eks#709).
                ignore_changes=["scalingConfig.desiredSize"] if args.autoscaled else [],
            ),
        )
