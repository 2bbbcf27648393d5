"""Labels and taints that a user may not set, since they steer what the profile has decided; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile.model import Taint

__all__ = ["refuse_clashes"]

# Operators, device plugins and autoscalers act on these: a driver left out here, a GPU cut anew there, a
# plugin that never starts (NVIDIA/aicr#1998, NVIDIA/gpu-operator#1623).
_STEERING_DOMAINS: Final = (
    "nvidia.com",
    "gpuplatform.io",
    "vpc.amazonaws.com",
    "k8s.amazonaws.com",
    "amd.com",
)
_STEERING_LABELS: Final = frozenset({"gke-no-default-nvidia-gpu-device-plugin"})

# The clouds put these on nodes by themselves; declared on others, they are dropped or stand there twice.
_CLOUDS_TAINTS: Final = frozenset(
    {
        "cloud.google.com/gke-queued",
        "cloud.google.com/gke-spot",
        "kubernetes.azure.com/scalesetpriority",
        "kubernetes.io/arch",
    }
)


def refuse_clashes(pool: NodePool, labels: Mapping[str, str], taints: Iterable[Taint], where: str) -> None:
    """Refuses a user's label or taint that the profile sets itself, or that would undo what it decides.

    Args:
        pool: What the user wrote.
        labels: The profile's own labels.
        taints: The profile's own taints.
        where: The pool's path, for messages.

    Raises:
        Refusal: There is one; the sentence names the key that says the same in the configuration.
    """
    for key in pool.labels:
        if key in labels or key in _STEERING_LABELS or _below(key, _STEERING_DOMAINS):
            raise Refusal(
                f"the label {key} is the platform's own",
                where=f"{where}.labels",
                rule="it steers drivers, device plugins and autoscaling, and would undo what they were told",
                way_out="leave it out; driver, sharing, fabric and purpose say what such labels would",
            )
    own = _CLOUDS_TAINTS | {taint.key for taint in taints}
    for taint in pool.taints:
        if taint.key in own:
            raise Refusal(
                f"the taint {taint.key} is put on the nodes that need it without being asked for",
                where=f"{where}.taints",
                rule="declared by hand it would be dropped, or stand there twice",
                way_out="leave it out; capacity says how the machines are bought",
            )


def _below(key: str, domains: Iterable[str]) -> bool:
    domain = key.rpartition("/")[0]
    return any(domain == owner or domain.endswith(f".{owner}") for owner in domains)
