"""Pools of AWS machines, as the tests of its profile describe them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpuplatform import catalog
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile import NodeProfile, node_profile

CATALOG = catalog.load()
BLOCK = {"kind": "capacity-block", "id": "cr-0123456789abcdef0"}
RESERVATION = {"kind": "reservation", "id": "cr-0fedcba9876543210"}
GROUP = "arn:aws:resource-groups:us-east-1:123456789012:group/h100s"
EFA_SKUS = tuple(sku.name for sku in CATALOG.skus("aws") if sku.fabric == "efa")
NVIDIA_SKUS = tuple(sku.name for sku in CATALOG.skus("aws") if sku.gpu_vendor == "nvidia")


def pool(sku: str, **changes: Any) -> NodePool:
    asked = {
        "name": "train",
        "sku": sku,
        "purpose": "training",
        "nodes": {"min": 0, "max": 4},
        "zones": ["use1-az4"],
        # The one machine that is sold in no other way.
        **({"capacity": BLOCK} if sku.startswith("p6e") else {}),
        **changes,
    }
    written = {key: value for key, value in asked.items() if value is not None}
    # From JSON, as from YAML: Python's own lists are refused.
    return NodePool.model_validate_json(json.dumps(written))


def profile(sku: str, **changes: Any) -> NodeProfile:
    row = CATALOG.sku("aws", sku)
    assert row is not None
    return node_profile(pool(sku, **changes), row)


def refusal(sku: str, **changes: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        profile(sku, **changes)
    return caught.value
