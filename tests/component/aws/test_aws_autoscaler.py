from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from gpuplatform.aws.policies import autoscaler_policy
from gpuplatform.kubernetes.charts import CLUSTER_AUTOSCALER
from gpuplatform.kubernetes.cluster_autoscaler import NEWEST_IMAGE_MINOR, autoscaler_values
from gpuplatform.platform.aws import build

CHART = (
    Path(__file__).parents[2] / "charts" / "data" / f"{CLUSTER_AUTOSCALER.name}-{CLUSTER_AUTOSCALER.version}"
)


@pytest.fixture
def recorded(run, platform, decision):
    config = platform()
    return run(lambda: build(decision(config)))


def leaves(values, path=()):
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


def test_every_value_exists_in_the_pinned_chart_with_its_type():
    defaults = yaml.safe_load((CHART / "values.yaml").read_text())
    values = autoscaler_values(cluster_name="c", region="us-east-1", kubernetes_version="1.35")
    free_form = {"extraArgs", "resources"}  # the chart hands these through: flags, a pod's resources
    for path, value in leaves(values):
        place = defaults
        for key in path[:1] if path[0] in free_form else path:
            assert key in place, f"the chart has no {'.'.join(path)}"
            place = place[key]
        if path[0] not in free_form and place is not None:
            assert type(place) is type(value), ".".join(path)


def test_the_pinned_chart_was_made_for_the_newest_image_we_name():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["version"] == CLUSTER_AUTOSCALER.version
    assert chart["appVersion"] == f"1.{NEWEST_IMAGE_MINOR}.0"


@pytest.mark.parametrize(("version", "tag"), [("1.33", "v1.33.0"), ("1.35", "v1.35.0"), ("1.36", "v1.35.0")])
def test_the_image_goes_with_the_clusters_minor_as_far_as_there_is_one(version, tag):
    values = autoscaler_values(cluster_name="c", region="r", kubernetes_version=version)
    assert values["image"]["tag"] == tag


def test_only_groups_of_this_cluster_can_be_scaled():
    describing, changing = autoscaler_policy("vision-prod")["Statement"]
    assert changing["Condition"]["StringEquals"] == {
        "aws:ResourceTag/k8s.io/cluster-autoscaler/enabled": "true",
        "aws:ResourceTag/k8s.io/cluster-autoscaler/vision-prod": "owned",
    }
    verbs = {action.partition(":")[2][:3] for action in describing["Action"]}
    assert verbs == {"Des", "Get"}


def test_the_role_is_for_the_service_account_that_the_chart_makes(recorded):
    release = recorded.named("autoscaler-release").inputs
    association = recorded.named_type(
        "aws:eks/podIdentityAssociation:PodIdentityAssociation", "autoscaler-role-autoscaler"
    ).inputs
    role = recorded.named_type("aws:iam/role:Role", "autoscaler-role-autoscaler").inputs
    [statement] = json.loads(role["assumeRolePolicy"])["Statement"]
    account = release["values"]["rbac"]["serviceAccount"]["name"]
    assert association["serviceAccount"] == account
    assert association["namespace"] == release["namespace"] == "kube-system"
    assert statement["Condition"]["StringEquals"]["aws:RequestTag/kubernetes-service-account"] == account


def test_the_autoscaler_looks_for_this_clusters_groups_in_its_region(recorded):
    values = recorded.named("autoscaler-release").inputs["values"]
    assert values["autoDiscovery"] == {"clusterName": "vision-prod"}
    assert values["awsRegion"] == "us-east-1"


def test_pul_2_the_release_goes_before_nodes_permissions_and_access(recorded):
    release = recorded.named("autoscaler-release")
    waits_for = {urn.rpartition("::")[2] for urn in release.dependencies}
    assert {
        "cluster-system",
        "autoscaler-role-autoscaler",
        "cluster-admin-123456789012-role-platform-admins",
    } <= waits_for
    assert release.deleted_with == recorded.named("cluster-eks").urn
    assert release.provider == recorded.named("cluster-kubernetes").urn


def test_it_is_pinned_and_awaited(recorded):
    release = recorded.named("autoscaler-release").inputs
    assert release["version"] == CLUSTER_AUTOSCALER.version
    assert release["repositoryOpts"] == {"repo": CLUSTER_AUTOSCALER.repository}
    assert release["skipAwait"] is False


def test_nothing_makes_it_run_on_gpu_nodes(recorded):
    assert "tolerations" not in recorded.named("autoscaler-release").inputs["values"]
