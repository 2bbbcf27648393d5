"""What a user may write, and how it is read."""

from __future__ import annotations

from gpuplatform.config.clouds import Aws, Azure, Cloud, Gcp
from gpuplatform.config.layout import AwsLayout, AzureLayout, GcpLayout, TooSmall
from gpuplatform.config.load import KEY, Project, find_project, from_engine, from_file, has_platform
from gpuplatform.config.model import ApiAccess, Budget, Cluster, Guardrails, Network, Platform
from gpuplatform.config.pools import Capacity, NodePool, Nodes, OnDemand, Spot, SystemPool, Taint

__all__ = [
    "KEY",
    "ApiAccess",
    "Aws",
    "AwsLayout",
    "Azure",
    "AzureLayout",
    "Budget",
    "Capacity",
    "Cloud",
    "Cluster",
    "Gcp",
    "GcpLayout",
    "Guardrails",
    "Network",
    "NodePool",
    "Nodes",
    "OnDemand",
    "Platform",
    "Project",
    "Spot",
    "SystemPool",
    "Taint",
    "TooSmall",
    "find_project",
    "from_engine",
    "from_file",
    "has_platform",
]
