"""What a deployment would run: the one thing that every guardrail judges, whoever described it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gpuplatform.catalog import Cloud

__all__ = ["UNKNOWN_MARKS", "ControlPlane", "Footprint", "NodeGroup", "RawResource", "Unknown", "by_name"]

UNKNOWN_MARKS: Final = frozenset(
    {
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # boolean
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",  # string, and what the Python SDK sends for any type
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # array
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # object
    }
)
"""What stands on the wire for a value that only the update will tell.

Source: pulumi/pulumi sdk/go/common/resource/plugin/rpc.go and pulumi_policy/proxy.py.
"""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that is not known before the update, or not from here. Never a pass.

    Attributes:
        field: Which value, such as `scalingConfig.maxSize`.
    """

    field: str

    def __str__(self) -> str:
        return f"{self.field} is unknown until update"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroup:
    """Machines of one kind under one autoscaler, or a single machine.

    Attributes:
        name: The pool's name as its owner knows it.
        where: Path in the configuration or URN; two descriptions of one pool differ only in it.
        cloud: The cloud.
        machine: The machine type; an empty string where it is left to the cloud.
        region: The region.
        zones: AWS: zone IDs or an account's zone names; Azure: 1 to 3; GCP: zones. Empty: left to the cloud.
        nodes_min: Nodes that always run, of all zones together.
        nodes_max: Nodes at the autoscaler's maximum, of all zones together.
        capacity: `on-demand`, `spot`, `reservation`, `capacity-block`, `flex-start` or `queued`.
        asks_for_gpus: Whether image, taint, label or accelerator ask for GPUs. None where the resource has no
            way of saying so: a plain virtual machine asks by its type alone.
        purpose: `training`, `inference`, `notebooks`, `batch`; None where nobody said.
        also: Further machine types that the group may use instead; the dearest one counts.
        fabric: Whether the interfaces that its machines have for collectives are attached. None where they
            are part of the machine (Azure), or where the resource has no way of attaching any.
    """

    name: str
    where: str = field(compare=False)
    cloud: Cloud
    machine: str | Unknown
    region: str | Unknown
    zones: tuple[str, ...] | Unknown = ()
    nodes_min: int | Unknown
    nodes_max: int | Unknown
    capacity: str = "on-demand"
    asks_for_gpus: bool | Unknown | None
    purpose: str | None = None
    also: tuple[str, ...] = ()
    fabric: bool | Unknown | None = None

    @property
    def system(self) -> bool:
        """Whether it is there for the cluster itself and asks for no GPUs."""
        return self.asks_for_gpus is False

    @property
    def machines(self) -> tuple[str, ...]:
        """The machine types that are known."""
        return (self.machine, *self.also) if isinstance(self.machine, str) else self.also


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """A managed Kubernetes control plane.

    Attributes:
        name: The cluster's name.
        where: Path in the configuration or URN.
        cloud: The cloud.
        region: The region.
        kubernetes_version: The minor, such as `1.35`; empty where it is left to the cloud.
        support: What is bought: `standard`, `extended`, or `free` (AKS's Free tier, which has no SLA).
    """

    name: str = field(compare=False)
    where: str = field(compare=False)
    cloud: Cloud
    region: str | Unknown
    kubernetes_version: str | Unknown
    support: str | Unknown = "standard"


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """All of a deployment's machines and control planes; groups in the order of their names."""

    node_groups: tuple[NodeGroup, ...] = ()
    control_planes: tuple[ControlPlane, ...] = ()


def by_name(groups: list[NodeGroup]) -> tuple[NodeGroup, ...]:
    """Groups in the order that makes two descriptions of one deployment equal."""
    return tuple(sorted(groups, key=lambda group: (group.name, group.where)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RawResource:
    """One resource of any Pulumi program, as plain data.

    Attributes:
        type: Type token, such as `aws:eks/nodeGroup:NodeGroup`.
        name: Logical name.
        urn: URN.
        props: Inputs or outputs by the provider's names; plain dicts and lists, an unknown as one of
            `UNKNOWN_MARKS`.
        provider_region: The region that the resource's provider is set to; empty where it has none.
        depends: By top-level property, the URNs of the resources that the property's value comes from.
    """

    type: str
    name: str
    urn: str
    props: Mapping[str, Any]
    provider_region: str = ""
    depends: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
