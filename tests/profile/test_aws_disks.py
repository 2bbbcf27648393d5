"""Instance store."""

from __future__ import annotations

import pytest
from aws_pools import CATALOG, NVIDIA_SKUS, profile, refusal

WITHOUT = ("g5g.xlarge", "g5g.metal", "p3.8xlarge")


@pytest.mark.parametrize("sku", NVIDIA_SKUS)
def test_sto_5_the_pods_get_the_disks_that_a_machine_has(sku):
    disks = profile(sku, fabric=None, purpose="batch").local_disks
    has = bool(CATALOG.sku("aws", sku).local_ssd)
    assert disks.mode == ("ephemeral" if has else "none")
    assert (disks.gib > 0) is has


def test_sto_5_the_size_is_in_gib():
    assert profile("p5.48xlarge").local_disks.gib == int(30400e9 / 2**30)


@pytest.mark.parametrize("mode", ["ephemeral", "raw"])
@pytest.mark.parametrize("sku", WITHOUT)
def test_sto_5_disks_that_a_machine_lacks_are_refused(sku, mode):
    refused = refusal(sku, local_disks=mode, purpose="batch")
    assert refused.where == "node_pools.train.local_disks"
    assert "disk_gib" in refused.way_out


@pytest.mark.parametrize("mode", ["raw", "none"])
def test_the_disks_are_left_alone_where_the_pool_says_so(mode):
    assert profile("p5.48xlarge", local_disks=mode).local_disks.mode == mode
