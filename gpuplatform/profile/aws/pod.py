"""What a pod needs so that NCCL finds the fabric on EKS."""

from __future__ import annotations

from typing import Final

from gpuplatform.profile.compute_domain import compute_domain, domain_claim
from gpuplatform.profile.fabric import Efa, Fabric
from gpuplatform.profile.model import PodWiring

__all__ = ["HUGEPAGES", "NODE_HUGEPAGES_MIB", "pod"]

HUGEPAGES: Final = "hugepages-2Mi"
"""libfabric's EFA provider takes its buffers from them."""
POD_HUGEPAGES: Final = "5120Mi"
NODE_HUGEPAGES_MIB: Final = 5128 * 2
"""What a node with the EFA driver sets aside: https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html."""

# https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html; NVIDIA/aicr, validators/performance.
# The pod has one interface with an address, its eth0; the adapters have none.
_EFA_ENV: Final = {
    "FI_PROVIDER": "efa",
    "FI_EFA_FORK_SAFE": "1",
    "NCCL_SOCKET_IFNAME": "eth0",
    "NCCL_BUFFSIZE": "8388608",
    "NCCL_P2P_NET_CHUNKSIZE": "524288",
}
_SHM_VOLUME: Final = {"name": "shm", "emptyDir": {"medium": "Memory"}}
_SHM_MOUNT: Final = {"name": "shm", "mountPath": "/dev/shm"}  # noqa: S108 - what NCCL and PyTorch use


def pod(pool: str, connects: Fabric) -> PodWiring:
    """The wiring of a pod that uses a whole node of this pool.

    Everybody gets shared memory of the node's size: a container's own 64 MiB are too few for NCCL between the
    GPUs of one node, and for data loaders.
    """
    if not isinstance(connects, Efa):
        return PodWiring(resources={}, volumes=(_SHM_VOLUME,), mounts=(_SHM_MOUNT,))
    # Asking for it where the adapter cannot makes libfabric give up.
    rdma = {"FI_EFA_USE_DEVICE_RDMA": "1"} if connects.gpudirect else {}
    domain = connects.nvlink_domain
    return PodWiring(
        resources={HUGEPAGES: POD_HUGEPAGES},
        env={**_EFA_ENV, **rdma},
        # Registered memory is locked memory.
        capabilities=("IPC_LOCK",),
        volumes=(_SHM_VOLUME,),
        mounts=(_SHM_MOUNT,),
        claims=(domain_claim(pool),) if domain else (),
        objects=(compute_domain(pool),) if domain else (),
    )
