"""The real charts rendered with our values: which objects come out, who tolerates what.

Needs `helm`, and the charts: from GPUPLATFORM_CHARTS, a folder of unpacked charts named NAME-VERSION, or from
their repositories.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
import yaml
from chart_data import kinds, problems
from test_gpu_operator_values import POOLS, values_of
from test_other_charts import TOLERATED, efa_pools, infiniband_pools, tolerated

from gpuplatform.kubernetes.charts import (
    EFA_DEVICE_PLUGIN,
    GPU_OPERATOR,
    KUEUE,
    NETWORK_OPERATOR,
    Chart,
)
from gpuplatform.kubernetes.efa_device_plugin import efa_values
from gpuplatform.kubernetes.kueue import FRAMEWORKS, kueue_values
from gpuplatform.kubernetes.network_operator import network_operator_values
from gpuplatform.profile import operator_values

NEWER = Chart(
    name=GPU_OPERATOR.name, repository=GPU_OPERATOR.repository, version="v26.7.0", source=GPU_OPERATOR.source
)
OPERATORS = {chart.version: chart for chart in (GPU_OPERATOR, NEWER)}


@pytest.fixture(scope="module")
def helm():
    found = shutil.which("helm")
    if found is None:
        pytest.skip("no helm on the PATH")
    return found


@pytest.fixture(scope="module")
def render(helm, tmp_path_factory):
    """What `helm template` makes of a chart with these values."""
    pulled = tmp_path_factory.mktemp("charts")

    @cache
    def source(chart):
        local = Path(os.environ.get("GPUPLATFORM_CHARTS", "")) / f"{chart.name}-{chart.version}"
        if (local / "Chart.yaml").is_file():
            return str(local)
        into = pulled / f"{chart.name}-{chart.version}"
        repository = [] if chart.in_registry else ["--repo", chart.repository]
        command = [helm, "pull", chart.reference, *repository, "--version", chart.version, "--untar"]
        result = subprocess.run(
            [*command, "--untardir", str(into)], capture_output=True, text=True, timeout=120, check=False
        )
        if result.returncode:
            pytest.skip(f"{chart.name} {chart.version} cannot be pulled: {result.stderr.strip()[-200:]}")
        return str(into / chart.name)

    def run(chart, values):
        command = [helm, "template", chart.name, source(chart), "--namespace", "here", "--values", "-"]
        result = subprocess.run(
            [*command, "--kube-version", "1.35.0"],
            input=json.dumps(values),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return [body for body in yaml.safe_load_all(result.stdout) if body]

    return run


def of_kind(objects, kind):
    return [body for body in objects if body["kind"] == kind]


def pod_of(body):
    return body["spec"]["template"]["spec"]


@pytest.mark.parametrize("version", OPERATORS)
@pytest.mark.parametrize("sharing", ["whole", "cut", "in turns"])
@pytest.mark.parametrize("mode", POOLS)
def test_the_gpu_operator_is_told_by_one_policy_that_its_own_kind_takes(render, version, mode, sharing):
    objects = render(OPERATORS[version], values_of(mode, sharing))

    (policy,) = of_kind(objects, "ClusterPolicy")
    schema = kinds(f"gpu-operator-{version}/nvidia.com_clusterpolicies.yaml")[
        "nvidia.com/v1", "ClusterPolicy"
    ]
    found = problems(
        {"spec": policy["spec"], "metadata": {}}, schema, group_version="nvidia.com/v1", kind="ClusterPolicy"
    )
    assert found == []
    assert of_kind(objects, "GPUCluster") == []
    assert of_kind(objects, "ServiceMonitor") == []


@pytest.mark.parametrize("version", OPERATORS)
@pytest.mark.parametrize("mode", POOLS)
def test_drv_1_the_policy_says_what_the_driver_mode_says(render, version, mode):
    values = values_of(mode)
    (policy,) = of_kind(render(OPERATORS[version], values), "ClusterPolicy")
    spec = policy["spec"]

    for part in ("driver", "toolkit", "devicePlugin", "migManager"):
        assert spec[part]["enabled"] is values[part]["enabled"], part
    for part in ("ccManager", "kataSandboxDevicePlugin", "vfioManager", "vgpuDeviceManager"):
        assert spec[part]["enabled"] is False
    assert spec["operator"]["runtimeClass"] == values["operator"].get("runtimeClass", "nvidia")
    assert spec["dcgmExporter"]["serviceMonitor"]["enabled"] is False
    if "hostPaths" in values:
        assert spec["hostPaths"]["driverInstallDir"] == "/home/kubernetes/bin/nvidia"
        assert spec["toolkit"]["installDir"] == "/home/kubernetes/bin/nvidia"


@pytest.mark.parametrize("version", OPERATORS)
@pytest.mark.parametrize("mode", POOLS)
def test_drv_5_all_daemonsets_of_the_gpu_operator_tolerate_the_pools_taints(render, version, mode):
    values = values_of(mode)
    objects = render(OPERATORS[version], values)
    (policy,) = of_kind(objects, "ClusterPolicy")

    gpu = ("nvidia.com/gpu", "Exists", "NoSchedule")
    assert gpu in tolerated(policy["spec"]["daemonsets"]["tolerations"])
    daemons = of_kind(objects, "DaemonSet")
    assert bool(daemons) is values["nfd"]["enabled"]  # the chart's own are feature discovery's workers
    for daemon in daemons:
        assert gpu in tolerated(pod_of(daemon)["tolerations"])


@pytest.mark.parametrize("version", OPERATORS)
def test_drv_7_the_config_maps_are_in_the_operators_namespace_and_are_those_that_it_reads(render, version):
    for sharing, part in (("in turns", "devicePlugin"), ("cut", "migManager")):
        objects = render(OPERATORS[version], values_of("EKS, driver in the image", sharing))
        (policy,) = of_kind(objects, "ClusterPolicy")
        read = policy["spec"][part]["config"]
        maps = {body["metadata"]["name"]: body for body in of_kind(objects, "ConfigMap")}

        assert maps[read["name"]]["metadata"]["namespace"] == "here"
        data = maps[read["name"]]["data"]
        if part == "devicePlugin":
            assert read["default"] in data
            assert "time-slicing-4" in data
        else:
            configs = yaml.safe_load(data["config.yaml"])["mig-configs"]
            assert {read["default"], "all-1g.10gb"} == set(configs)
            assert policy["spec"]["mig"]["strategy"] == "mixed"


def test_drv_5_and_drv_9_of_the_network_operator(render):
    pools = infiniband_pools("rdma/ib")
    objects = render(NETWORK_OPERATOR, network_operator_values(pools))
    gpu = render(GPU_OPERATOR, operator_values(pools))

    (worker,) = [one for one in of_kind(objects, "DaemonSet") if "worker" in one["metadata"]["name"]]
    assert tolerated(pod_of(worker)["tolerations"]) == TOLERATED
    assert of_kind(objects, "NodeFeatureRule") == []
    assert of_kind(gpu, "DaemonSet") == []
    assert [one for one in of_kind(gpu, "Deployment") if "feature" in one["metadata"]["name"]] == []


def test_drv_5_of_the_efa_plugin_and_the_nodes_that_it_runs_on(render):
    objects = render(EFA_DEVICE_PLUGIN, efa_values(efa_pools()))

    (plugin,) = of_kind(objects, "DaemonSet")
    pod = pod_of(plugin)
    # The chart has tolerations of its own beside ours, one of them for a key with any effect.
    ours = [one for one in pod["tolerations"] if "effect" in one and "value" not in one]
    assert tolerated(ours) >= TOLERATED
    required = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    named = [
        expression["values"]
        for term in required["nodeSelectorTerms"]
        for expression in term["matchExpressions"]
        if expression["key"] == "node.kubernetes.io/instance-type"
    ]
    assert named
    assert all(values == ["p5.48xlarge"] for values in named)


def test_kueue_reads_our_configuration_and_holds_up_no_pod_while_it_is_down(render):
    objects = render(KUEUE, kueue_values())

    texts = [
        body["data"]["controller_manager_config.yaml"]
        for body in of_kind(objects, "ConfigMap")
        if "controller_manager_config.yaml" in body.get("data", {})
    ]
    assert [yaml.safe_load(text)["integrations"]["frameworks"] for text in texts] == [list(FRAMEWORKS)]
    services = [body["metadata"]["name"] for body in of_kind(objects, "Service")]
    assert "kueue-webhook-service" in services  # what the gate asks
    hooks = [
        hook
        for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
        for body in of_kind(objects, kind)
        for hook in body["webhooks"]
    ]
    of_pods = [hook for hook in hooks if any("pods" in rule["resources"] for rule in hook["rules"])]
    assert all(hook["failurePolicy"] == "Ignore" for hook in of_pods)
    assert any("jobs" in rule["resources"] for hook in hooks for rule in hook["rules"])
