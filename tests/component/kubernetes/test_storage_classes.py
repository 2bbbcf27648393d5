"""StorageClasses as the engine would see them."""

from __future__ import annotations

import pytest
from samples import decision_of
from stand_in_cluster import Thing, handle, in_cluster, reached

from gpuplatform.config import Block
from gpuplatform.kubernetes import StorageClasses, StorageClassesArgs
from gpuplatform.kubernetes.storage_classes import DEFAULT, NOT_ON
from gpuplatform.plan.recorder import record
from gpuplatform.sandbox.sdk_types import check
from gpuplatform.storage import storage_plans

CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"
CLOUDS = ("aws", "azure", "gcp")


def install(cloud, teardown="keep"):
    decision = decision_of(f"{cloud}-prod")
    block = Block(tier="block", teardown=teardown)
    config = decision.config.model_copy(update={"storage": {"disks": block}})
    (plan,) = storage_plans(config, decision.profiles)

    def program():
        cluster, system = map(Thing, ("cluster", "system-pool"))
        StorageClasses("disks", StorageClassesArgs(cluster=handle(cloud, cluster, (system,)), plan=plan))

    return record(program)


@pytest.fixture(params=CLOUDS)
def installed(request):
    return install(request.param)


def test_disks_are_made_where_their_pod_is_and_can_grow(installed):
    for one in installed.of_type(CLASS):
        assert one.inputs["volumeBindingMode"] == "WaitForFirstConsumer"
        assert one.inputs["allowVolumeExpansion"] is True


def test_the_first_class_is_the_default_and_no_other(installed):
    default, fast = installed.of_type(CLASS)

    assert default.inputs["metadata"] == {"name": "disks-default", "annotations": {DEFAULT: "true"}}
    assert DEFAULT not in fast.inputs["metadata"].get("annotations", {})
    assert fast.inputs["metadata"]["name"] == "disks-fast"


def test_pools_that_cannot_attach_a_disk_are_written_down():
    """G2 and E2 attach no Hyperdisk; A3 does."""
    (_, fast) = install("gcp").of_type(CLASS)

    assert fast.inputs["metadata"]["annotations"] == {NOT_ON: "serve, system"}
    for cloud in ("aws", "azure"):
        assert all(NOT_ON not in str(one.inputs["metadata"]) for one in install(cloud).of_type(CLASS))


@pytest.mark.parametrize(("teardown", "policy"), [("keep", "Retain"), ("delete", "Delete")])
@pytest.mark.parametrize("cloud", CLOUDS)
def test_a_disk_outlives_its_claim_unless_told_otherwise(cloud, teardown, policy):
    made = install(cloud, teardown).of_type(CLASS)

    assert [one.inputs["reclaimPolicy"] for one in made] == [policy, policy]


def test_the_clusters_own_provider_makes_them_and_they_go_with_the_cluster(installed):
    """PUL-2 and PUL-7."""
    (provider,) = installed.of_type("pulumi:providers:kubernetes")

    assert len(in_cluster(installed)) == 2
    for one in in_cluster(installed):
        assert one.provider == provider.urn
        assert one.parent == installed.named("disks").urn
        assert one.deleted_with == installed.named("cluster").urn
        assert "system-pool" in reached(installed, one)


def test_the_component_tells_the_classes_names(installed):
    component = installed.named("disks")

    assert component.type == "gpuplatform:index:StorageClasses"
    assert installed.outputs[component.urn] == {"class_names": ["disks-default", "disks-fast"]}


def test_every_input_is_one_that_the_sdk_knows_with_its_type(installed):
    for one in in_cluster(installed):
        assert check(one.type, one.inputs) == (), one.name
