"""What a network is made of, on every cloud."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network

from gpuplatform.tags import Tags

__all__ = ["NetworkArgs"]


@dataclass(frozen=True, kw_only=True)
class NetworkArgs:
    """What a network is made of, on every cloud.

    Attributes:
        name: Prefix of every physical name, such as `vision-prod`.
        region: The cloud's own name of the region.
        cidr: What the network is numbered from; how it is divided: `gpuplatform.config.layout`.
        zones: Where nodes may be, as the cloud names its zones.
        nodes_max: Nodes of all pools at their maximum, upgrade surge included, so that all of them find room.
        tags: Tags of every resource that takes some.
    """

    name: str
    region: str
    cidr: IPv4Network
    zones: tuple[str, ...]
    nodes_max: int
    tags: Tags
