"""The shape of the one decision: everything a pool's nodes are, before any resource exists."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from gpuplatform.profile.bandwidth import Bandwidth
from gpuplatform.profile.driver import Driver
from gpuplatform.profile.fabric import Fabric

__all__ = [
    "CapacityPlan",
    "Flavor",
    "LocalDisks",
    "NodeProfile",
    "Placement",
    "PodWiring",
    "SharedGpu",
    "SharingOwner",
    "Taint",
]

Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """A Kubernetes taint; components spell the effect as their cloud does."""

    key: str
    value: str
    effect: Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityPlan:
    """How the machines are bought, once the cloud was found to sell them so.

    Attributes:
        kind: As in the configuration.
        id: The reservation, block or reservation group; empty where there is none.
        max_run_hours: Longest run of a node; None where nodes stay.
    """

    kind: Literal["on-demand", "spot", "reservation", "capacity-block", "flex-start", "queued"]
    id: str = ""
    max_run_hours: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """How close together the nodes stand.

    Attributes:
        kind: `cluster` (AWS placement group), `compact` (GCP resource policy), `proximity` (Azure proximity
            placement group), `existing` (a group the user named), `none`.
        name: The user's group, for `existing`.
        topology: GCP accelerator topology such as `1x72`; empty elsewhere.
    """

    kind: Literal["cluster", "compact", "proximity", "existing", "none"]
    name: str = ""
    topology: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalDisks:
    """Local NVMe of a node.

    Attributes:
        mode: `ephemeral` (the pods' own storage), `raw` (block devices), `none`.
        count: Disks; 0 where the machine has none or the cloud does not tell (`gib` is then the whole).
        gib: All of them together, GiB; 0 where unknown.
        boot: Where the boot disk stands: `network`, `local` (Azure's ephemeral OS disk, then the pods' own
            storage), or `cloud` where that is left to Azure, which tells no limit for the machine.
    """

    mode: Literal["ephemeral", "raw", "none"]
    count: int = 0
    gib: int = 0
    boot: Literal["network", "local", "cloud"] = "network"


SharingOwner = Literal["gpu-operator", "gke", "aks", "bottlerocket"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedGpu:
    """How pods share one GPU.

    Attributes:
        kind: `mig`, `time-slicing` or `mps`.
        owner: Who makes it so. The GPU Operator by `config`, `label` and `entry`; the others when the node is
            made: the cloud's component translates kind, `profile` and `per_gpu` (GKE's gpuSharingConfig and
            gpuPartitionSize, AKS's gpuInstanceProfile, Bottlerocket's settings.kubelet-device-plugins).
        config: Name of the entry in the operator's config map, and value of the node label that selects it.
        resource: What pods ask for, such as `nvidia.com/mig-1g.10gb` or `nvidia.com/gpu.shared`.
        per_node: How many of it a node advertises.
        per_gpu: How many of it one GPU gives: MIG instances, or replicas.
        profile: The MIG profile; empty for the other kinds.
        label: The node label that selects the entry (`nvidia.com/device-plugin.config` or
            `nvidia.com/mig.config`); empty where another than the operator owns the sharing.
        entry: The entry as the config map holds it; empty likewise.
    """

    kind: Literal["mig", "time-slicing", "mps"]
    owner: SharingOwner
    config: str
    resource: str
    per_node: int
    per_gpu: int
    profile: str = ""
    label: str = ""
    entry: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PodWiring:
    """What a pod that uses a whole node needs beside its image: fabric, memory, capabilities.

    Attributes:
        resources: Requests and limits, such as `{"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32"}`.
        env: Environment variables.
        annotations: Pod annotations.
        capabilities: Linux capabilities to add.
        volumes: Pod volumes, as the API spells them.
        mounts: The container's mounts of them.
        init_containers: Containers that run first (GKE's NCCL installers and receive daemons as sidecars).
        host_network: Whether the pod uses the node's network.
        claims: The pod's `resourceClaims` (dynamic resource allocation); the container claims all by name.
        objects: What must exist in the pod's namespace before it: the claims' templates.
    """

    resources: dict[str, str]
    env: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    capabilities: tuple[str, ...] = ()
    volumes: tuple[dict[str, Any], ...] = ()
    mounts: tuple[dict[str, Any], ...] = ()
    init_containers: tuple[dict[str, Any], ...] = ()
    host_network: bool = False
    claims: tuple[dict[str, str], ...] = ()
    objects: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Flavor:
    """The pool as Kueue sees it: a ResourceFlavor.

    Attributes:
        name: The flavor's name, the pool's.
        node_labels: What selects its nodes.
        topology_levels: Node labels from the widest level to the host, for topology-aware scheduling.
        topology_aware: Whether Kueue places by them. It looks at nodes that are there: a pool that grows by
            itself would never be given the job that it should grow for.
        admission_check: `queued-provisioning` for GCP's queued capacity; empty elsewhere.
    """

    name: str
    node_labels: dict[str, str]
    topology_levels: tuple[str, ...] = ()
    topology_aware: bool = False
    admission_check: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeProfile:
    """What the nodes of one pool are. Components translate it into resources and decide nothing.

    Attributes:
        pool: The pool's name in the configuration.
        purpose: What it is for.
        sku: The machine type.
        gpus: Whole GPUs that a node has (a share of one counts as one).
        gpu_model: The catalogue's name for the model, such as H100.
        accelerator: GKE's name for the accelerator (`nvidia-h100-80gb`); None on the other clouds.
        arch: The processor architecture.
        driver: Who owns the driver.
        image: The node image as its cloud's API names it.
        image_release: The one release of it that nodes get; empty where the cloud chooses.
        capacity: How the machines are bought.
        fabric: What connects the nodes, with all that the cloud must set up for it.
        placement: How close together they stand.
        local_disks: Their local NVMe.
        sharing: How pods share a GPU; None for whole GPUs.
        labels: Kubernetes labels, the user's own included.
        taints: Kubernetes taints, the user's own included.
        scale_from_zero: Node-template hints for an autoscaler that cannot see a node of an empty pool; empty
            where the cloud's autoscaler knows.
        device_plugins: What advertises devices on these nodes: `gpu-operator`, `gke`, `efa`, `rdma-shared`,
            `sriov`, `dra`.
        advertised: Extended resources of one node and how many, such as `{"nvidia.com/gpu": 8}`.
        pod: What a pod that uses a whole node needs.
        flavor: The pool as Kueue sees it.
        bandwidth: The collective bandwidth to expect between two nodes; None where no figure is known.
        preconditions: What a person must have done before, such as registering a feature; one sentence each.
        disk_gib: Boot disk, GiB.
        disk_type: Its type in the cloud's API; empty where the cloud's own choice is right.
    """

    pool: str
    purpose: str
    sku: str
    gpus: int
    gpu_model: str
    accelerator: str | None
    arch: Literal["amd64", "arm64"]
    driver: Driver
    image: str
    capacity: CapacityPlan
    fabric: Fabric
    placement: Placement
    local_disks: LocalDisks
    sharing: SharedGpu | None
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    scale_from_zero: dict[str, str]
    device_plugins: tuple[str, ...]
    advertised: dict[str, int]
    pod: PodWiring
    flavor: Flavor
    bandwidth: Bandwidth | None
    preconditions: tuple[str, ...]
    disk_gib: int
    disk_type: str = ""
    image_release: str = ""

    @property
    def spot(self) -> bool:
        """Whether the nodes are spare capacity that the cloud may take back."""
        return self.capacity.kind == "spot"
