"""How close together the nodes stand."""

from __future__ import annotations

from typing import Final

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.profile.fabric import Efa, Fabric
from gpuplatform.profile.model import CapacityPlan, Placement

__all__ = ["placement", "topology_levels", "works_together"]

# Layer 1 is the widest, the last one the node's own switch
# (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/how-ec2-instance-topology-works.html); EKS labels nodes
# with as many as EC2 tells (.../ec2-instance-topology-prerequisites.html). A level that some nodes lack would
# keep Kueue from placing anything on them, so other machines have none.
_LAYER: Final = "topology.k8s.aws/network-node-layer-"
_LAYERS: Final[dict[str, int]] = {
    "g6e": 3,
    "g7e": 3,
    "p3dn": 3,
    "p4d": 3,
    "p4de": 3,
    "p5": 3,
    "p5e": 3,
    "p5en": 3,
    "p6-b200": 4,
    "p6-b300": 4,
}
_NOT_TOLD: Final = frozenset({"p5.4xlarge"})
_ULTRASERVER: Final = "topology.k8s.aws/ultraserver-id"
_HOST: Final = "kubernetes.io/hostname"


def placement(pool: NodePool, connects: Fabric, plan: CapacityPlan) -> Placement:
    """The pool's placement group.

    None is made for what is reserved: a reservation outside the group cannot be used from inside it, and the
    launch fails for want of capacity (eksctl-io/eksctl#7949). Nor for nodes that don't work together: a
    cluster placement group lies in one zone and makes capacity harder to get.
    """
    if pool.placement_group is not None:
        return Placement(kind="existing", name=pool.placement_group)
    if isinstance(connects, Efa) and works_together(pool) and plan.kind in {"on-demand", "spot"}:
        return Placement(kind="cluster")
    return Placement(kind="none")


def works_together(pool: NodePool) -> bool:
    """Whether several nodes of the pool run one job."""
    return pool.nodes.max > 1 and (pool.fabric == "required" or pool.purpose == "training")


def topology_levels(sku: Sku) -> tuple[str, ...]:
    """Node labels from the widest level to the host, where AWS tells where a node of this type stands."""
    if sku.family == "p6e-gb200":
        # One UltraServer is one NVLink domain; how its nodes spread over the switches is not documented.
        return (f"{_LAYER}1", _ULTRASERVER, _HOST)
    layers = 0 if sku.name in _NOT_TOLD else _LAYERS.get(sku.family, 0)
    return (*(f"{_LAYER}{layer}" for layer in range(1, layers + 1)), _HOST)
