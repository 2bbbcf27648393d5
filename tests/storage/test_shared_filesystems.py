"""Sizes and throughputs against each service's documented rules."""

from __future__ import annotations

from dataclasses import replace

import pytest
from samples import decision_of

from gpuplatform.config import Object, SharedFilesystem
from gpuplatform.errors import Refusal
from gpuplatform.storage import lustre_stays_off

LARGEST = 1_048_576
TRAINING = {"aws": "use1-az4", "azure": "1", "gcp": "us-east4-b"}
"""Where the samples train."""


def filesystem(gib, service="lustre", **more):
    return SharedFilesystem(tier="shared-filesystem", service=service, capacity_gib=gib, **more)


SOLD = [
    # cloud, service, GiB, asked, throughput, sku
    ("aws", "lustre", 1200, None, 125, "PERSISTENT_2"),
    ("aws", "lustre", 2400, 1000, 1000, "PERSISTENT_2"),
    ("aws", "lustre", 4800, 250, 250, "PERSISTENT_2"),
    ("aws", "lustre", 240_000, 500, 500, "PERSISTENT_2"),
    ("azure", "lustre", 48 * 1024, None, 40, "AMLFS-Durable-Premium-40"),
    ("azure", "lustre", 768 * 1024, 40, 40, "AMLFS-Durable-Premium-40"),
    ("azure", "lustre", 16 * 1024, None, 125, "AMLFS-Durable-Premium-125"),
    ("azure", "lustre", 24 * 1024, None, 250, "AMLFS-Durable-Premium-250"),
    ("azure", "lustre", 4 * 1024, None, 500, "AMLFS-Durable-Premium-500"),
    ("azure", "lustre", 128 * 1024, 500, 500, "AMLFS-Durable-Premium-500"),
    ("azure", "nfs", 100, None, None, "Premium_LRS"),
    ("azure", "nfs", 777, None, None, "Premium_LRS"),
    ("azure", "nfs", 102_400, None, None, "Premium_LRS"),
    ("gcp", "lustre", 9000, None, 1000, ""),
    ("gcp", "lustre", 18_000, None, 500, ""),
    ("gcp", "lustre", 72_000, None, 125, ""),
    ("gcp", "lustre", 72_000, 1000, 1000, ""),
    ("gcp", "lustre", 1_044_000, 250, 250, ""),
    ("gcp", "nfs", 1024, None, None, "ZONAL"),
    ("gcp", "nfs", 1280, None, None, "ZONAL"),
    ("gcp", "nfs", 9984, None, None, "ZONAL"),
    ("gcp", "nfs", 10_240, None, None, "ZONAL"),
    ("gcp", "nfs", 102_400, None, None, "ZONAL"),
]


@pytest.mark.parametrize("row", SOLD)
def test_what_a_service_sells_is_planned(plans, row):
    cloud, service, gib, asked, throughput, sku = row
    plan = plans(cloud, {"data": filesystem(gib, service, throughput=asked)})["data"]

    assert (plan.capacity_gib, plan.throughput, plan.sku) == (gib, throughput, sku)


NOT_SOLD = [
    # cloud, service, GiB, throughput, the way out's values
    ("aws", "lustre", 1, None, ["1200"]),
    ("aws", "lustre", 1199, 125, ["1200"]),
    ("aws", "lustre", 1201, None, ["1200", "2400"]),
    ("aws", "lustre", 3600, 250, ["2400", "4800"]),
    ("aws", "lustre", LARGEST, None, ["1046400"]),
    ("azure", "lustre", 1, None, ["4096 (at 500"]),
    ("azure", "lustre", 16_000, 125, ["16384"]),
    ("azure", "lustre", 20_480, 125, ["16384", "32768", "throughput: 500"]),
    ("azure", "lustre", 49_152 + 4096, 40, ["49152", "98304", "throughput: 500"]),
    ("azure", "lustre", 129 * 1024, 500, ["131072"]),
    ("azure", "nfs", 99, None, ["100"]),
    ("azure", "nfs", 102_401, None, ["102400"]),
    ("gcp", "lustre", 8999, None, ["9000 (at 1000"]),
    ("gcp", "lustre", 9000, 125, ["72000", "throughput: 1000"]),
    ("gcp", "lustre", 100_000, 500, ["90000", "108000"]),
    ("gcp", "nfs", 100, None, ["1024"]),
    ("gcp", "nfs", 1025, None, ["1024", "1280"]),
    ("gcp", "nfs", 10_000, None, ["9984", "10240"]),
    ("gcp", "nfs", 10_241, None, ["10240", "12800"]),
]


@pytest.mark.parametrize("row", NOT_SOLD)
def test_other_sizes_are_refused_with_the_nearest_ones(refused, row):
    cloud, service, gib, throughput, nearest = row
    refusal = refused(cloud, filesystem(gib, service, throughput=throughput))

    assert refusal.where == "storage.data.capacity_gib"
    assert str(gib) in refusal.what
    assert "https://" in refusal.rule
    for value in nearest:
        assert value in refusal.way_out


@pytest.mark.parametrize(
    ("cloud", "gib", "asked", "nearest"),
    [
        ("aws", 1200, 50, "125"),
        ("aws", 1200, 300, "250 or 500"),
        ("aws", 1200, 2000, "1000"),
        ("azure", 16_384, 100, "40 or 125"),
        ("azure", 16_384, 1000, "500"),
        ("gcp", 9000, 40, "125"),
        ("gcp", 9000, 999, "500 or 1000"),
    ],
)
def test_other_throughputs_are_refused_with_the_nearest_ones(refused, cloud, gib, asked, nearest):
    refusal = refused(cloud, filesystem(gib, throughput=asked))

    assert refusal.where == "storage.data.throughput"
    assert refusal.way_out == f"write throughput: {nearest}"
    assert "https://" in refusal.rule


@pytest.mark.parametrize("cloud", ["azure", "gcp"])
def test_nfs_has_no_throughput_to_choose(refused, cloud):
    refusal = refused(cloud, filesystem(1024, "nfs", throughput=100))

    assert refusal.where == "storage.data.throughput"
    assert "follows its size" in refusal.rule


def test_aws_has_no_nfs_and_says_what_there_is(refused):
    refusal = refused("aws", filesystem(1024, "nfs"))

    assert refusal.where == "storage.data.service"
    assert "EFS" in refusal.rule
    assert "lustre" in refusal.way_out
    assert "object" in refusal.way_out


class TestZones:
    """STO-1: a file system stands where the pool with the fabric stands."""

    @pytest.mark.parametrize(
        ("cloud", "gib", "other"),
        [("aws", 1200, "use1-az6"), ("azure", 4096, "3"), ("gcp", 9000, "us-east4-c")],
    )
    def test_sto_1_without_a_zone_it_is_refused_with_the_training_pool_s(self, refused, cloud, gib, other):
        own = refused(cloud, filesystem(gib), zoned=False)
        moved = refused(cloud, filesystem(gib), zoned=False, node_pools=_moved(cloud, other))

        assert own.where == moved.where == "storage.data.zone"
        assert f"`zone: {TRAINING[cloud]}`" in own.way_out
        assert f"`zone: {other}`" in moved.way_out

    def test_without_a_training_pool_the_network_s_zones_are_named(self, refused):
        assert "use1-az4, use1-az6" in refused("aws", filesystem(1200), zoned=False, stack="aws-dev").way_out

    def test_the_only_zone_of_a_network_goes_without_saying(self, plans):
        network = decision_of("gcp-prod").config.network.model_copy(update={"zones": ("us-east4-b",)})
        made = plans("gcp", {"data": filesystem(9000)}, zoned=False, network=network)

        assert made["data"].zone == "us-east4-b"

    @pytest.mark.parametrize(
        ("cloud", "gib", "zone"),
        [("aws", 1200, "use1-az6"), ("azure", 4096, "2"), ("gcp", 9000, "us-east4-a")],
    )
    def test_a_zone_that_is_named_wins(self, plans, cloud, gib, zone):
        assert plans(cloud, {"data": filesystem(gib, zone=zone)})["data"].zone == zone

    def test_what_belongs_to_the_region_has_none_and_takes_none(self, plans, refused):
        assert plans("azure", {"data": filesystem(100, "nfs")})["data"].zone == ""
        assert refused("azure", filesystem(100, "nfs", zone="1")).where == "storage.data.zone"


def _moved(cloud, zone):
    pools = decision_of(f"{cloud}-prod").config.node_pools
    return tuple(
        pool.model_copy(update={"zones": (zone,)}) if pool.purpose == "training" else pool for pool in pools
    )


def test_fsx_follows_a_bucket(plans):
    tiers = {"lake": Object(tier="object"), "data": filesystem(1200, source="lake")}

    assert plans("aws", tiers)["data"].source == "lake"


@pytest.mark.parametrize(
    ("cloud", "gib", "service", "why"),
    [
        ("azure", 4096, "lustre", "keys"),
        ("azure", 100, "nfs", "container"),
        ("gcp", 9000, "lustre", "transfers"),
        ("gcp", 1024, "nfs", "bucket"),
    ],
)
def test_services_that_follow_no_bucket_say_so(plans, cloud, gib, service, why):
    tiers = {"lake": Object(tier="object"), "data": filesystem(gib, service, source="lake")}
    with pytest.raises(Refusal) as caught:
        plans(cloud, tiers)

    assert caught.value.where == "storage.data.source"
    assert why in caught.value.rule


@pytest.mark.parametrize(("teardown", "keep"), [("keep", True), ("delete", False)])
def test_a_tier_is_kept_unless_told_otherwise(plans, teardown, keep):
    assert plans("aws", {"data": filesystem(1200, teardown=teardown)})["data"].keep is keep
    assert plans("aws", {"data": filesystem(1200)})["data"].keep is True


def test_a_second_lustre_on_azure_is_refused_since_neither_subnet_could_move(plans):
    tiers = {name: SharedFilesystem(tier="shared-filesystem", capacity_gib=8192) for name in ("a", "b")}
    with pytest.raises(Refusal, match="a and b are both Azure Managed Lustre") as refused:
        plans("azure", tiers)
    assert refused.value.where == "storage.b"
    nfs = SharedFilesystem(tier="shared-filesystem", service="nfs", capacity_gib=1024)
    assert list(plans("azure", {**tiers, "b": nfs})) == ["a", "b"]


def test_lustre_on_gke_is_mounted_on_container_optimized_os_only(plans, refused):
    profiles = decision_of("gcp-prod").profiles
    ubuntu = tuple(replace(profile, image="UBUNTU_CONTAINERD") for profile in profiles)
    no_pool = refused("gcp", filesystem(9000), profiles=ubuntu)
    mixed = (ubuntu[0], *profiles[1:])

    assert no_pool.where == "storage.data.service"
    assert "image: cos" in no_pool.way_out
    (plan,) = plans("gcp", {"data": filesystem(9000)}, profiles=mixed).values()
    assert lustre_stays_off(plan, mixed) == (profiles[0].pool,)
    assert lustre_stays_off(plan, profiles) == ()
    assert plans("gcp", {"data": filesystem(1024, "nfs")}, profiles=ubuntu)
