"""What storage an environment has: `storage_plans(config, profiles)`, pure."""

from __future__ import annotations

from gpuplatform.storage.decide import bucket_of, lustre_stays_off, storage_plans
from gpuplatform.storage.model import (
    BlockPlan,
    CachePlan,
    DiskClass,
    ObjectPlan,
    SharedFilesystemPlan,
    StoragePlan,
)

__all__ = [
    "BlockPlan",
    "CachePlan",
    "DiskClass",
    "ObjectPlan",
    "SharedFilesystemPlan",
    "StoragePlan",
    "bucket_of",
    "lustre_stays_off",
    "storage_plans",
]
