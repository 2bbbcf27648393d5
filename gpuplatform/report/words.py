"""A profile's parts in a word or two."""

from __future__ import annotations

from gpuplatform.profile import (
    Efa,
    InfiniBand,
    NodeProfile,
    NoFabric,
    NvlinkDomain,
    Roce,
    Tcpx,
    Tcpxo,
)

__all__ = ["fabric_of", "gpus_of"]


def fabric_of(profile: NodeProfile) -> str:
    """What connects the nodes, with the number that is wrong so easily."""
    match profile.fabric:
        case Efa(adapters=adapters):
            return f"EFA x {adapters}"
        case InfiniBand(adapters=adapters):
            return f"InfiniBand x {adapters}"
        case Tcpx(networks=networks):
            return f"TCPX x {networks}"
        case Tcpxo(networks=networks):
            return f"TCPXO x {networks}"
        case Roce(adapters=adapters):
            return f"RoCE x {adapters}"
        case NvlinkDomain(topology=topology, roce=roce):
            return f"NVLink {topology}, RoCE x {roce.adapters}"
        case NoFabric():
            return "TCP"


def gpus_of(profile: NodeProfile) -> str:
    """How many GPUs a node has, and how they are shared."""
    whole = f"{profile.gpus} x {profile.gpu_model}"
    return (
        whole
        if profile.sharing is None
        else f"{whole} as {profile.sharing.per_node} {profile.sharing.resource}"
    )
