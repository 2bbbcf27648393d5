"""The size of a pool in zones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplatform.gcp.sizing import PoolSize, pool_size


@pytest.mark.parametrize(
    ("nodes_min", "nodes_max", "zones", "size"),
    [
        (0, 4, 2, PoolSize(autoscaled=True, per_zone=0)),
        (2, 4, 2, PoolSize(autoscaled=True, per_zone=1)),
        (2, 4, 3, PoolSize(autoscaled=True, per_zone=1)),
        (1, 2, 3, PoolSize(autoscaled=True, per_zone=0)),
        (4, 4, 2, PoolSize(autoscaled=False, per_zone=2)),
        (3, 3, 2, PoolSize(autoscaled=True, per_zone=1)),
    ],
)
def test_a_pool_of_so_many_nodes_in_so_many_zones_is(nodes_min, nodes_max, zones, size):
    assert pool_size(nodes_min, nodes_max, zones) == size


@given(st.integers(0, 1000), st.integers(1, 1000), st.integers(1, 6))
def test_no_pool_starts_past_its_maximum_and_a_fixed_one_has_exactly_its_nodes(low, high, zones):
    low, high = min(low, high), max(low, high)
    size = pool_size(low, high, zones)

    assert size.per_zone * zones <= high
    if size.autoscaled:
        assert size.per_zone * zones > low - zones
    else:
        assert size.per_zone * zones == low == high


@pytest.mark.parametrize(("nodes_min", "nodes_max", "zones"), [(2, 1, 1), (0, 0, 1), (-1, 1, 1), (0, 1, 0)])
def test_bounds_out_of_order_are_no_size(nodes_min, nodes_max, zones):
    with pytest.raises(ValueError, match="no pool has"):
        pool_size(nodes_min, nodes_max, zones)
