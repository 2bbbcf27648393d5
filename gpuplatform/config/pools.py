"""Node pools: what machines, how many, bought how."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gpuplatform.config.base import At, Model
from gpuplatform.config.capacity import Capacity, OnDemand
from gpuplatform.config.sharing import Sharing

__all__ = ["NodePool", "Nodes", "SystemPool", "Taint"]

Count = Annotated[int, Field(ge=0, le=1000)]
# The kubelet registers no node with a foreign label below its own domains, and the clouds refuse theirs
# (https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction).
_RESERVED_DOMAINS = (
    "kubernetes.io",
    "k8s.io",
    "eks.amazonaws.com",
    "kubernetes.azure.com",
    "cloud.google.com",
)

LabelKey = Annotated[
    str,
    Field(
        description="A Kubernetes key: 1 to 63 letters, digits and . _ -, starting and ending with a letter "
        "or digit; a domain of lower-case letters, digits, . and - with a slash may stand before it.",
        pattern=r"^([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$",
    ),
]
LabelValue = Annotated[
    str,
    Field(
        description="A Kubernetes value: empty, or up to 63 letters, digits and . _ -, starting and ending "
        "with a letter or digit.",
        pattern=r"^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$",
    ),
]


class Nodes(Model):
    """The autoscaler's bounds. `max` is what the budget is checked at."""

    min: Annotated[
        Count, Field(description="Nodes that are always there; 0 lets the pool scale from zero.")
    ] = 0
    max: Annotated[int, Field(ge=1, le=1000, description="Nodes the autoscaler may reach.")]

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.max < self.min:
            raise ValueError(f"max ({self.max}) is below min ({self.min})")
        return self


class Taint(Model):
    """A Kubernetes taint beside those that the pool gets by itself."""

    key: LabelKey
    value: LabelValue = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule"


class SystemPool(Model):
    """The pool of general-purpose machines that runs what the cluster itself needs; no GPUs."""

    sku: Annotated[
        str | None, Field(description="Machine type; a sensible one of the cloud where it is left out.")
    ] = None
    nodes: Nodes = Nodes(min=2, max=4)


class NodePool(Model):
    """A pool of GPU machines, all of one type."""

    name: Annotated[
        str,
        Field(
            # AKS has the narrowest limit of the three; it holds on all, so a stack moves without renaming.
            description="At most 12 lower-case letters and digits, starting with a letter.",
            pattern=r"^[a-z][a-z0-9]{0,11}$",
        ),
    ]
    sku: Annotated[str, Field(min_length=1, description="The cloud's machine type, such as p5.48xlarge.")]
    purpose: Annotated[
        Literal["training", "inference", "notebooks", "batch"],
        Field(description="What it is for; decides placement and defaults, and labels the nodes."),
    ]
    nodes: Nodes
    capacity: Capacity = OnDemand()
    fabric: Annotated[
        Literal["required", "none"] | None,
        Field(
            description="required: fail where the machine has no accelerated network; none: TCP on purpose; "
            "left out: the machine's own, and an error for training on several nodes where it has none."
        ),
    ] = None
    sharing: Annotated[
        Sharing | None, Field(description="How pods share a GPU; whole GPUs where left out.")
    ] = None
    image: Annotated[
        Literal["al2023", "bottlerocket", "ubuntu", "azurelinux", "cos"] | None,
        Field(description="AWS: al2023, bottlerocket; Azure: ubuntu, azurelinux; GCP: cos, ubuntu."),
    ] = None
    image_release: Annotated[
        str | None,
        Field(
            pattern=r"^[0-9a-z][0-9a-z.-]{0,62}$",
            description="AWS: release of the image, such as 1.35.2-20260901, of lower-case letters, digits, "
            ". and -; EKS's newest where left out.",
        ),
    ] = None
    driver: Annotated[
        Literal["cloud", "operator"] | None,
        Field(
            description="Who installs the GPU driver: the cloud (image, GKE, AKS) or NVIDIA's GPU Operator."
        ),
    ] = None
    local_disks: Annotated[
        Literal["ephemeral", "raw", "none"] | None,
        Field(
            description="Local NVMe: ephemeral (the pods' own storage, striped), raw (block devices), none; "
            "ephemeral where the machine has such disks and it is left out."
        ),
    ] = None
    placement_group: Annotated[
        str | None,
        Field(
            description="An existing placement group (AWS), compact placement policy (GCP) or proximity "
            "placement group, by its resource ID (Azure); made as needed where left out."
        ),
    ] = None
    zones: Annotated[
        tuple[str, ...] | None,
        Field(min_length=1, description="The zones of this pool; all of the network's where it is left out."),
    ] = None
    labels: Annotated[dict[LabelKey, LabelValue], Field(default_factory=dict)]
    taints: tuple[Taint, ...] = ()
    disk_gib: Annotated[int, Field(ge=100, le=4096, description="Boot disk of each node, GiB.")] = 200

    @model_validator(mode="after")
    def _labels_are_the_users_own(self) -> Self:
        for key in self.labels:
            domain = key.rpartition("/")[0]
            if any(domain == owner or domain.endswith(f".{owner}") for owner in _RESERVED_DOMAINS):
                raise At(
                    "labels",
                    f"{key}: labels below {domain} belong to the cluster, whose nodes refuse others'",
                )
        return self

    @model_validator(mode="after")
    def _one_taint_a_key(self) -> Self:
        keys = [taint.key for taint in self.taints]
        if twice := {key for key in keys if keys.count(key) > 1}:
            # An autoscaler that grows a pool from zero learns of one taint a key (cluster-autoscaler's tags).
            raise At("taints", f"{', '.join(sorted(twice))} is tainted twice; give each key one effect")
        if "nvidia.com/gpu" in keys:
            raise At("taints", "every GPU pool is tainted nvidia.com/gpu by itself; leave it out")
        return self
