"""What a user may write, and how it is read."""

from __future__ import annotations

from gpuplatform.config.capacity import (
    Capacity,
    CapacityBlock,
    FlexStart,
    OnDemand,
    Queued,
    Reservation,
    Spot,
)
from gpuplatform.config.clouds import Aws, Azure, Cloud, Gcp
from gpuplatform.config.layout import AwsLayout, AzureLayout, GcpLayout, TooSmall
from gpuplatform.config.load import KEY, Project, find_project, from_engine, from_file, has_platform
from gpuplatform.config.model import ApiAccess, Budget, Cluster, Guardrails, Network, Platform, WorkloadClass
from gpuplatform.config.pools import NodePool, Nodes, SystemPool, Taint
from gpuplatform.config.sharing import Mig, Mps, Sharing, TimeSlicing

__all__ = [
    "KEY",
    "ApiAccess",
    "Aws",
    "AwsLayout",
    "Azure",
    "AzureLayout",
    "Budget",
    "Capacity",
    "CapacityBlock",
    "Cloud",
    "Cluster",
    "FlexStart",
    "Gcp",
    "GcpLayout",
    "Guardrails",
    "Mig",
    "Mps",
    "Network",
    "NodePool",
    "Nodes",
    "OnDemand",
    "Platform",
    "Project",
    "Queued",
    "Reservation",
    "Sharing",
    "Spot",
    "SystemPool",
    "Taint",
    "TimeSlicing",
    "TooSmall",
    "WorkloadClass",
    "find_project",
    "from_engine",
    "from_file",
    "has_platform",
]
