"""The one decision that everything follows from: `node_profile(pool, sku) -> NodeProfile`."""

from __future__ import annotations

from gpuplatform.profile.bandwidth import Bandwidth
from gpuplatform.profile.decide import POOL_LABEL, PURPOSE_LABEL, node_profile
from gpuplatform.profile.driver import AksDriver, AmiDriver, Driver, GkeDriver, OperatorDriver
from gpuplatform.profile.fabric import (
    Efa,
    Fabric,
    InfiniBand,
    NetworkInterface,
    NoFabric,
    NvlinkDomain,
    Roce,
    Tcpx,
    Tcpxo,
)
from gpuplatform.profile.model import (
    CapacityPlan,
    Flavor,
    LocalDisks,
    NodeProfile,
    Placement,
    PodWiring,
    SharedGpu,
    Taint,
)
from gpuplatform.profile.operator import operator_values, tolerations

__all__ = [
    "POOL_LABEL",
    "PURPOSE_LABEL",
    "AksDriver",
    "AmiDriver",
    "Bandwidth",
    "CapacityPlan",
    "Driver",
    "Efa",
    "Fabric",
    "Flavor",
    "GkeDriver",
    "InfiniBand",
    "LocalDisks",
    "NetworkInterface",
    "NoFabric",
    "NodeProfile",
    "NvlinkDomain",
    "OperatorDriver",
    "Placement",
    "PodWiring",
    "Roce",
    "SharedGpu",
    "Taint",
    "Tcpx",
    "Tcpxo",
    "node_profile",
    "operator_values",
    "tolerations",
]
