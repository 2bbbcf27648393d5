"""How a network's CIDR is divided, per cloud; pure, and the one place that says when a CIDR is too small.

The same question has three answers, since the clouds number pods differently:

- AWS: pods take addresses of the node's subnet (VPC CNI). In prefix mode a node takes /28 blocks of 16 as
  its pods come, and keeps one warm
  (https://docs.aws.amazon.com/eks/latest/best-practices/prefix-mode-linux.html).
  `AWS_ADDRESSES_PER_NODE` is the node's own address and four blocks less one: room for 32 pods beside the
  warm one, where a GPU node runs about fifteen of its own and a few of its users'.
- Azure: CNI overlay numbers pods from a CIDR of its own, /24 a node; the subnet holds nodes only
  (https://learn.microsoft.com/azure/aks/azure-cni-overlay).
- GCP: pods take a secondary range, /24 a node at the default of 110 pods
  (https://cloud.google.com/kubernetes-engine/docs/how-to/flexible-pod-cidr).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from math import ceil, log2
from typing import Final, TypeVar

from gpuplatform.cidr import carve
from gpuplatform.errors import Refusal

__all__ = [
    "AWS_ADDRESSES_PER_NODE",
    "AZURE_POD_CIDR",
    "AZURE_RESERVED_CIDRS",
    "AZURE_SERVICE_CIDR",
    "AwsLayout",
    "AzureLayout",
    "GcpLayout",
    "TooSmall",
    "aws_layout",
    "azure_layout",
    "azure_lustre_prefix",
    "fitting",
    "gcp_layout",
    "gcp_private_services",
]

AWS_ADDRESSES_PER_NODE: Final = 64
AWS_RESERVED: Final = 5  # per subnet: https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
AZURE_RESERVED: Final = 5  # https://learn.microsoft.com/azure/virtual-network/virtual-networks-faq
GCP_RESERVED: Final = 4  # https://cloud.google.com/vpc/docs/subnets#unusable-ip-addresses-in-every-subnet
AZURE_POD_CIDR: Final = IPv4Network("100.64.0.0/10")
AZURE_SERVICE_CIDR: Final = IPv4Network("172.29.0.0/16")
AZURE_RESERVED_CIDRS: Final = tuple(
    map(IPv4Network, ("169.254.0.0/16", "172.30.0.0/16", "172.31.0.0/16", "192.0.2.0/24"))
)
"""AKS's own, for nodes, pods and services alike
(https://learn.microsoft.com/azure/aks/concepts-network-cni-overview, "IP address planning")."""
POD_PREFIX_PER_NODE: Final = 24
GCP_SERVICES_PREFIX: Final = 20
"""For managed services. Each Managed Lustre instance takes a /23 of it, each Filestore instance a /29 to /24
(https://cloud.google.com/managed-lustre/docs/vpc, which allocates a /20 for several)."""
LONGEST_PREFIX: Final = 28  # the smallest subnet that AWS allows; the others' minimum is /29


@dataclass(frozen=True, slots=True, kw_only=True)
class TooSmall:
    """A CIDR that cannot hold the nodes: how many it holds, how many are asked for, what would do."""

    holds: int
    nodes: int
    what: str
    prefix_needed: int | None

    def __str__(self) -> str:
        way_out = (
            f"a /{self.prefix_needed} would do"
            if self.prefix_needed is not None
            else "no private block would do"
        )
        return f"{self.what} holds {self.holds} nodes, the pools ask for up to {self.nodes}; {way_out}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsLayout:
    """One private and one small public subnet a zone; the publics hold NAT gateways only."""

    private: dict[str, IPv4Network]
    public: dict[str, IPv4Network]


AZURE_ENDPOINTS_PREFIX: Final = 28
AZURE_LUSTRE_PREFIXES: Final = ((196, 24), (400, 23))
"""Up to how many TiB a file system of Azure Managed Lustre fits a subnet of which prefix length.

https://learn.microsoft.com/azure/azure-managed-lustre/amlfs-prerequisites, "Network size requirements", lets
small ones have less than the /24 that the API's reference asks for; the larger of the two is taken. What is
larger than the table gets as many addresses for each TiB as its last row.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AzureLayout:
    """One node subnet; pods and services have CIDRs of their own outside the virtual network.

    Attributes:
        nodes: The nodes' subnet.
        lustre: The subnet of each Lustre file system, by its tier.
        endpoints: Private endpoints of file shares; None where there are none.
        pods: Numbers the pods.
        services: Numbers the services.
    """

    nodes: IPv4Network
    lustre: dict[str, IPv4Network] = field(default_factory=dict)
    endpoints: IPv4Network | None = None
    pods: IPv4Network = AZURE_POD_CIDR
    services: IPv4Network = AZURE_SERVICE_CIDR


@dataclass(frozen=True, slots=True, kw_only=True)
class GcpLayout:
    """One subnet with two secondary ranges, and the /28 of a private control plane."""

    nodes: IPv4Network
    pods: IPv4Network
    services: IPv4Network
    control_plane: IPv4Network


def aws_layout(cidr: IPv4Network, zones: Sequence[str], nodes: int) -> AwsLayout | TooSmall:
    """Half of the VPC for private subnets, the next eighth for public ones, the rest kept for later parts.

    Each private subnet alone must hold all the nodes, since a reservation or a stock-out can move every
    node of every pool into one zone.
    """
    private, public = _aws_prefixes(cidr.prefixlen, len(zones))
    holds = _aws_holds(cidr.prefixlen, len(zones))
    if holds < nodes:
        fitting = (p for p in range(28, 15, -1) if _aws_holds(p, len(zones)) >= nodes)
        return TooSmall(
            holds=holds,
            nodes=nodes,
            what=f"{cidr} in {len(zones)} zone(s), at {AWS_ADDRESSES_PER_NODE} addresses a node,",
            prefix_needed=next(fitting, None),
        )
    blocks = carve(cidr, [private] * len(zones) + [public] * len(zones))
    if blocks is None:  # holds >= nodes >= 1 leaves room by construction
        raise AssertionError(f"{cidr} does not divide into {len(zones)} zones")
    return AwsLayout(
        private=dict(zip(zones, blocks[: len(zones)], strict=True)),
        public=dict(zip(zones, blocks[len(zones) :], strict=True)),
    )


def azure_layout(
    cidr: IPv4Network, nodes: int, lustre: Mapping[str, int] | None = None, *, endpoints: bool = False
) -> AzureLayout | TooSmall:
    """Half of the virtual network for nodes; the rest for file systems and endpoints, or free.

    Each pool's upgrade surge is counted by the caller in `nodes`.

    Args:
        cidr: The virtual network.
        nodes: Nodes of all pools.
        lustre: What each Lustre file system holds, GiB, by its tier. Their subnets follow each other in this
            order and none can move, so a new one comes last.
        endpoints: Whether file shares have private endpoints; they stand at the very end.
    """
    sizes = {tier: azure_lustre_prefix(gib) for tier, gib in (lustre or {}).items()}

    def fits(prefix: int) -> bool:
        half = IPv4Network((0, prefix + 1))
        return (
            _block(prefix + 1, AZURE_RESERVED) >= nodes
            and _in_order(half, sizes, endpoints=endpoints) is not None
        )

    needed = next(filter(fits, range(28, 7, -1)), None)
    prefix = cidr.prefixlen + 1
    holds = _block(prefix, AZURE_RESERVED)
    if holds < nodes:
        return TooSmall(holds=holds, nodes=nodes, what=f"half of {cidr}", prefix_needed=needed)
    own, rest = cidr.subnets(new_prefix=prefix)
    placed = _in_order(rest, sizes, endpoints=endpoints)
    if placed is None:
        what = f"{cidr}, with the subnets of its file systems in the other half,"
        return TooSmall(holds=0, nodes=nodes, what=what, prefix_needed=needed)
    last = int(rest.broadcast_address) + 1 - 2 ** (32 - AZURE_ENDPOINTS_PREFIX)
    end = IPv4Network((last, AZURE_ENDPOINTS_PREFIX)) if endpoints else None
    return AzureLayout(nodes=own, lustre=placed, endpoints=end)


def _in_order(
    network: IPv4Network, sizes: Mapping[str, int], *, endpoints: bool
) -> dict[str, IPv4Network] | None:
    """Aligned blocks one after the other, and room for the endpoints behind them; None for want of it."""
    end = int(network.broadcast_address) + 1 - (2 ** (32 - AZURE_ENDPOINTS_PREFIX) if endpoints else 0)
    cursor, placed = int(network.network_address), {}
    for tier, prefix in sizes.items():
        size = 2 ** (32 - prefix)
        cursor = -(-cursor // size) * size
        placed[tier] = IPv4Network((cursor, prefix))
        cursor += size
    return placed if cursor <= end else None


def azure_lustre_prefix(gib: int) -> int:
    """Prefix length of the subnet that a Lustre file system of this size needs."""
    tib = gib / 1024
    for holds, prefix in AZURE_LUSTRE_PREFIXES:
        if tib <= holds:
            return prefix
    most, prefix = AZURE_LUSTRE_PREFIXES[-1]
    return prefix - ceil(log2(tib / most))


def gcp_layout(cidr: IPv4Network, nodes: int) -> GcpLayout | TooSmall:
    """Half for pods, a sixteenth each for nodes and services, a /28 for the control plane, the rest free."""
    holds = _gcp_holds(cidr.prefixlen)
    if holds < nodes:
        fitting = (p for p in range(28, 7, -1) if _gcp_holds(p) >= nodes)
        return TooSmall(
            holds=holds,
            nodes=nodes,
            what=f"{cidr}, at a /{POD_PREFIX_PER_NODE} of pods a node,",
            prefix_needed=next(fitting, None),
        )
    length = cidr.prefixlen
    blocks = carve(cidr, [length + 1, length + 4, length + 4, 28])
    if blocks is None:  # the four sizes add up to less than the whole
        raise AssertionError(f"{cidr} does not divide")
    pods, services, node_range, control_plane = blocks
    return GcpLayout(nodes=node_range, pods=pods, services=services, control_plane=control_plane)


def gcp_private_services(cidr: IPv4Network, layout: GcpLayout) -> IPv4Network:
    """The network's last /20, for Google's managed services; the layout itself is the same without them.

    Raises:
        Refusal: The layout needs it.
    """
    if cidr.prefixlen <= GCP_SERVICES_PREFIX:
        *_, last = cidr.subnets(new_prefix=GCP_SERVICES_PREFIX)
        used = (layout.pods, layout.nodes, layout.services, layout.control_plane)
        if not any(last.overlaps(block) for block in used):
            return last
    raise Refusal(
        f"{cidr} has no /{GCP_SERVICES_PREFIX} left for Google's managed services",
        where="network.cidr",
        rule="shared file systems stand in addresses of the network that nothing else uses",
        way_out="widen the CIDR: a /18 would do",
    )


L = TypeVar("L", AwsLayout, AzureLayout, GcpLayout)


def fitting(layout: L | TooSmall) -> L:
    """The layout itself.

    Raises:
        Refusal: There is none: the CIDR does not hold the nodes.
    """
    if isinstance(layout, TooSmall):
        raise Refusal(
            str(layout),
            where="network.cidr",
            rule="the network holds every pool at its maximum",
            way_out="widen the CIDR, or lower the pools' maximum node counts",
        )
    return layout


def _aws_prefixes(length: int, zones: int) -> tuple[int, int]:
    zone_bits = (zones - 1).bit_length()
    return length + 1 + zone_bits, max(length + 3 + zone_bits, 24)


def _aws_holds(length: int, zones: int) -> int:
    private, public = _aws_prefixes(length, zones)
    if max(private, public) > LONGEST_PREFIX:
        return 0
    return _block(private, AWS_RESERVED) // AWS_ADDRESSES_PER_NODE


def _gcp_holds(length: int) -> int:
    pods = 2 ** max(POD_PREFIX_PER_NODE - (length + 1), 0) if length < POD_PREFIX_PER_NODE else 0
    return min(pods, _block(length + 4, GCP_RESERVED)) if length + 4 <= LONGEST_PREFIX else 0


def _block(prefix: int, reserved: int) -> int:
    return max(2 ** (32 - prefix) - reserved, 0) if prefix <= 32 else 0  # noqa: PLR2004 - bits of an IPv4 address
