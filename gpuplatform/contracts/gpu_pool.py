"""What a GPU pool is made of and what it gives, on every cloud."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeVar

import pulumi

from gpuplatform.component import Component
from gpuplatform.contracts.bounds import check_bounds
from gpuplatform.errors import Refusal
from gpuplatform.naming import problem
from gpuplatform.profile import Driver, NodeProfile
from gpuplatform.tags import Tags

__all__ = ["TAINT_EFFECTS", "GpuPoolArgs", "GpuPoolComponent", "driver_of"]

TAINT_EFFECTS: Final = {
    "NoSchedule": "NO_SCHEDULE",
    "PreferNoSchedule": "PREFER_NO_SCHEDULE",
    "NoExecute": "NO_EXECUTE",
}
"""Kubernetes' taint effects as EKS and GKE spell them
(https://docs.aws.amazon.com/eks/latest/APIReference/API_Taint.html,
https://cloud.google.com/kubernetes-engine/docs/reference/rest/v1/NodeConfig#effect); AKS takes Kubernetes'.
"""


@dataclass(frozen=True, kw_only=True)
class GpuPoolArgs:
    """What a GPU pool is made of, on every cloud.

    Attributes:
        profile: What its nodes are: `gpuplatform.profile.node_profile`.
        nodes_min: Nodes in all zones together that are always there; 0 lets the pool scale from zero.
        nodes_max: Nodes in all zones together that the autoscaler may reach; a fixed size where it equals
            `nodes_min`.
        zones: Where its nodes may be; the machine type must be offered there.
        tags: Tags of the pool, its machines and their disks.

    Raises:
        Refusal: The cloud cannot build it.
    """

    KIND: ClassVar[str]
    """What its cloud calls it: a kind of `gpuplatform.naming.RULES`."""
    DRIVER: ClassVar[tuple[type[Driver], ...]]
    """Who may own the driver on this cloud."""

    profile: NodeProfile
    nodes_min: int
    nodes_max: int
    zones: tuple[str, ...]
    tags: Tags

    def __post_init__(self) -> None:
        # The clouds say so too, minutes into a deployment and without the rule (Azure/AKS#3300).
        if (why := problem(self.KIND, self.profile.pool)) is not None:
            raise Refusal(why, where=f"{self.where}.name", way_out="choose another name for the pool")
        if not isinstance(self.profile.driver, self.DRIVER):
            raise _other_owner(self.profile, " or ".join(kind.__name__ for kind in self.DRIVER))
        check_bounds(f"{self.where}.nodes", self.nodes_min, self.nodes_max)

    @property
    def where(self) -> str:
        """Where the pool stands in a configuration."""
        return f"node_pools.{self.profile.pool}"

    @property
    def autoscaled(self) -> bool:
        """Whether the autoscaler decides on the pool's size."""
        return self.nodes_max > self.nodes_min


class GpuPoolComponent(Component):
    """A pool of GPU nodes, whatever its cloud.

    Outputs:
        node_group_name: The physical name of what holds the nodes: node group, agent pool or node pool.
        node_group_id: Its ID; its ARN on AWS.

    Attributes:
        node_group: The resource itself: what runs on its GPUs depends on it.
    """

    node_group: pulumi.Resource
    node_group_name: pulumi.Output[str]
    node_group_id: pulumi.Output[str]

    def finish_pool(
        self, node_group: pulumi.Resource, name: pulumi.Output[str], id_: pulumi.Output[str], **outputs: Any
    ) -> None:
        """Sets the outputs and registers them, with what else the cloud's pool gives."""
        self.node_group = node_group
        self.node_group_name = name
        self.node_group_id = id_
        self.finish(node_group_name=name, node_group_id=id_, **outputs)


D = TypeVar("D", bound=Driver)


def driver_of(profile: NodeProfile, kind: type[D]) -> D:
    """The profile's driver, which is of the kind `kind`.

    Raises:
        Refusal: It has another owner.
    """
    if not isinstance(profile.driver, kind):
        raise _other_owner(profile, kind.__name__)
    return profile.driver


def _other_owner(profile: NodeProfile, names: str) -> Refusal:
    return Refusal(
        f"the profile of {profile.sku} has another cloud's driver ({type(profile.driver).__name__})",
        where=f"node_pools.{profile.pool}.sku",
        rule=f"a pool of this cloud takes profiles with {names}",
        way_out="make the profile from a machine type of the pool's own cloud: gpuplatform sku list",
    )
