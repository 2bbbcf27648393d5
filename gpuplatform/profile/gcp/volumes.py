"""Volumes of the node's own file system, as the Kubernetes API spells them."""

from __future__ import annotations

from typing import Any

__all__ = ["host", "mount"]


def host(name: str, path: str) -> dict[str, Any]:
    """A pod's volume: the node's `path`."""
    return {"name": name, "hostPath": {"path": path}}


def mount(name: str, path: str) -> dict[str, Any]:
    """A container's mount of the volume `name` at `path`."""
    return {"name": name, "mountPath": path}
