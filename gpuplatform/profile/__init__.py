"""The one decision that everything follows from: `node_profile(pool, sku) -> NodeProfile`."""

from __future__ import annotations

from gpuplatform.profile.decide import POOL_LABEL, PURPOSE_LABEL, node_profile
from gpuplatform.profile.model import AksDriver, AmiDriver, Driver, GkeDriver, NodeProfile, Taint
from gpuplatform.profile.operator import operator_values, tolerations

__all__ = [
    "POOL_LABEL",
    "PURPOSE_LABEL",
    "AksDriver",
    "AmiDriver",
    "Driver",
    "GkeDriver",
    "NodeProfile",
    "Taint",
    "node_profile",
    "operator_values",
    "tolerations",
]
