"""The Network Operator, the EFA plugin, Kueue and the isolation of devices, as the engine would see them."""

from __future__ import annotations

import pytest
from profiles import made_profile
from stand_in_cluster import Thing, handle, in_cluster, reached

from gpuplatform.config.model import WorkloadClass
from gpuplatform.kubernetes import (
    ComputeDomains,
    ComputeDomainsArgs,
    DeviceIsolation,
    DeviceIsolationArgs,
    EfaDevicePlugin,
    EfaDevicePluginArgs,
    GpuOperator,
    GpuOperatorArgs,
    Kueue,
    KueueArgs,
    NetworkOperator,
    NetworkOperatorArgs,
)
from gpuplatform.kubernetes.device_isolation import isolation_daemon, leaves_gpus_open
from gpuplatform.plan.recorder import record
from gpuplatform.profile import (
    AksDriver,
    AmiDriver,
    Efa,
    Flavor,
    GkeDriver,
    InfiniBand,
    NetworkInterface,
    OperatorDriver,
    Taint,
)
from gpuplatform.profile.queues import PROVISIONING, queues_of

RELEASE = "kubernetes:helm.sh/v3:Release"
NAMESPACE = "kubernetes:core/v1:Namespace"
KUEUE = "kubernetes:kueue.x-k8s.io/v1beta2:"
AL2023 = AmiDriver(ami_type="AL2023_x86_64_NVIDIA")
DEDICATED = Taint(key="dedicated", value="gpu", effect="NoSchedule")


def infiniband():
    driver = OperatorDriver(host="aks-ubuntu", rdma=True)
    return (made_profile(driver, fabric=InfiniBand(resource="rdma/ib", adapters=8)),)


def efa():
    one = NetworkInterface(card=0, device=1, type="efa-only")
    return (
        made_profile(AL2023, fabric=Efa(interfaces=(one,), adapters=32, gpudirect=True), sku="p5.48xlarge"),
    )


def gke():
    labels = {"gpuplatform.io/pool": "burst"}
    flavor = Flavor(
        name="burst",
        node_labels=labels,
        topology_levels=("cloud.google.com/gce-topology-block", "kubernetes.io/hostname"),
        topology_aware=True,
        admission_check=PROVISIONING,
    )
    return (
        made_profile(GkeDriver(), plugin="gke"),
        made_profile(GkeDriver(), pool="burst", plugin="gke", flavor=flavor),
    )


def network_operator(cluster, pools):
    network = NetworkOperator(
        "network-operator", NetworkOperatorArgs(cluster=cluster, profiles=infiniband(), pools=pools)
    )
    GpuOperator(
        "gpu-operator",
        GpuOperatorArgs(cluster=cluster, values={}, pools=pools, after=(network.policy,)),
    )


def efa_plugin(cluster, pools):
    EfaDevicePlugin("efa", EfaDevicePluginArgs(cluster=cluster, profiles=efa(), pools=pools))


def compute_domains(cluster, pools):
    operator = GpuOperator("gpu-operator", GpuOperatorArgs(cluster=cluster, values={}, pools=pools))
    racks = (made_profile(GkeDriver(), device_plugins=("gke", "dra")),)
    arguments = ComputeDomainsArgs(cluster=cluster, profiles=racks, pools=pools, after=(operator,))
    ComputeDomains("compute-domains", arguments)


def isolation(cluster, pools):
    DeviceIsolation("isolation", DeviceIsolationArgs(cluster=cluster, profiles=efa(), pools=pools))


def kueue(cluster, pools):
    operator = GpuOperator("gpu-operator", GpuOperatorArgs(cluster=cluster, values={}, pools=pools))
    classes = [
        WorkloadClass(name="training", pools=("train", "burst")),
        WorkloadClass(name="tests", pools=("train",)),
    ]
    Kueue(
        "kueue",
        KueueArgs(
            cluster=cluster,
            queues=queues_of(classes, gke()),
            nodes_max={"train": 4, "burst": 2},
            pools=pools,
            after=(operator,),
        ),
    )


def run(made, cloud="aws"):
    def program():
        cluster, system, train = map(Thing, ("cluster", "system-pool", "pool-train"))
        made(handle(cloud, cluster, (system,)), (train,))

    return record(program)


@pytest.fixture(
    params=[
        ("azure", network_operator),
        ("aws", efa_plugin),
        ("aws", isolation),
        ("gcp", compute_domains),
        ("gcp", kueue),
    ]
)
def installed(request):
    cloud, made = request.param
    return run(made, cloud)


def test_everything_uses_the_clusters_own_provider_and_belongs_to_a_component(installed):
    """PUL-7."""
    (provider,) = installed.of_type("pulumi:providers:kubernetes")
    components = {resource.urn for resource in installed.resources if not resource.custom}

    assert in_cluster(installed)
    for resource in in_cluster(installed):
        assert resource.provider == provider.urn
        assert resource.parent in components


def test_everything_goes_with_the_cluster_and_before_its_nodes(installed):
    """PUL-2."""
    cluster = installed.named("cluster")

    for resource in in_cluster(installed):
        assert resource.deleted_with == cluster.urn, resource.name
        assert {"system-pool", "pool-train"} <= reached(installed, resource), resource.name


def test_charts_are_releases_that_are_awaited(installed):
    """PUL-4."""
    for release in installed.of_type(RELEASE):
        assert release.inputs["skipAwait"] is False
        assert release.inputs["cleanupOnFail"] is True
    assert not [resource for resource in installed.resources if ":Chart" in resource.type]


def test_net_6_the_network_operator_with_its_rule_and_policy_comes_before_the_gpu_operator():
    recording = run(network_operator, "azure")
    gpu = recording.named("gpu-operator-release")

    assert {
        "network-operator-release",
        "network-operator-infiniband",
        "network-operator-policy",
    } <= reached(recording, gpu)


def test_what_a_release_defines_is_made_after_it():
    """PUL-4: otherwise "no matches for kind"."""
    recording = run(network_operator, "azure")
    release = recording.named("network-operator-release")

    for name in ("network-operator-infiniband", "network-operator-policy"):
        assert release.urn in recording.named(name).dependencies
    assert (
        recording.named("network-operator-policy").type == "kubernetes:mellanox.com/v1alpha1:NicClusterPolicy"
    )
    assert recording.named("network-operator-policy").inputs["apiVersion"] == "mellanox.com/v1alpha1"


def test_drv_10_only_the_operators_own_namespaces_admit_privileged_pods():
    recording = run(network_operator, "azure")
    privileged = {
        namespace.inputs["metadata"]["name"]
        for namespace in recording.of_type(NAMESPACE)
        if namespace.inputs["metadata"]["labels"].get("pod-security.kubernetes.io/enforce") == "privileged"
    }

    assert privileged == {"network-operator", "gpu-operator"}
    assert run(kueue, "gcp").of_type(NAMESPACE)[0].inputs["metadata"]["name"] == "gpu-operator"
    assert len(run(kueue, "gcp").of_type(NAMESPACE)) == 1


def test_k8s_1_kueue_is_installed_where_its_webhooks_expect_it_and_after_charts_with_jobs():
    recording = run(kueue, "gcp")
    release = recording.named("kueue-release")

    assert release.inputs["namespace"] == "kueue-system"
    assert release.inputs["createNamespace"] is True
    assert "gpu-operator-release" in reached(recording, release)


def test_k8s_1_nothing_of_kueues_is_made_before_its_webhook_answers():
    recording = run(kueue, "gcp")
    gate = recording.named("kueue-gate")
    objects = [resource for resource in recording.resources if resource.type.startswith(KUEUE)]

    assert recording.named("kueue-release").urn in gate.dependencies
    assert objects
    for resource in objects:
        assert gate.urn in resource.dependencies, resource.name
    (container,) = gate.inputs["spec"]["containers"]
    assert "kueue-webhook-service.kueue-system.svc 443" in container["readinessProbe"]["exec"]["command"][-1]
    assert gate.inputs["metadata"]["namespace"] == "kueue-system"  # exempt from the webhooks it waits for


def test_k8s_1_topology_flavor_cohort_and_queue_come_in_this_order():
    recording = run(kueue, "gcp")

    assert "kueue-flavor-burst" in reached(recording, recording.named("kueue-cohort-gpuplatform"))
    assert "kueue-topology-gce-topology-block-2" in reached(recording, recording.named("kueue-flavor-burst"))
    for name in ("kueue-queue-training", "kueue-queue-tests"):
        before = reached(recording, recording.named(name))
        assert {
            "kueue-flavor-train",
            "kueue-flavor-burst",
            "kueue-cohort-gpuplatform",
            "kueue-provisioning-check",
            "kueue-provisioning-config",
        } <= before


def test_a_chart_in_a_registry_is_named_with_its_place_and_has_no_repository():
    (release,) = [one for one in run(kueue, "gcp").of_type(RELEASE) if one.name == "kueue-release"]

    assert release.inputs["chart"] == "oci://registry.k8s.io/kueue/charts/kueue"
    assert "repositoryOpts" not in release.inputs


@pytest.mark.parametrize(
    ("driver", "open_"),
    [
        (AL2023, True),
        (AmiDriver(ami_type="AL2023_ARM_64_NVIDIA"), True),
        (AmiDriver(ami_type="BOTTLEROCKET_x86_64_NVIDIA"), False),
        (AksDriver(), True),
        (AksDriver(kind="GRID"), True),
        (GkeDriver(), False),
        (OperatorDriver(host="aks-ubuntu"), False),
        (OperatorDriver(host="gke-cos"), False),
        (OperatorDriver(host="gke-ubuntu"), False),
    ],
)
def test_images_whose_toolkit_gives_every_pod_all_gpus_are_known(driver, open_):
    assert leaves_gpus_open(driver) is open_


def test_they_are_closed_on_the_nodes_of_those_pools_whatever_their_taints():
    pools = [
        made_profile(AL2023, DEDICATED),
        made_profile(AmiDriver(ami_type="BOTTLEROCKET_x86_64_NVIDIA"), pool="b"),
    ]
    pod = isolation_daemon(pools)["spec"]["template"]["spec"]

    rule = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert rule["nodeSelectorTerms"] == [
        {"matchExpressions": [{"key": "gpuplatform.io/pool", "operator": "In", "values": ["train"]}]}
    ]
    assert {"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"} in pod["tolerations"]
    (container,) = pod["containers"]
    assert "accept-nvidia-visible-devices-envvar-when-unprivileged=false" in container["command"][-1]
    assert "readinessProbe" in container


def test_drv_3_on_gke_the_compute_domains_get_their_quota_first_and_the_gpu_operator_too():
    recording = run(compute_domains, "gcp")
    release = recording.named("compute-domains-release")
    (quota,) = [r for r in recording.of_type("kubernetes:core/v1:ResourceQuota") if "compute" in r.name]

    assert quota.urn in release.dependencies
    assert quota.inputs["metadata"]["namespace"] == "nvidia-dra-driver-gpu"
    assert "gpu-operator-release" in reached(recording, release)
    assert not [r for r in run(compute_domains, "aws").of_type("kubernetes:core/v1:ResourceQuota") if r.name]
