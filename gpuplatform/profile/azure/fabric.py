"""InfiniBand: which machines have it, and the feature that keeps a pool on one network of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile.fabric import Fabric, InfiniBand, NoFabric
from gpuplatform.profile.model import NodeProfile

__all__ = ["GRACE_BLACKWELL", "check_feature", "fabric", "fabric_preconditions"]

GRACE_BLACKWELL: Final = frozenset({"GB200", "GB300"})
"""GPU models of the machines whose nodes share NVLink as well, and which AKS sets up differently."""

# Adapters of a node: https://learn.microsoft.com/azure/virtual-machines/sizes/gpu-accelerated/nd-family, the
# series' own pages ("Network" of ND GB200 v6 and ND GB300 v6: four scale-out NICs). Sizes without the `r` in
# their name (`is_`, `noIB`, `flex`) have none, and neither have NC machines from v4 on.
_ADAPTERS: Final[Mapping[str, int]] = {
    "ND_A100_v4": 8,
    "NDm_A100_v4": 8,
    "ND_H100_v5": 8,
    "ND_H200_v5": 8,
    "ND_GB200_v6": 4,
    "ND_GB300_v6": 4,
}

# https://learn.microsoft.com/azure/virtual-machines/sizes-hpc, "Cluster configuration options"; what a
# larger scale set does to InfiniBand: Azure/AKS#2725.
_PLACEMENT_GROUP_LIMIT: Final = 100


def fabric(pool: NodePool, sku: Sku) -> Fabric:
    """What connects the pool's nodes."""
    if not sku.rdma:
        return NoFabric(reason=f"{sku.name} has no InfiniBand, which ND sizes with an r in their name have")
    adapters = _ADAPTERS.get(sku.family)
    if adapters is None:
        # The node feature rule knows the virtual functions of ConnectX-6 and later (101c, 101e):
        # Azure/aks-rdma-infiniband, tests/setup-infra/network-operator-nfd.yaml.
        return NoFabric(
            reason=f"the InfiniBand of {sku.name} is of the generation before ConnectX-6, which AKS nodes "
            "are not set up for"
        )
    if pool.fabric == "none":
        return NoFabric(reason="the pool asks for none")
    # `rdma/ib` hands out whole adapters (SR-IOV): a pod that uses a whole node takes all of them, and none
    # can be shared by accident, as with `rdma/shared_ib`.
    return InfiniBand(resource="rdma/ib", adapters=adapters, nvlink_domain=sku.gpu_model in GRACE_BLACKWELL)


def fabric_preconditions(pool: NodePool, sku: Sku, connects: Fabric) -> tuple[str, ...]:
    """What must be so in the subscription, one sentence each.

    No resource does it: a feature belongs to the whole subscription, so a stack that is destroyed would take
    it from the others; and azure-native refuses to create the registration, which "exists already" even while
    it is unregistered (pulumi/pulumi-azure-native#1722).
    """
    if not isinstance(connects, InfiniBand):
        return ()
    # https://learn.microsoft.com/azure/aks/use-amd-gpus: "machines in the node pool land on the same
    # physical InfiniBand network"; Azure/ai-infrastructure-on-azure infrastructure_references/aks/README.md,
    # "GB200/GB300 (Blackwell) Support", for the opposite.
    verb = "unregister" if sku.gpu_model in GRACE_BLACKWELL else "register"
    state = "not registered" if verb == "unregister" else "registered"
    feature = (
        f"The feature Microsoft.ContainerService/AKSInfinibandSupport is {state} in the subscription before "
        f"the pool is made: az feature {verb} --namespace Microsoft.ContainerService "
        "--name AKSInfinibandSupport, then az provider register --namespace Microsoft.ContainerService."
    )
    if pool.nodes.max <= _PLACEMENT_GROUP_LIMIT:
        return (feature,)
    return (
        feature,
        # Beyond one group nodes see each other over Ethernet only.
        f"Microsoft has raised the limit of {_PLACEMENT_GROUP_LIMIT} machines a placement group.",
    )


def check_feature(profiles: Iterable[NodeProfile]) -> None:
    """Refuses pools that need the subscription's feature both ways.

    Raises:
        Refusal: One has InfiniBand with the feature, another only without.
    """
    ways: dict[bool, NodeProfile] = {}
    for profile in profiles:
        if isinstance(profile.fabric, InfiniBand):
            ways.setdefault(profile.gpu_model in GRACE_BLACKWELL, profile)
    if len(ways) > 1:
        raise Refusal(
            f"pools {ways[False].pool} ({ways[False].sku}) and {ways[True].pool} ({ways[True].sku}) need "
            "one subscription in two states",
            where=f"node_pools.{ways[True].pool}.sku",
            rule="InfiniBand needs the feature AKSInfinibandSupport registered, and GB200 and GB300 need it "
            "unregistered; it holds for a whole subscription",
            way_out="give them an environment each, in two subscriptions",
        )
