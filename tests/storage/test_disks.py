"""StorageClasses: what each cloud's drivers are told, and what its disks can do."""

from __future__ import annotations

import pytest
from profiles import made_profile
from samples import decision_of

from gpuplatform.config import Block
from gpuplatform.profile import GkeDriver

BLOCK = Block(tier="block")


def classes(plans, cloud, block=BLOCK, **more):
    return plans(cloud, {"disks": block}, **more)["disks"].classes


def gke(*skus):
    return tuple(made_profile(GkeDriver(), pool=f"p{n}", sku=sku) for n, sku in enumerate(skus))


@pytest.mark.parametrize("cloud", ["aws", "azure", "gcp"])
def test_there_is_a_default_class_and_a_fast_one(plans, cloud):
    default, fast = classes(plans, cloud)

    assert (default.name, fast.name) == ("disks-default", "disks-fast")
    assert (default.default, fast.default) == (True, False)
    assert all(isinstance(value, str) for one in (default, fast) for value in one.parameters.values())


def test_ebs_encrypts_only_where_it_is_told_to(plans):
    default, fast = classes(plans, "aws")

    assert default.provisioner == fast.provisioner == "ebs.csi.aws.com"
    assert default.parameters == {"type": "gp3", "encrypted": "true"}
    assert fast.parameters == {"type": "io2", "iops": "3000", "encrypted": "true"}


def test_premium_ssd_v2_has_no_host_cache(plans):
    default, fast = classes(plans, "azure")

    assert default.provisioner == fast.provisioner == "disk.csi.azure.com"
    assert default.parameters == {"skuName": "Premium_LRS"}
    assert fast.parameters == {
        "skuName": "PremiumV2_LRS",
        "cachingMode": "None",
        "DiskIOPSReadWrite": "3000",
        "DiskMBpsReadWrite": "125",
    }


def test_mib_become_mb_of_managed_disks_rounded_up_and_within_bounds(plans):
    def mb(mibps):
        block = Block(tier="block", iops=20_000, throughput_mibps=mibps)
        return classes(plans, "azure", block)[1].parameters["DiskMBpsReadWrite"]

    assert (mb(120), mb(1000), mb(1144)) == ("126", "1049", "1200")


def test_hyperdisk_is_bought_with_iops_and_throughput(plans):
    block = Block(tier="block", iops=20_000, throughput_mibps=500)
    (default, fast) = classes(plans, "gcp", block)

    assert default.parameters == {"type": "pd-balanced"}
    assert fast.parameters == {
        "type": "hyperdisk-balanced",
        "provisioned-iops-on-create": "20000",
        "provisioned-throughput-on-create": "500Mi",
    }


def test_a_hyperdisk_has_the_throughput_that_its_iops_want_at_least(plans, refused):
    fast = classes(plans, "gcp", Block(tier="block", iops=160_000))[1]
    refusal = refused("gcp", Block(tier="block", iops=160_000, throughput_mibps=200))

    assert fast.parameters["provisioned-throughput-on-create"] == "625Mi"
    assert refusal.where == "storage.data.throughput_mibps"
    assert "625" in refusal.way_out


PD, HYPERDISK = "pd-balanced", "hyperdisk-balanced"


@pytest.mark.parametrize(
    ("skus", "types", "not_on"),
    [
        (("a3-megagpu-8g",), (PD, HYPERDISK), ((), ("system",))),
        (("a4x-highgpu-4g",), (HYPERDISK, HYPERDISK), (("system",), ("system",))),
        (("a4-highgpu-8g", "a3-ultragpu-8g"), (HYPERDISK, HYPERDISK), (("system",), ("system",))),
        (("g4-standard-48",), (HYPERDISK, HYPERDISK), (("system",), ("system",))),
        (("g2-standard-8",), (PD, "pd-ssd"), ((), ())),
        (("a2-highgpu-1g", "n1-standard-8"), (PD, "pd-ssd"), ((), ())),
        (("a3-megagpu-8g", "g2-standard-8"), (PD, HYPERDISK), ((), ("p1", "system"))),
        (("a4x-highgpu-4g", "g2-standard-8"), (PD, HYPERDISK), (("p0",), ("p1", "system"))),
        (("a4x-maxgpu-4g-metal", "a3-highgpu-8g"), (HYPERDISK, HYPERDISK), (("system",), ("system",))),
    ],
)
def test_disks_are_those_that_the_pools_machines_attach(plans, skus, types, not_on):
    """The system pool, of E2 machines, attaches Persistent Disk only."""
    made = classes(plans, "gcp", profiles=gke(*skus))

    assert tuple(one.parameters["type"] for one in made) == types
    assert tuple(one.not_on for one in made) == not_on


@pytest.mark.parametrize(
    ("system", "not_on"),
    [("n4-standard-4", ((), ())), ("c3-standard-4", ((), ())), ("n2-standard-4", (("system",), ("system",)))],
)
def test_a_newer_system_pool_attaches_hyperdisk_too(plans, system, not_on):
    cluster = decision_of("gcp-prod").config.cluster
    pool = cluster.system.model_copy(update={"sku": system})
    made = classes(
        plans, "gcp", profiles=gke("a4-highgpu-8g"), cluster=cluster.model_copy(update={"system": pool})
    )

    assert tuple(one.not_on for one in made) == not_on


@pytest.mark.parametrize("cloud", ["aws", "azure"])
def test_elsewhere_every_machine_attaches_both(plans, cloud):
    assert [one.not_on for one in classes(plans, cloud)] == [(), ()]


@pytest.mark.parametrize("field", ["iops", "throughput_mibps"])
def test_performance_is_not_bought_where_no_pool_attaches_hyperdisk(refused, field):
    refusal = refused("gcp", Block(tier="block", **{field: 4000}), profiles=gke("g2-standard-8"))

    assert refusal.where == f"storage.data.{field}"
    assert "g2-standard-8" in refusal.what


@pytest.mark.parametrize(
    ("cloud", "asked", "field", "way_out"),
    [
        ("aws", {"iops": 99}, "iops", "100"),
        ("aws", {"iops": 300_000}, "iops", "256000"),
        ("aws", {"throughput_mibps": 1000}, "throughput_mibps", "3907"),
        ("azure", {"iops": 100}, "iops", "3000"),
        ("azure", {"iops": 80_001}, "iops", "80000"),
        ("azure", {"iops": 20_000, "throughput_mibps": 1145}, "throughput_mibps", "1144"),
        ("azure", {"throughput_mibps": 1000}, "throughput_mibps", "4195"),
        ("gcp", {"iops": 2999}, "iops", "3000"),
        ("gcp", {"iops": 160_001}, "iops", "160000"),
        ("gcp", {"throughput_mibps": 139}, "throughput_mibps", "140"),
        ("gcp", {"iops": 20_000, "throughput_mibps": 2401}, "throughput_mibps", "2400"),
        ("gcp", {"throughput_mibps": 1000}, "throughput_mibps", "4000"),
    ],
)
def test_what_no_disk_has_is_refused_with_the_nearest_that_one_has(refused, cloud, asked, field, way_out):
    refusal = refused(cloud, Block(tier="block", **asked))

    assert refusal.where == f"storage.data.{field}"
    assert way_out in refusal.way_out
    assert "https://" in refusal.rule


@pytest.mark.parametrize("cloud", ["aws", "azure", "gcp"])
def test_a_disk_outlives_its_claim_unless_told_otherwise(plans, cloud):
    assert all(one.keep for one in classes(plans, cloud))
    assert not any(one.keep for one in classes(plans, cloud, Block(tier="block", teardown="delete")))
