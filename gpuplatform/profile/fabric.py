"""What connects the nodes of a pool: a closed union, each with all that its cloud must set up for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = [
    "Efa",
    "Fabric",
    "InfiniBand",
    "NetworkInterface",
    "NoFabric",
    "NvlinkDomain",
    "Roce",
    "Tcpx",
    "Tcpxo",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInterface:
    """One interface of an AWS launch template.

    Attributes:
        card: Network card index.
        device: Device index on the card: 0 or 1, never more (eksctl-io/eksctl#7520).
        type: `interface` (ENA), `efa-only` (no IP address) or `efa` (both).
    """

    card: int
    device: Literal[0, 1]
    type: Literal["interface", "efa-only", "efa"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Efa:
    """AWS Elastic Fabric Adapter.

    Attributes:
        interfaces: All interfaces of the launch template, in its order.
        adapters: What the device plugin advertises as `vpc.amazonaws.com/efa`: EFA interfaces, not cards.
        gpudirect: Whether GPUs read and write the adapter without the host's memory.
        nvlink_domain: GB200/GB300: whether nodes of one UltraServer also share NVLink.
    """

    interfaces: tuple[NetworkInterface, ...]
    adapters: int
    gpudirect: bool
    nvlink_domain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InfiniBand:
    """Azure InfiniBand, brought up by the Network Operator.

    Attributes:
        resource: What pods ask for.
        adapters: Adapters of a node.
        nvlink_domain: GB200/GB300: whether nodes of one rack also share NVLink.
    """

    resource: Literal["rdma/ib", "rdma/shared_ib"]
    adapters: int
    nvlink_domain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tcpx:
    """GKE GPUDirect-TCPX (a3-highgpu-8g): `networks` extra VPCs of one subnet each."""

    networks: int
    mtu: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tcpxo:
    """GKE GPUDirect-TCPXO (a3-megagpu-8g): `networks` extra VPCs of one subnet each."""

    networks: int
    mtu: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Roce:
    """GKE GPUDirect RDMA: one more gVNIC VPC, and one VPC with an RDMA profile and a subnet for each NIC.

    Attributes:
        adapters: RDMA NICs of a node, each with a subnet of the RDMA VPC.
        network_profile: Suffix of the VPC's network profile, after the zone: `{zone}-vpc-roce`.
        dranet: Whether the NICs come through dynamic resource allocation instead of extra node networks.
    """

    adapters: int
    network_profile: str
    dranet: bool = False

    @property
    def bare_metal(self) -> bool:
        """Whether the machines are bare metal, whose RDMA VPC brings its one subnet itself."""
        return self.network_profile.endswith("-metal")


@dataclass(frozen=True, slots=True, kw_only=True)
class NvlinkDomain:
    """Multi-node NVLink with RoCE between domains (GKE a4x, a4x-max).

    Attributes:
        roce: The network between domains.
        topology: Nodes x GPUs of a domain, such as `1x72`.
    """

    roce: Roce
    topology: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoFabric:
    """Plain TCP.

    Attributes:
        reason: Why, as a sentence for reports: the machine has none, or the pool asks for none.
    """

    reason: str


Fabric = Efa | InfiniBand | Tcpx | Tcpxo | Roce | NvlinkDomain | NoFabric
