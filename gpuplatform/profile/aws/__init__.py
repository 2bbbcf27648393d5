"""EKS: managed node groups, whose images bring the driver; EFA; the Cluster Autoscaler's chart."""

from __future__ import annotations

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.profile.aws.bandwidth import bandwidth
from gpuplatform.profile.aws.capacity import capacity, capacity_preconditions
from gpuplatform.profile.aws.disks import local_disks
from gpuplatform.profile.aws.drivers import bottlerocket, driver, image_labels
from gpuplatform.profile.aws.fabric import EFA_LABEL, EFA_RESOURCE, fabric
from gpuplatform.profile.aws.placement import placement, topology_levels
from gpuplatform.profile.aws.pod import HUGEPAGES, NODE_HUGEPAGES_MIB, pod
from gpuplatform.profile.aws.zones import check_zones, why_one_zone
from gpuplatform.profile.fabric import Efa
from gpuplatform.profile.facts import CloudFacts
from gpuplatform.profile.model import LocalDisks, Taint

__all__ = ["check_zones", "facts", "why_one_zone"]


def facts(pool: NodePool, sku: Sku, where: str) -> CloudFacts:
    """AWS's answers for `pool` on `sku`.

    Raises:
        Refusal: EKS cannot run the pool so; the sentence says why and what to use instead.
    """
    ami = driver(pool, sku, where)
    plan = capacity(pool, sku, where)
    connects = fabric(pool, sku, where)
    disks = local_disks(pool, sku, where)
    if pool.zones is not None:
        check_zones(pool, connects, plan, pool.zones, where)
    efa = connects if isinstance(connects, Efa) else None
    return CloudFacts(
        driver=ami,
        image=ami.ami_type,
        arch=sku.arch,
        gpu_taint=Taint(key="nvidia.com/gpu", value="true", effect="NoSchedule"),
        capacity=plan,
        fabric=connects,
        placement=placement(pool, connects, plan),
        local_disks=disks,
        # EKS labels spot nodes eks.amazonaws.com/capacityType=SPOT by itself and refuses to be given that
        # label; it sets no taint (https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html).
        labels={
            # With it the autoscaler waits for a new node's device plugin instead of starting further nodes
            # (kubernetes/autoscaler, cloudprovider/aws/README.md, "Special note on GPU instances").
            "k8s.amazonaws.com/accelerator": f"nvidia-{sku.gpu_model.lower()}",
            **image_labels(ami),
            **({EFA_LABEL: "true"} if efa else {}),
        },
        needs_scale_hints=True,
        scale_hints=_hints(efa, disks, pool.disk_gib),
        gpu_plugin="bottlerocket" if bottlerocket(ami) else "gpu-operator",
        fabric_resources={EFA_RESOURCE: efa.adapters} if efa else {},
        fabric_plugins=_plugins(efa),
        pod=pod(pool.name, connects),
        topology_levels=topology_levels(sku),
        bandwidth=bandwidth(sku, connects),
        preconditions=(*capacity_preconditions(plan, sku), *_ultraserver(efa)),
    )


def _hints(efa: Efa | None, disks: LocalDisks, disk_gib: int) -> dict[str, str]:
    """What a node has beside devices: a pod that asks for more than the autoscaler knows waits forever."""
    gib = disks.gib if disks.mode == "ephemeral" else disk_gib
    huge = {HUGEPAGES: f"{NODE_HUGEPAGES_MIB}Mi"} if efa else {}
    return {"ephemeral-storage": f"{gib}Gi", **huge}


def _plugins(efa: Efa | None) -> tuple[str, ...]:
    if efa is None:
        return ()
    return ("efa", "dra") if efa.nvlink_domain else ("efa",)


def _ultraserver(efa: Efa | None) -> tuple[str, ...]:
    """Source: https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-nvidia-ultraserver.html."""
    if efa is None or not efa.nvlink_domain:
        return ()
    return (
        "The cluster runs Kubernetes 1.33 or newer, so that pods can claim an NVLink domain.",
        "The node group is at zero nodes when its image or Kubernetes version changes.",
    )
