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
from gpuplatform.config.identity import Github, Identity
from gpuplatform.config.layout import AwsLayout, AzureLayout, GcpLayout, TooSmall
from gpuplatform.config.limits import Budget, Guardrails
from gpuplatform.config.load import KEY, Project, find_project, from_engine, from_file, has_platform
from gpuplatform.config.model import ApiAccess, Cluster, Network, Platform, WorkloadClass
from gpuplatform.config.pools import NodePool, Nodes, SystemPool, Taint
from gpuplatform.config.sharing import Mig, Mps, Sharing, TimeSlicing
from gpuplatform.config.storage import Block, Object, SharedFilesystem, Storage, Teardown
from gpuplatform.config.teams import Team
from gpuplatform.config.uptime import Uptime

__all__ = [
    "KEY",
    "ApiAccess",
    "Aws",
    "AwsLayout",
    "Azure",
    "AzureLayout",
    "Block",
    "Budget",
    "Capacity",
    "CapacityBlock",
    "Cloud",
    "Cluster",
    "FlexStart",
    "Gcp",
    "GcpLayout",
    "Github",
    "Guardrails",
    "Identity",
    "Mig",
    "Mps",
    "Network",
    "NodePool",
    "Nodes",
    "Object",
    "OnDemand",
    "Platform",
    "Project",
    "Queued",
    "Reservation",
    "SharedFilesystem",
    "Sharing",
    "Spot",
    "Storage",
    "SystemPool",
    "Taint",
    "Team",
    "Teardown",
    "TimeSlicing",
    "TooSmall",
    "Uptime",
    "WorkloadClass",
    "find_project",
    "from_engine",
    "from_file",
    "has_platform",
]
