"""AWS availability zones: two ways to name one, and which of them take a control plane; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gpuplatform.errors import Refusal

__all__ = ["NO_CONTROL_PLANE", "control_plane_zones", "placement"]

NO_CONTROL_PLANE: Final = frozenset({"use1-az3", "usw1-az2", "cac1-az3"})
"""Zones in which EKS puts no control-plane interfaces; nodes may run there
(https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html#network-requirements-subnets)."""

_FEWEST: Final = 2
_ID: Final = re.compile(r"[a-z]+\d-az\d+")


def placement(zone: str) -> dict[str, str]:
    """The subnet property that takes `zone`: an ID (`use1-az4`) and a name (`us-east-1a`) have one each.

    Only the ID means the same place in every account.
    """
    return {"availabilityZoneId" if _ID.fullmatch(zone) else "availabilityZone": zone}


def control_plane_zones(zones: Sequence[str]) -> tuple[str, ...]:
    """The zones whose subnets the control plane attaches to, in the order given.

    A zone name cannot be judged here, since it means another place in every account.

    Raises:
        Refusal: EKS wants subnets in at least two zones, and fewer are left.
    """
    usable = tuple(zone for zone in zones if zone not in NO_CONTROL_PLANE)
    if len(usable) < _FEWEST:
        left_out = sorted(set(zones) & NO_CONTROL_PLANE)
        without = f" ({', '.join(left_out)} takes no control plane)" if left_out else ""
        raise Refusal(
            f"the network has {len(usable)} zone(s) for the control plane{without}",
            where="network.zones",
            rule="EKS attaches a cluster to subnets in at least two availability zones",
            way_out="add a zone; a pool stays in one zone with its own `zones`",
        )
    return usable
