"""What the clouds have in common: what its parts are made of, and what they give.

The clouds' own arguments and components extend these, so that a name, a default and a check that hold on
every cloud stand here once.
"""

from __future__ import annotations

from gpuplatform.contracts.budget import (
    BudgetArgs,
)
from gpuplatform.contracts.cluster import (
    ClusterArgs,
    ClusterComponent,
    ClusterHandle,
    Mount,
    Support,
)
from gpuplatform.contracts.gpu_pool import (
    TAINT_EFFECTS,
    GpuPoolArgs,
    GpuPoolComponent,
    driver_of,
)
from gpuplatform.contracts.identity import (
    CiIdentityArgs,
    CiIdentityComponent,
    IdentityHandle,
    WorkloadIdentityArgs,
    WorkloadIdentityComponent,
)
from gpuplatform.contracts.network import (
    NetworkArgs,
)
from gpuplatform.contracts.state import (
    StateStoreArgs,
    StateStoreComponent,
)
from gpuplatform.contracts.storage import (
    ObjectStoreArgs,
    ObjectStoreComponent,
    SharedFilesystemArgs,
    SharedFilesystemComponent,
    StorageHandle,
    Volume,
)

__all__ = [
    "TAINT_EFFECTS",
    "BudgetArgs",
    "CiIdentityArgs",
    "CiIdentityComponent",
    "ClusterArgs",
    "ClusterComponent",
    "ClusterHandle",
    "GpuPoolArgs",
    "GpuPoolComponent",
    "IdentityHandle",
    "Mount",
    "NetworkArgs",
    "ObjectStoreArgs",
    "ObjectStoreComponent",
    "SharedFilesystemArgs",
    "SharedFilesystemComponent",
    "StateStoreArgs",
    "StateStoreComponent",
    "StorageHandle",
    "Support",
    "Volume",
    "WorkloadIdentityArgs",
    "WorkloadIdentityComponent",
    "driver_of",
]
