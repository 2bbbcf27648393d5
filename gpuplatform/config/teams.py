"""Teams: who shares the cluster, and which storage is theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final

from pydantic import Field

from gpuplatform.config.base import Model
from gpuplatform.config.storage import Block, Storage, TierName

__all__ = ["Team", "team_problems"]


class Team(Model):
    """A team: a namespace, a workload identity, and volumes of the tiers that it lists."""

    name: Annotated[
        str,
        Field(
            pattern=r"^[a-z]([a-z0-9-]{0,22}[a-z0-9])?$",
            description="Its namespace too: at most 24 lower-case letters, digits and hyphens, starting with "
            "a letter and not ending with a hyphen.",
        ),
    ]
    storage: Annotated[tuple[TierName, ...], Field(description="Tiers that it reads and writes.")] = ()


RESERVED: Final = frozenset(
    (
        "default",
        "gpu-operator",
        "network-operator",
        "kueue-system",
        "nvidia-dra-driver-gpu",
        "gatekeeper-system",
        # Usual ones of add-ons that people install beside this library (not looked up at their makers'):
        # Mountpoint for S3's driver from version 2 on, Calico and its operator, CloudWatch's agent.
        "mount-s3",
        "calico-system",
        "tigera-operator",
        "amazon-cloudwatch",
    )
)
"""Namespaces of the cluster's own or of what this library installs; and those below `RESERVED_PREFIXES`."""

RESERVED_PREFIXES: Final = ("kube-", "gke-", "gmp-", "aks-", "eks-")


def team_problems(teams: Sequence[Team], storage: Mapping[str, Storage]) -> Iterator[tuple[str, str]]:
    """What the teams say of one another and of the tiers that is not so: the path, and why."""
    names = [team.name for team in teams]
    for index, team in enumerate(teams):
        if names.index(team.name) < index:
            yield f"teams[{index}].name", f"the name {team.name} is used twice"
        if team.name in RESERVED or team.name.startswith(RESERVED_PREFIXES):
            yield (
                f"teams[{index}].name",
                f"the namespace {team.name} is the cluster's own; choose another name",
            )
        tiers = [name for name, tier in storage.items() if not isinstance(tier, Block)]
        if disks := [name for name in team.storage if isinstance(storage.get(name), Block)]:
            yield f"teams[{index}].storage", f"{disks[0]} is every team's already: claims name its classes"
        elif stray := [name for name in team.storage if name not in tiers]:
            yield (
                f"teams[{index}].storage",
                f"there is no tier {', '.join(stray)}; there is {', '.join(tiers) or 'none'}",
            )
        if len(set(team.storage)) < len(team.storage):
            yield f"teams[{index}].storage", "a tier is named twice"
