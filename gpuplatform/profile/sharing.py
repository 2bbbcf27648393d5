"""How pods share a GPU: the pool's choice, checked against the GPU, as names and counts; pure.

Sources: NVIDIA/k8s-device-plugin README.md, "Shared Access to GPUs"; NVIDIA GPU Operator documentation,
"Time-Slicing GPUs in Kubernetes" and "GPU Operator with MIG";
https://cloud.google.com/kubernetes-engine/docs/how-to/gpus-multi;
https://learn.microsoft.com/azure/aks/gpu-multi-instance; https://bottlerocket.dev, "kubelet-device-plugins".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.config.sharing import Mig, Mps, TimeSlicing
from gpuplatform.errors import Refusal
from gpuplatform.profile.driver import AksDriver
from gpuplatform.profile.facts import CloudFacts
from gpuplatform.profile.mig import mig_profiles
from gpuplatform.profile.model import SharedGpu, SharingOwner

__all__ = ["shared_gpu"]

GPU: Final = "nvidia.com/gpu"
SHARES_LABEL: Final = "nvidia.com/device-plugin.config"
MIG_LABEL: Final = "nvidia.com/mig.config"

OWNERS: Final[Mapping[SharingOwner, str]] = {
    "gpu-operator": "the GPU Operator",
    "gke": "GKE",
    "aks": "AKS",
    "bottlerocket": "Bottlerocket",
}

# The GPUs that a service's own partitioning takes. GKE: GoogleCloudPlatform/container-engine-accelerators
# pkg/gpu/nvidia/mig/mig.go; AKS: the page above, "Prerequisites and limitations"; Bottlerocket:
# bottlerocket-core-kit sources/nvidia-migmanager/README.md.
_MIG_MODELS: Final[Mapping[SharingOwner, frozenset[str]]] = {
    "gke": frozenset({"A100", "H100", "H200", "B200", "GB200", "RTXPRO6000"}),
    "aks": frozenset({"A100", "H100", "H100NVL", "H200"}),
    "bottlerocket": frozenset({"A100", "H100", "H200"}),
}

# Clients of one MPS server: 48 from compute capability 7.5 on, 16 before
# (NVIDIA/k8s-device-plugin cmd/mps-control-daemon/mps/device.go).
_OLD_MPS_GPUS: Final = frozenset({"K80", "M60", "P4", "P40", "P100", "V100"})
_OLD_MPS_CLIENTS: Final = 16


def shared_gpu(pool: NodePool, sku: Sku, facts: CloudFacts, gpus: int, where: str) -> SharedGpu | None:
    """What the pool's `sharing` comes to on `gpus` GPUs of this machine; None for whole GPUs.

    Raises:
        Refusal: The GPU, or whoever owns its device plugin on these nodes, cannot share it so.
    """
    match pool.sharing:
        case None:
            return None
        case Mig() as mig:
            return _mig(mig, sku, facts, gpus, f"{where}.sharing.profile")
        case TimeSlicing() | Mps() as shares:
            return _shares(shares, sku, facts.gpu_plugin, gpus, f"{where}.sharing")


def _mig(mig: Mig, sku: Sku, facts: CloudFacts, gpus: int, where: str) -> SharedGpu:
    # AKS cuts the GPUs of the pools whose driver it owns, when it makes the node (gpuInstanceProfile).
    owner: SharingOwner = "aks" if isinstance(facts.driver, AksDriver) else facts.gpu_plugin
    instances = _offered(sku, owner, where)
    if mig.profile not in instances:
        names = ", ".join(f"{name} ({count} a GPU)" for name, count in instances.items())
        raise Refusal(
            f"{mig.profile} is no MIG profile that {OWNERS[owner]} makes on a {sku.gpu_model} ({sku.name})",
            where=where,
            rule="a profile's name holds its memory, which differs from GPU to GPU",
            way_out=f"use one of {names}",
        )
    dotted = mig.profile.replace("+", ".")
    # Strategy `single` of GKE's and Bottlerocket's plugins calls every instance a GPU
    # (bottlerocket-os/bottlerocket#4483); NVIDIA's is told `mixed`, since whole GPUs share the cluster.
    single = owner in {"gke", "bottlerocket"}
    per_gpu = instances[mig.profile]
    return SharedGpu(
        kind="mig",
        owner=owner,
        config=f"all-{dotted}",
        resource=GPU if single else f"nvidia.com/mig-{dotted}",
        per_node=gpus * per_gpu,
        per_gpu=per_gpu,
        profile=mig.profile,
        label=MIG_LABEL if owner == "gpu-operator" else "",
        entry=_mig_entry(mig.profile, per_gpu) if owner == "gpu-operator" else {},
    )


def _offered(sku: Sku, owner: SharingOwner, where: str) -> dict[str, int]:
    """The profiles that `owner` makes on this machine, with the number of instances on one GPU."""
    profiles = mig_profiles(sku)
    if not profiles:
        has = "a share of a GPU, cut by the cloud already" if sku.gpu_count < 1 else f"a {sku.gpu_model}"
        raise Refusal(
            f"{sku.name} has {has}, which has no MIG",
            where=where,
            rule="MIG cuts whole A100, H100, H200, B200, B300, GB200, GB300 and RTX PRO GPUs",
            way_out="share it by kind: time-slicing or mps, or choose a machine type with such a GPU",
        )
    models = _MIG_MODELS.get(owner)
    if models is not None and sku.gpu_model not in models:
        raise Refusal(
            f"{OWNERS[owner]} does not cut the {sku.gpu_model} of {sku.name}",
            where=where,
            rule=f"on these nodes MIG is {OWNERS[owner]}'s, which knows {', '.join(sorted(models))}",
            way_out="share it by kind: time-slicing or mps",
        )
    return {name: count for name, count in profiles.items() if _makes(owner, sku, name, count)}


def _makes(owner: SharingOwner, sku: Sku, profile: str, count: int) -> bool:
    wide = profile.startswith("1g.") and count == 4  # noqa: PLR2004 - one compute slice, two of memory
    media = profile.endswith("+me")
    match owner:
        case "aks":  # MIG1g, MIG2g, MIG3g, MIG4g, MIG7g: the plain one of each width
            return not media and not wide
        case "gke":  # mig.go has the media profile of RTX PRO only, and no wide one of the A100
            return (not media and not (wide and sku.gpu_model == "A100")) or sku.gpu_model == "RTXPRO6000"
        case _:
            return True


def _mig_entry(profile: str, per_gpu: int) -> dict[str, Any]:
    """An entry of the MIG manager's file (NVIDIA/mig-parted deployments/systemd/config-default.yaml)."""
    return {"devices": "all", "mig-enabled": True, "mig-devices": {profile: per_gpu}}


def _shares(shares: TimeSlicing | Mps, sku: Sku, owner: SharingOwner, gpus: int, where: str) -> SharedGpu:
    if isinstance(shares, Mps) and sku.gpu_model in _OLD_MPS_GPUS and shares.replicas > _OLD_MPS_CLIENTS:
        raise Refusal(
            f"{shares.replicas} pods cannot share a {sku.gpu_model} by MPS",
            where=f"{where}.replicas",
            rule=f"GPUs before compute capability 7.5 serve {_OLD_MPS_CLIENTS} MPS clients",
            way_out=f"use replicas: {_OLD_MPS_CLIENTS} or fewer",
        )
    if owner == "gke" and shares.rename:
        raise Refusal(
            "GKE's own device plugin calls a share of a GPU nvidia.com/gpu, and nothing else",
            where=f"{where}.rename",
            way_out="leave rename out, or use NVIDIA's device plugin: driver: operator",
        )
    renamed = owner != "gke" and shares.rename is not False
    by_operator = owner == "gpu-operator"
    return SharedGpu(
        kind=shares.kind,
        owner=owner,
        config=f"{shares.kind}-{shares.replicas}" + ("" if renamed else "-unrenamed"),
        resource=f"{GPU}.shared" if renamed else GPU,
        per_node=gpus * shares.replicas,
        per_gpu=shares.replicas,
        label=SHARES_LABEL if by_operator else "",
        entry=_plugin_entry(shares, renamed=renamed) if by_operator else {},
    )


def _plugin_entry(shares: TimeSlicing | Mps, *, renamed: bool) -> dict[str, Any]:
    """An entry of the device plugin's configuration.

    `renameByDefault` stands under the kind of sharing: under `flags` it is ignored (NVIDIA/gpu-operator#412).
    """
    sharing: dict[str, Any] = {
        "renameByDefault": renamed,
        "resources": [{"name": GPU, "replicas": shares.replicas}],
    }
    if isinstance(shares, TimeSlicing):
        # Two shares are not twice the GPU: a pod that asks for two would get one and never know. MPS knows no
        # such setting; it refuses by itself.
        return {
            "version": "v1",
            "sharing": {"timeSlicing": {"failRequestsGreaterThanOne": True, **sharing}},
        }
    return {"version": "v1", "sharing": {"mps": sharing}}
