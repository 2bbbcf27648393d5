"""A cache on local NVMe: where there is some, and how much of it."""

from __future__ import annotations

import pytest
from profiles import made_profile

from gpuplatform.config import Object
from gpuplatform.errors import Refusal
from gpuplatform.profile import AmiDriver, LocalDisks
from gpuplatform.storage.cache import MOST_CACHES, SHARE_OF_DISKS

AL2023 = AmiDriver(ami_type="AL2023_x86_64_NVIDIA")
CACHED = Object(tier="object", cache="local-nvme")


def pool(name, mode, gib=0):
    return made_profile(AL2023, pool=name, sku=f"machine-{name}", local_disks=LocalDisks(mode=mode, gib=gib))


def test_it_is_a_share_of_the_smallest_local_disks(plans):
    pools = (pool("large", "ephemeral", 28_000), pool("small", "ephemeral", 1000), pool("none", "none"))

    cache = plans("aws", {"data": CACHED}, profiles=pools)["data"].cache

    assert cache.gib == int(1000 * SHARE_OF_DISKS)
    assert cache.pools == ("large", "small")


@pytest.mark.parametrize("cloud", ["aws", "azure", "gcp"])
def test_every_clouds_training_machine_has_room_for_one(plans, cloud):
    profiles = [p for p in _profiles(cloud) if p.local_disks.mode == "ephemeral"]
    cache = plans(cloud, {"data": CACHED}, profiles=profiles)["data"].cache

    assert cache.gib == int(min(p.local_disks.gib for p in profiles) * SHARE_OF_DISKS)
    assert cache.gib >= 1


def _profiles(cloud):
    from samples import decision_of

    return decision_of(f"{cloud}-prod").profiles


def test_its_size_depends_on_no_other_tier(plans):
    """A volume whose size changed would be replaced below the pods that mount it."""
    pools = (pool("train", "ephemeral", 4000),)
    alone = plans("aws", {"data": CACHED}, profiles=pools)["data"].cache
    beside = plans("aws", {"data": CACHED, "lake": CACHED}, profiles=pools)["data"].cache

    assert alone == beside


def test_without_it_a_bucket_is_read_directly(plans):
    pools = (pool("train", "ephemeral", 4000),)
    assert plans("aws", {"data": Object(tier="object")}, profiles=pools)["data"].cache is None


def test_no_pool_with_such_disks_is_a_refusal_that_names_them_all(refused):
    refusal = refused("aws", CACHED, profiles=(pool("train", "raw", 4000), pool("serve", "none")))

    assert refusal.where == "storage.data.cache"
    assert "train (machine-train, local_disks: raw)" in refusal.what
    assert "serve (machine-serve, none)" in refusal.what
    assert "ephemeral" in refusal.way_out


def test_disks_of_unknown_size_are_said_to_be_so(refused):
    refusal = refused("aws", CACHED, profiles=(pool("train", "ephemeral", 0), pool("b", "ephemeral", 900)))

    assert "machine-train" in refusal.what
    assert "not known" in refusal.what
    assert refusal.where == "storage.data.cache"


def test_disks_too_small_for_a_share_are_refused(refused):
    assert "3 GiB" in refused("aws", CACHED, profiles=(pool("train", "ephemeral", 3),)).what


def test_caches_never_fill_the_disks_together(plans):
    tiers = {f"t{n}": CACHED for n in range(MOST_CACHES + 1)}
    pools = (pool("train", "ephemeral", 4000),)

    with pytest.raises(Refusal) as caught:
        plans("aws", tiers, profiles=pools)

    assert caught.value.where == f"storage.t{MOST_CACHES}.cache"
    assert MOST_CACHES * SHARE_OF_DISKS < 0.85  # from there on a kubelet evicts pods
