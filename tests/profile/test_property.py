"""Whatever is asked for: a whole profile, or a refusal that says why and what to do instead. Nothing else."""

from __future__ import annotations

import re
from itertools import product

import pytest
from catalogue_pools import (
    CAPACITIES,
    DISKS,
    DRIVERS,
    FABRICS,
    IMAGES,
    SHARINGS,
    pool_of,
    skus,
    supported,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuplatform.errors import Refusal
from gpuplatform.profile import (
    AksDriver,
    AmiDriver,
    Efa,
    GkeDriver,
    InfiniBand,
    NodeProfile,
    NoFabric,
    OperatorDriver,
    node_profile,
    operator_values,
    queues,
)

LABEL_VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
CLOUD_DRIVERS = {
    "aws": (AmiDriver,),
    "azure": (AksDriver, OperatorDriver),
    "gcp": (GkeDriver, OperatorDriver),
}


def decided(sku, **asked):
    """The profile, or None where it is refused in due form."""
    pool = pool_of(sku, **asked)
    try:
        profile = node_profile(pool, sku)
    except Refusal as refusal:
        check_refusal(refusal)
        return None
    check(profile, pool, sku)
    return profile


def check_refusal(refusal):
    assert refusal.what
    assert refusal.where.startswith("node_pools.pool"), refusal
    assert refusal.way_out, refusal


def check(profile, pool, sku):
    assert isinstance(profile, NodeProfile)
    assert isinstance(profile.driver, CLOUD_DRIVERS[sku.cloud])
    check_driver(profile)
    check_counts(profile, sku)
    assert not (pool.fabric == "required" and isinstance(profile.fabric, NoFabric))
    assert not (pool.fabric == "none" and not isinstance(profile.fabric, NoFabric))
    if pool.purpose == "training" and pool.nodes.max > 1 and isinstance(profile.fabric, NoFabric):
        assert pool.fabric == "none"
    assert profile.capacity.kind == pool.capacity.kind
    assert any(taint.key == "nvidia.com/gpu" for taint in profile.taints)
    for key, value in profile.labels.items():
        assert LABEL_VALUE.fullmatch(value), (key, value)
    assert queues.resource_flavor(profile)["spec"]["nodeLabels"]


def check_driver(profile):
    """One owner of the driver, one advertiser of GPUs, and values that say the same."""
    values = operator_values([profile])
    operator_builds = isinstance(profile.driver, OperatorDriver) and profile.driver.host != "gke-cos"
    assert values["driver"]["enabled"] is operator_builds
    plugin = profile.device_plugins[0]
    assert (plugin == "gke") == isinstance(profile.driver, GkeDriver)
    assert values["devicePlugin"]["enabled"] is (plugin == "gpu-operator")
    if isinstance(profile.driver, AmiDriver):
        assert (plugin == "bottlerocket") == profile.driver.ami_type.startswith("BOTTLEROCKET")
        assert profile.driver.ami_type == profile.image
    if isinstance(profile.fabric, InfiniBand):
        assert profile.driver == OperatorDriver(host="aks-ubuntu", rdma=True)
        assert values["driver"]["rdma"]["enabled"] is True
    assert ("efa" in profile.device_plugins) == isinstance(profile.fabric, Efa)


def check_counts(profile, sku):
    assert profile.gpus == max(int(sku.gpu_count), 1)
    assert all(isinstance(count, int) and count > 0 for count in profile.advertised.values())
    own = profile.sharing.resource if profile.sharing else "nvidia.com/gpu"
    share = profile.sharing.per_gpu if profile.sharing else 1
    assert profile.advertised[own] == profile.gpus * share
    for name, count in profile.advertised.items():
        assert profile.pod.resources[name] == str(count)
    if profile.scale_from_zero:
        hints = {key.partition("/resources/")[2]: value for key, value in profile.scale_from_zero.items()}
        assert hints[own] == str(profile.advertised[own])


@pytest.mark.parametrize("cloud", ["aws", "azure", "gcp"])
@pytest.mark.parametrize(("purpose", "nodes"), [("training", 2), ("inference", 4)])
def test_every_machine_type_in_every_capacity_sharing_and_fabric_is_a_profile_or_a_refusal(
    cloud, purpose, nodes
):
    made = 0
    machines = [sku for sku in skus() if sku.cloud == cloud]
    for sku, capacity, sharing, fabric in product(machines, CAPACITIES, SHARINGS, FABRICS):
        found = decided(sku, capacity=capacity, sharing=sharing, fabric=fabric, purpose=purpose, nodes=nodes)
        made += found is not None
    assert made > len(machines)


@settings(max_examples=1500, deadline=None, derandomize=True)
@given(
    sku=st.sampled_from(skus()),
    capacity=st.sampled_from(CAPACITIES),
    sharing=st.sampled_from(SHARINGS),
    fabric=st.sampled_from(FABRICS),
    driver=st.sampled_from(DRIVERS),
    image=st.sampled_from(IMAGES),
    local_disks=st.sampled_from(DISKS),
    purpose=st.sampled_from(("training", "inference", "notebooks", "batch")),
    nodes=st.integers(min_value=1, max_value=40),
    placement_group=st.sampled_from((None, "some-group")),
)
def test_so_is_every_driver_image_disk_and_placement(sku, **asked):
    decided(sku, **asked)


@pytest.mark.parametrize("cloud", ["aws", "azure", "gcp"])
def test_every_driver_and_image_of_one_machine_type_a_family(cloud):
    """The whole product, where drivers, images and disks can differ."""
    made = 0
    families = {sku.family: sku for sku in supported() if sku.cloud == cloud}
    for sku, driver, image, disks, capacity in product(
        families.values(), DRIVERS, IMAGES, DISKS, ("on-demand", "reservation")
    ):
        found = decided(sku, driver=driver, image=image, local_disks=disks, capacity=capacity)
        made += found is not None
        if found is not None and driver == "operator":
            assert isinstance(found.driver, OperatorDriver), sku.name
    assert made > len(families)


def test_the_same_question_has_the_same_answer():
    for sku in supported()[::7]:
        answers = []
        for _ in range(2):
            try:
                answers.append(node_profile(pool_of(sku), sku))
            except Refusal as refusal:
                answers.append(str(refusal))
        assert answers[0] == answers[1]


def test_machines_of_other_vendors_and_those_that_are_no_nodes_are_refused():
    for sku in skus():
        if sku.gpu_vendor != "nvidia" or not sku.k8s_supported:
            with pytest.raises(Refusal):
                node_profile(pool_of(sku), sku)
