"""What a pod needs so that NCCL finds the fabric on AKS."""

from __future__ import annotations

from typing import Final

from gpuplatform.profile.compute_domain import compute_domain, domain_claim
from gpuplatform.profile.fabric import Fabric, InfiniBand
from gpuplatform.profile.model import PodWiring

__all__ = ["pod"]

# Azure/aks-rdma-infiniband tests/scenarios/k8s/values.yaml. The virtual machine hides which adapter is near
# which GPU; SYS lets all of them reach GPU memory. The pod's one interface with an address is eth0.
_INFINIBAND_ENV: Final = {
    "NCCL_IB_DISABLE": "0",
    "NCCL_NET_GDR_LEVEL": "SYS",
    "NCCL_SOCKET_IFNAME": "eth0",
}
# Azure/ai-infrastructure-on-azure examples/inferenceX/aks/helm/inferencex/values-gb300-base.yaml: GPU and
# adapter meet in the Grace processor, over its link between chips, and Azure's switches want service level 1.
_GRACE_ENV: Final = {
    "NCCL_IB_SL": "1",
    "NCCL_MNNVL_ENABLE": "1",
    "NCCL_NET_GDR_C2C": "1",
    "NCCL_NET_GDR_LEVEL": "PHB",
}
_SHM_VOLUME: Final = {"name": "shm", "emptyDir": {"medium": "Memory"}}
_SHM_MOUNT: Final = {"name": "shm", "mountPath": "/dev/shm"}  # noqa: S108 - what NCCL and PyTorch use


def pod(pool: str, connects: Fabric) -> PodWiring:
    """The wiring of a pod that uses a whole node of this pool.

    Everybody gets shared memory of the node's size: a container's own 64 MiB are too few for NCCL between the
    GPUs of one node, and for data loaders. The device plugin mounts the adapters themselves.
    """
    if not isinstance(connects, InfiniBand):
        return PodWiring(resources={}, volumes=(_SHM_VOLUME,), mounts=(_SHM_MOUNT,))
    domain = connects.nvlink_domain
    return PodWiring(
        resources={},
        env={**_INFINIBAND_ENV, **(_GRACE_ENV if domain else {})},
        # Registered memory is locked memory, of which a pod otherwise gets 64 KiB.
        capabilities=("IPC_LOCK",),
        volumes=(_SHM_VOLUME,),
        mounts=(_SHM_MOUNT,),
        claims=(domain_claim(pool),) if domain else (),
        objects=(compute_domain(pool),) if domain else (),
    )
