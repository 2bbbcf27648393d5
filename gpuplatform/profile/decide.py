"""`node_profile`: the one place where a cloud's facts about GPU nodes become a decision; pure."""

from __future__ import annotations

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool, Spot
from gpuplatform.errors import Refusal
from gpuplatform.profile import aws, azure, gcp
from gpuplatform.profile.model import NodeProfile, Taint

__all__ = ["POOL_LABEL", "PURPOSE_LABEL", "node_profile"]

POOL_LABEL = "gpuplatform.io/pool"
PURPOSE_LABEL = "gpuplatform.io/purpose"


def node_profile(pool: NodePool, sku: Sku) -> NodeProfile:
    """What the nodes of `pool` are, given its machine type.

    Raises:
        Refusal: The pool cannot be built on this machine; the sentence says why and what to use instead.
    """
    where = f"node_pools.{pool.name}.sku"
    if sku.gpu_vendor != "nvidia":
        raise Refusal(
            f"{sku.name} has {sku.gpu_vendor.upper()} GPUs ({sku.gpu_model})",
            where=where,
            rule="drivers and device plugins are installed for NVIDIA GPUs only",
            way_out="choose an NVIDIA machine type: gpuplatform sku list",
        )
    if not sku.k8s_supported:
        raise Refusal(
            f"{sku.name} is no node of the cloud's Kubernetes service ({sku.k8s_note or 'not on its list'})",
            where=where,
            way_out="choose one that is: gpuplatform sku list",
        )
    facts = {"aws": aws, "azure": azure, "gcp": gcp}[sku.cloud].facts(sku, where)
    spot = isinstance(pool.capacity, Spot)
    gpus = max(int(sku.gpu_count), 1)  # a fraction of a GPU (1/6 of an A10) is advertised as one device
    labels = {
        **pool.labels,
        "nvidia.com/gpu.present": "true",
        POOL_LABEL: pool.name,
        PURPOSE_LABEL: pool.purpose,
        **facts.labels,
        **(facts.spot_labels if spot else {}),
    }
    taints = (
        facts.gpu_taint,
        *(facts.spot_taints if spot else ()),
        *(Taint(key=taint.key, value=taint.value, effect=taint.effect) for taint in pool.taints),
    )
    return NodeProfile(
        pool=pool.name,
        sku=sku.name,
        gpus=gpus,
        gpu_model=sku.gpu_model,
        accelerator=facts.accelerator,
        arch=facts.arch,
        driver=facts.driver,
        image=facts.image,
        spot=spot,
        labels=labels,
        taints=taints,
        scale_from_zero=_hints(labels, taints, gpus) if facts.needs_scale_hints else {},
        disk_gib=pool.disk_gib,
    )


def _hints(labels: dict[str, str], taints: tuple[Taint, ...], gpus: int) -> dict[str, str]:
    """Tags from which the Cluster Autoscaler builds a node it has never seen.

    Source: cluster-autoscaler/cloudprovider/aws/README.md, "Auto-discovery setup"; without the resource
    hint a pool at zero never grows for a pod that asks for GPUs (kubernetes/autoscaler#2929).
    """
    prefix = "k8s.io/cluster-autoscaler/node-template"
    return {
        **{f"{prefix}/label/{key}": value for key, value in labels.items()},
        **{f"{prefix}/taint/{taint.key}": f"{taint.value}:{taint.effect}" for taint in taints},
        f"{prefix}/resources/nvidia.com/gpu": str(gpus),
    }
