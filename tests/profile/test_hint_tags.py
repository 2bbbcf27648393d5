"""A pool at zero is announced by tags, and a tag's key is shorter than a label's may be."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplatform.catalog import load
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile import NodeProfile, node_profile

SKUS = {"aws": "p4d.24xlarge", "azure": "Standard_NC4as_T4_v3", "gcp": "g2-standard-48"}
LABEL = f"{'d' * 80}/key"  # 46 of the prefix and these make 130
LONGEST = f"{'d' * 78}/key"


def _profile(cloud: str, *, least: int, **asked: Any) -> NodeProfile:
    sku = load().sku(cloud, SKUS[cloud])  # type: ignore[arg-type]
    assert sku is not None
    nodes = {"min": least, "max": 1}
    pool = {"name": "pool", "sku": sku.name, "purpose": "inference", "nodes": nodes, **asked}
    return node_profile(NodePool.model_validate(pool), sku)


@pytest.mark.parametrize(
    ("asked", "part"), [({"labels": {LABEL: "x"}}, "labels"), ({"taints": ({"key": LABEL},)}, "taints")]
)
def test_a_key_too_long_for_its_tag_is_refused_where_a_pool_on_aws_scales_from_zero(
    asked: dict[str, Any], part: str
) -> None:
    with pytest.raises(Refusal, match="130 characters") as refused:
        _profile("aws", least=0, **asked)
    assert refused.value.where == f"node_pools.pool.{part}"
    assert "128 at most" in refused.value.rule
    assert "nodes.min: 1" in refused.value.way_out


def test_the_longest_key_that_a_tag_holds_is_accepted() -> None:
    tags = _profile("aws", least=0, labels={LONGEST: "x"}).scale_from_zero
    assert max(map(len, tags)) == 128


@pytest.mark.parametrize(("cloud", "least"), [("aws", 1), ("azure", 0), ("gcp", 0)])
def test_a_pool_that_needs_no_tag_takes_the_same_key(cloud: str, least: int) -> None:
    assert _profile(cloud, least=least, labels={LABEL: "x"}).labels[LABEL] == "x"
