"""Machines that a cluster adds without any resource of the program's saying which."""

from __future__ import annotations

from gpuplatform.catalog import Cloud
from gpuplatform.guardrails.footprint import NodeGroup, RawResource, Unknown

__all__ = ["unseen"]


def unseen(raw: RawResource, cloud: Cloud, region: str | Unknown, what: Unknown) -> NodeGroup:
    """The group of those machines: neither their type nor their number is known, so neither may pass."""
    return NodeGroup(
        name=raw.name,
        where=raw.urn,
        cloud=cloud,
        machine=what,
        region=region,
        nodes_min=0,
        nodes_max=what,
        asks_for_gpus=None,
    )
