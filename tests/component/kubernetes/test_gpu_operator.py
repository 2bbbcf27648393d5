"""The GPU Operator as the engine would see it, on a stand-in for each cloud's cluster."""

from __future__ import annotations

import pulumi
import pytest
from stand_in_cluster import Thing, handle, in_cluster, reached

from gpuplatform.kubernetes import GpuOperator, GpuOperatorArgs
from gpuplatform.kubernetes.charts import GPU_OPERATOR, Chart
from gpuplatform.plan.recorder import record
from gpuplatform.sandbox.sdk_types import check

CLOUDS = ("aws", "azure", "gcp")
VALUES = {"driver": {"enabled": False}, "daemonsets": {"tolerations": [{"key": "nvidia.com/gpu"}]}}
RELEASE = "kubernetes:helm.sh/v3:Release"
QUOTA = "kubernetes:core/v1:ResourceQuota"


def install(cloud, *, chart=GPU_OPERATOR, computed=None):
    def program():
        cluster, system, train, serve = map(Thing, ("cluster", "system-pool", "pool-train", "pool-serve"))
        operator = GpuOperator(
            "gpu-operator",
            GpuOperatorArgs(
                cluster=handle(cloud, cluster, (system,)), values=VALUES, pools=(train, serve), chart=chart
            ),
        )
        for key in ("release", "namespace", "chart_version", "status"):
            pulumi.export(key, getattr(operator, key))

    return record(program, computed=computed)


@pytest.fixture(params=CLOUDS)
def installed(request):
    return install(request.param)


def test_on_gke_a_quota_for_critical_pods_comes_before_the_release():
    """DRV-3: NVIDIA/gpu-operator#660."""
    recording = install("gcp")
    (quota,) = recording.of_type(QUOTA)
    (release,) = recording.of_type(RELEASE)

    (scope,) = quota.inputs["spec"]["scopeSelector"]["matchExpressions"]
    assert scope == {
        "scopeName": "PriorityClass",
        "operator": "In",
        "values": ["system-node-critical", "system-cluster-critical"],
    }
    assert quota.inputs["spec"]["hard"] == {"pods": "1G"}
    assert quota.inputs["metadata"]["namespace"] == release.inputs["namespace"]
    assert quota.urn in release.dependencies


@pytest.mark.parametrize("cloud", ["aws", "azure"])
def test_on_eks_and_aks_there_is_no_quota(cloud):
    """DRV-3: only GKE restricts the critical priority classes."""
    assert install(cloud).of_type(QUOTA) == ()


def test_the_operators_namespace_admits_privileged_pods(installed):
    """DRV-10."""
    (namespace,) = installed.of_type("kubernetes:core/v1:Namespace")

    assert namespace.inputs["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    assert namespace.inputs["metadata"]["name"] == installed.of_type(RELEASE)[0].inputs["namespace"]


def test_everything_in_the_cluster_uses_the_clusters_own_provider(installed):
    """PUL-7: never the ambient kubeconfig."""
    (provider,) = installed.of_type("pulumi:providers:kubernetes")

    assert in_cluster(installed)
    assert {resource.provider for resource in in_cluster(installed)} == {provider.urn}


def test_everything_in_the_cluster_goes_with_the_cluster_and_before_its_nodes(installed):
    """PUL-2: a release cannot be deleted from a cluster that no longer answers."""
    cluster = installed.named("cluster")

    for resource in in_cluster(installed):
        assert resource.deleted_with == cluster.urn, resource.name
        assert {"system-pool", "pool-train", "pool-serve"} <= reached(installed, resource), resource.name


def test_every_child_belongs_to_the_component(installed):
    """PUL-7."""
    component = installed.named("gpu-operator")

    assert component.type == "gpuplatform:index:GpuOperator"
    assert {resource.parent for resource in in_cluster(installed)} == {component.urn}


def test_a_release_that_is_awaited_and_never_a_chart_whose_hooks_would_be_lost(installed):
    """PUL-4, and the pinned chart word for word."""
    (release,) = installed.of_type(RELEASE)

    assert release.inputs["chart"] == GPU_OPERATOR.name
    assert release.inputs["version"] == GPU_OPERATOR.version
    assert release.inputs["repositoryOpts"] == {"repo": GPU_OPERATOR.repository}
    assert release.inputs["skipAwait"] is False
    assert release.inputs["timeout"] >= 900
    assert "atomic" not in release.inputs
    assert not [r for r in installed.resources if ":Chart" in r.type]


def test_the_values_reach_the_release_unchanged(installed):
    assert installed.of_type(RELEASE)[0].inputs["values"] == VALUES


def test_another_version_of_the_chart_can_be_asked_for():
    chart = Chart(name="gpu-operator", repository="https://charts.example.com", version="v26.7.0", source="")
    (release,) = install("aws", chart=chart).of_type(RELEASE)

    assert release.inputs["version"] == "v26.7.0"
    assert release.inputs["repositoryOpts"] == {"repo": "https://charts.example.com"}


def test_the_outputs_tell_release_namespace_version_and_status():
    def computed(resource):
        return {"status": {"status": "deployed"}} if resource.type == RELEASE else {}

    assert install("gcp", computed=computed).stack_outputs == {
        "release": "gpu-operator",
        "namespace": "gpu-operator",
        "chart_version": GPU_OPERATOR.version,
        "status": "deployed",
    }


def test_the_registered_outputs_are_the_components_attributes(installed):
    component = installed.named("gpu-operator")

    assert set(installed.outputs[component.urn]) == {"release", "namespace", "chart_version", "status"}


def test_every_input_is_one_that_the_sdk_knows_with_its_type(installed):
    for resource in in_cluster(installed):
        assert check(resource.type, resource.inputs) == (), resource.name
