"""`node_profile`: the one place where a cloud's facts about GPU nodes become a decision; pure."""

from __future__ import annotations

from dataclasses import replace

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile import aws, azure, gcp
from gpuplatform.profile.fabric import NoFabric
from gpuplatform.profile.facts import CloudFacts
from gpuplatform.profile.model import Flavor, NodeProfile, PodWiring, SharedGpu, Taint
from gpuplatform.profile.own_keys import refuse_clashes
from gpuplatform.profile.sharing import shared_gpu

__all__ = ["POOL_LABEL", "PURPOSE_LABEL", "node_profile"]

POOL_LABEL = "gpuplatform.io/pool"
PURPOSE_LABEL = "gpuplatform.io/purpose"
GPU = "nvidia.com/gpu"
LONGEST_TAG_KEY = 128
"""Of an Auto Scaling group, characters
(https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-tagging.html)."""


def node_profile(pool: NodePool, sku: Sku) -> NodeProfile:
    """What the nodes of `pool` are, given its machine type.

    Raises:
        Refusal: The pool cannot be built as asked on this machine; the sentence says why and what to use
            instead. No other exception, whatever the combination.
    """
    where = f"node_pools.{pool.name}"
    _nvidia_on_kubernetes(sku, where)
    facts = {"aws": aws, "azure": azure, "gcp": gcp}[sku.cloud].facts(pool, sku, where)
    _no_silent_tcp(pool, sku, facts, where)
    gpus = max(int(sku.gpu_count), 1)  # a share of a GPU (1/6 of an A10) is advertised as one device
    sharing = shared_gpu(pool, sku, facts, gpus, where)
    advertised = _advertised(gpus, sharing, facts)
    labels = {
        "nvidia.com/gpu.present": "true",
        POOL_LABEL: pool.name,
        PURPOSE_LABEL: pool.purpose,
        **facts.labels,
        **({sharing.label: sharing.config} if sharing is not None and sharing.label else {}),
    }
    refuse_clashes(pool, labels, (facts.gpu_taint, *facts.taints), where)
    labels = {**pool.labels, **labels}
    own = (Taint(key=taint.key, value=taint.value, effect=taint.effect) for taint in pool.taints)
    taints = (facts.gpu_taint, *facts.taints, *own)
    hints = _hints(labels, taints, advertised, facts) if facts.needs_scale_hints else {}
    if pool.nodes.min == 0:
        _hints_are_tags(hints, where)
    return NodeProfile(
        pool=pool.name,
        purpose=pool.purpose,
        sku=sku.name,
        gpus=gpus,
        gpu_model=sku.gpu_model,
        accelerator=facts.accelerator,
        arch=facts.arch,
        driver=facts.driver,
        image=facts.image,
        capacity=facts.capacity,
        fabric=facts.fabric,
        placement=facts.placement,
        local_disks=facts.local_disks,
        sharing=sharing,
        labels=labels,
        taints=taints,
        scale_from_zero=hints,
        device_plugins=(facts.gpu_plugin, *facts.fabric_plugins),
        advertised=advertised,
        pod=_pod(advertised, facts),
        flavor=Flavor(
            name=pool.name,
            node_labels={POOL_LABEL: pool.name},
            topology_levels=facts.topology_levels,
            topology_aware=bool(facts.topology_levels) and _stands(pool, facts),
            admission_check=facts.admission_check,
        ),
        bandwidth=facts.bandwidth,
        preconditions=facts.preconditions,
        disk_gib=pool.disk_gib,
        disk_type=facts.disk_type,
        image_release=_image_release(pool, sku, where),
    )


def _nvidia_on_kubernetes(sku: Sku, where: str) -> None:
    if sku.gpu_vendor != "nvidia":
        raise Refusal(
            f"{sku.name} has {sku.gpu_vendor.upper()} GPUs ({sku.gpu_model})",
            where=f"{where}.sku",
            rule="drivers and device plugins are installed for NVIDIA GPUs only",
            way_out="choose an NVIDIA machine type: gpuplatform sku list",
        )
    if not sku.k8s_supported:
        raise Refusal(
            f"{sku.name} is no node of the cloud's Kubernetes service ({sku.k8s_note or 'not on its list'})",
            where=f"{where}.sku",
            way_out="choose one that is: gpuplatform sku list",
        )


def _image_release(pool: NodePool, sku: Sku, where: str) -> str:
    """The release that nodes stay on, which AWS alone lets a pool choose.

    A newer one once broke the striping of local disks (awslabs/amazon-eks-ami#2386).
    """
    if pool.image_release is not None and sku.cloud != "aws":
        raise Refusal(
            f"{pool.image_release} would be the release of the image of {sku.name}",
            where=f"{where}.image_release",
            rule="AKS and GKE choose the image's release themselves, by channel and maintenance window",
            way_out="leave image_release out",
        )
    return pool.image_release or ""


def _hints_are_tags(hints: dict[str, str], where: str) -> None:
    """A pool at zero announces each label and taint as a tag, whose key is longer than the label's own."""
    for tag in hints:
        if len(tag) > LONGEST_TAG_KEY:
            raise Refusal(
                f"the pool scales from zero and would announce {tag}, {len(tag)} characters",
                where=f"{where}.{'taints' if '/node-template/taint/' in tag else 'labels'}",
                rule=f"it is a tag of the Auto Scaling group, whose key has {LONGEST_TAG_KEY} at most",
                way_out="choose a shorter key, or keep one node: nodes.min: 1",
            )


def _no_silent_tcp(pool: NodePool, sku: Sku, facts: CloudFacts, where: str) -> None:
    """Training over several nodes never falls back to TCP without somebody having said so."""
    if not isinstance(facts.fabric, NoFabric) or pool.fabric == "none":
        return
    if pool.fabric == "required":
        raise Refusal(
            f"fabric is required, and {sku.name} has none: {facts.fabric.reason}",
            where=f"{where}.fabric",
            way_out=f"choose a machine type that has one: gpuplatform sku list --cloud {sku.cloud}",
        )
    if pool.purpose == "training" and pool.nodes.max > 1:
        raise Refusal(
            f"training on up to {pool.nodes.max} nodes of {sku.name} would talk over TCP: "
            f"{facts.fabric.reason}",
            where=f"{where}.fabric",
            rule="training on several nodes needs an accelerated network",
            way_out="choose a machine type that has one, train on one node (nodes.max: 1), "
            "or say fabric: none",
        )


def _stands(pool: NodePool, facts: CloudFacts) -> bool:
    """Whether a queue can know all nodes of the pool: they are always there, or come by its own request.

    Source: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling, on autoscaling.
    """
    return pool.nodes.min == pool.nodes.max or bool(facts.admission_check)


def _advertised(gpus: int, sharing: SharedGpu | None, facts: CloudFacts) -> dict[str, int]:
    own = {GPU: gpus} if sharing is None else {sharing.resource: sharing.per_node}
    return {**own, **facts.fabric_resources}


def _pod(advertised: dict[str, int], facts: CloudFacts) -> PodWiring:
    amounts = {name: str(count) for name, count in advertised.items()}
    return replace(facts.pod, resources={**amounts, **facts.pod.resources})


def _hints(
    labels: dict[str, str], taints: tuple[Taint, ...], advertised: dict[str, int], facts: CloudFacts
) -> dict[str, str]:
    """Tags from which the Cluster Autoscaler builds a node it has never seen.

    Source: cluster-autoscaler/cloudprovider/aws/README.md, "Auto-discovery setup"; without the resource
    hint a pool at zero never grows for a pod that asks for GPUs (kubernetes/autoscaler#2929).
    """
    prefix = "k8s.io/cluster-autoscaler/node-template"
    return {
        **{f"{prefix}/label/{key}": value for key, value in labels.items()},
        **{f"{prefix}/taint/{taint.key}": f"{taint.value}:{taint.effect}" for taint in taints},
        **{f"{prefix}/resources/{name}": str(count) for name, count in advertised.items()},
        **{f"{prefix}/resources/{name}": amount for name, amount in facts.scale_hints.items()},
    }
