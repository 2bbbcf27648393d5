"""The extra networks of a pool's nodes by their names in the cluster; pods and components both use these."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from gpuplatform.profile.fabric import Fabric, NvlinkDomain, Roce, Tcpx, Tcpxo

__all__ = ["NodeNetwork", "node_networks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeNetwork:
    """One extra interface of a node.

    Attributes:
        name: Of the cluster's Network and GKENetworkParamSet objects; empty where dynamic resource allocation
            takes their place.
        interface: Its name inside a pod that uses it; empty where pods don't.
        device: `NetDevice` (a gVNIC) or `RDMA`, as GKENetworkParamSet spells them.
        vpc: Key of the VPC that it is in; interfaces with one key share a VPC and have a subnet each, except
            on bare metal, where the VPC brings one subnet for all.
        subnet: Key of its subnet; empty where the VPC brings one itself.
        shared: Whether all pools of the cluster use the same VPC.
        mtu: The VPC's MTU; None for Google's default.
    """

    name: str
    interface: str
    device: Literal["NetDevice", "RDMA"]
    vpc: str
    subnet: str
    shared: bool
    mtu: int | None = None


def node_networks(pool: str, connects: Fabric) -> tuple[NodeNetwork, ...]:
    """The extra networks of the pool's nodes, in the order of the node's interfaces.

    TCPX and TCPXO networks belong to the cluster: a project has a quota of VPCs, and each of these is one.
    RoCE networks belong to a pool, since their VPC is in one zone. Where GKE makes the networks itself (A4X)
    there are none here.
    """
    match connects:
        case Tcpx(networks=count, mtu=mtu) | Tcpxo(networks=count, mtu=mtu):
            return tuple(
                NodeNetwork(
                    name=f"vpc{number}",
                    interface=f"eth{number}",
                    device="NetDevice",
                    vpc=f"gpu-{number}",
                    subnet=f"gpu-{number}",
                    shared=True,
                    mtu=mtu,
                )
                for number in range(1, count + 1)
            )
        case Roce(dranet=False) as roce:
            return (_gvnic(pool), *_rdma(pool, roce))
        # Bare metal: GoogleCloudPlatform/cluster-toolkit, examples/gke-a4x-max-bm/gke-a4x-max-bm.yaml.
        case NvlinkDomain(roce=Roce(bare_metal=True) as roce):
            rdma = (replace(each, subnet="") for each in _rdma(pool, roce))
            return tuple(replace(each, name="", interface="") for each in (_gvnic(pool), *rdma))
        case _:
            return ()


def _gvnic(pool: str) -> NodeNetwork:
    key = f"{pool}-gvnic"
    return NodeNetwork(name=key, interface="", device="NetDevice", vpc=key, subnet=key, shared=False)


def _rdma(pool: str, roce: Roce) -> tuple[NodeNetwork, ...]:
    # eth1 is the second gVNIC (GoogleCloudPlatform/cluster-toolkit, examples/gke-a3-ultragpu).
    return tuple(
        NodeNetwork(
            name=f"{pool}-rdma-{number}",
            interface=f"eth{number + 2}",
            device="RDMA",
            vpc=f"{pool}-rdma",
            subnet=f"{pool}-rdma-{number}",
            shared=False,
        )
        for number in range(roce.adapters)
    )
