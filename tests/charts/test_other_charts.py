"""The other charts' values, and our objects of their kinds, against what they really accept."""

from __future__ import annotations

import json

import pytest
import yaml
from chart_data import chart_defaults, kinds, misfits, overlaid, problems
from profiles import made_profile

from gpuplatform.config.model import WorkloadClass
from gpuplatform.kubernetes.charts import EFA_DEVICE_PLUGIN, KUEUE, NETWORK_OPERATOR
from gpuplatform.kubernetes.efa_device_plugin import efa_values
from gpuplatform.kubernetes.kueue import kueue_values
from gpuplatform.kubernetes.network_operator import (
    infiniband_rule,
    network_operator_values,
    nic_cluster_policy,
)
from gpuplatform.profile import (
    AmiDriver,
    Efa,
    Flavor,
    GkeDriver,
    InfiniBand,
    NetworkInterface,
    OperatorDriver,
    Taint,
    operator_values,
    queues,
)

SPOT = Taint(key="kubernetes.azure.com/scalesetpriority", value="spot", effect="NoSchedule")
DEDICATED = Taint(key="dedicated", value="gpu", effect="NoExecute")
LEVELS = ("cloud.google.com/gce-topology-block", "cloud.google.com/gce-topology-host")
TOLERATED = {
    ("nvidia.com/gpu", "Exists", "NoSchedule"),
    (SPOT.key, "Exists", "NoSchedule"),
    (DEDICATED.key, "Exists", "NoExecute"),
}


def infiniband_pools(*resources):
    driver = OperatorDriver(host="aks-ubuntu", rdma=True)
    return [
        made_profile(driver, SPOT, DEDICATED, fabric=InfiniBand(resource=resource, adapters=8))
        for resource in resources
    ] + [made_profile(OperatorDriver(host="aks-ubuntu"), pool="serve")]


def efa_pools():
    one = NetworkInterface(card=0, device=1, type="efa-only")
    efa = Efa(interfaces=(one,), adapters=32, gpudirect=True)
    ami = AmiDriver(ami_type="AL2023_x86_64_NVIDIA")
    return [
        made_profile(ami, SPOT, DEDICATED, fabric=efa, sku="p5.48xlarge"),
        made_profile(ami, pool="serve", sku="g6.xlarge"),
    ]


def gke_pools():
    queued = Flavor(
        name="burst",
        node_labels={"gpuplatform.io/pool": "burst"},
        topology_levels=LEVELS,
        topology_aware=True,
        admission_check="queued-provisioning",
    )
    return [
        made_profile(GkeDriver(), plugin="gke"),
        made_profile(GkeDriver(), SPOT, pool="burst", plugin="gke", flavor=queued),
    ]


def tolerated(tolerations):
    assert all("value" not in one for one in tolerations)
    return {(one["key"], one["operator"], one["effect"]) for one in tolerations}


@pytest.mark.parametrize(
    ("chart", "values"),
    [
        (NETWORK_OPERATOR, network_operator_values(infiniband_pools("rdma/ib"))),
        (EFA_DEVICE_PLUGIN, efa_values(efa_pools())),
        (KUEUE, kueue_values()),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_every_value_exists_in_the_chart_with_its_type(chart, values):
    assert list(misfits(values, chart_defaults(chart.name, chart.version))) == []


def test_drv_5_the_efa_plugin_tolerates_every_taint_of_every_pool():
    defaults = chart_defaults(EFA_DEVICE_PLUGIN.name, EFA_DEVICE_PLUGIN.version)
    assert defaults["tolerations"] == []  # what made it run on no tainted node

    assert tolerated(efa_values(efa_pools())["tolerations"]) == TOLERATED


def test_the_efa_plugin_runs_on_the_machine_types_with_adapters_and_on_no_other():
    labels = efa_values(efa_pools())["supportedInstanceLabels"]

    assert labels == {"keys": ["node.kubernetes.io/instance-type"], "values": ["p5.48xlarge"]}


def test_drv_5_the_network_operator_tolerates_every_taint_of_every_pool():
    pools = infiniband_pools("rdma/ib")
    values = overlaid(
        chart_defaults(NETWORK_OPERATOR.name, NETWORK_OPERATOR.version), network_operator_values(pools)
    )

    assert tolerated(values["node-feature-discovery"]["worker"]["tolerations"]) == TOLERATED
    assert tolerated(nic_cluster_policy(pools)["spec"]["tolerations"]) == TOLERATED


def test_drv_9_exactly_one_chart_brings_feature_discovery():
    pools = infiniband_pools("rdma/ib")
    network = overlaid(
        chart_defaults(NETWORK_OPERATOR.name, NETWORK_OPERATOR.version), network_operator_values(pools)
    )
    gpu = overlaid(chart_defaults("gpu-operator", "v26.3.3"), operator_values(pools))

    assert [chart["nfd"]["enabled"] for chart in (network, gpu)].count(True) == 1
    assert network["nfd"]["enabled"] is True


def test_drv_9_infiniband_is_found_by_our_rule_and_not_by_the_charts_for_any_network_card():
    """On Azure, accelerated networking gives a Mellanox adapter to machines without InfiniBand as well."""
    assert network_operator_values(infiniband_pools("rdma/ib"))["nfd"]["deployNodeFeatureRules"] is False
    (rule,) = infiniband_rule()["spec"]["rules"]
    (found,) = rule["matchFeatures"]

    assert found["matchExpressions"]["vendor"]["value"] == ["15b3"]
    assert found["matchExpressions"]["device"]["value"] == ["101c", "101e"]
    policy = nic_cluster_policy(infiniband_pools("rdma/ib"))["spec"]["nodeAffinity"]
    (term,) = policy["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [
        {"key": next(iter(rule["labels"])), "operator": "In", "values": ["true"]}
    ]


def test_the_rule_is_one_that_feature_discovery_takes():
    for version in ("v26.3.3", "v26.7.0"):
        schema = kinds(f"gpu-operator-{version}/nfd-api-crds.yaml")[
            "nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule"
        ]

        found = problems(
            infiniband_rule(), schema, group_version="nfd.k8s-sigs.io/v1alpha1", kind="NodeFeatureRule"
        )
        assert found == []


@pytest.mark.parametrize(
    "resources", [("rdma/ib",), ("rdma/shared_ib",), ("rdma/ib", "rdma/shared_ib")], ids="+".join
)
def test_net_6_the_policy_is_one_that_the_network_operator_takes(resources):
    body = nic_cluster_policy(infiniband_pools(*resources))
    schema = kinds("network-operator-26.4.1/mellanox.com_nicclusterpolicies.yaml")[
        "mellanox.com/v1alpha1", "NicClusterPolicy"
    ]

    assert problems(body, schema, group_version="mellanox.com/v1alpha1", kind="NicClusterPolicy") == []
    spec = body["spec"]
    assert ("sriovDevicePlugin" in spec) == ("rdma/ib" in resources)
    assert ("rdmaSharedDevicePlugin" in spec) == ("rdma/shared_ib" in resources)
    assert spec["ofedDriver"]["image"] == "doca-driver"


def test_net_6_the_plugins_advertise_the_very_resources_that_pods_ask_for():
    spec = nic_cluster_policy(infiniband_pools("rdma/ib", "rdma/shared_ib"))["spec"]
    (own,) = json.loads(spec["sriovDevicePlugin"]["config"])["resourceList"]
    (shared,) = json.loads(spec["rdmaSharedDevicePlugin"]["config"])["configList"]

    assert f"{own['resourcePrefix']}/{own['resourceName']}" == "rdma/ib"
    assert own["selectors"] == {"vendors": ["15b3"], "linkTypes": ["infiniband"], "isRdma": True}
    assert f"rdma/{shared['resourceName']}" == "rdma/shared_ib"


def test_an_object_with_a_misspelt_or_mistyped_field_is_found():
    schema = kinds("network-operator-26.4.1/mellanox.com_nicclusterpolicies.yaml")[
        "mellanox.com/v1alpha1", "NicClusterPolicy"
    ]

    for spec in ({"ofedDrivers": {}}, {"ofedDriver": {"image": 7}}, {"ofedDriver": {}}):
        assert problems(
            {"spec": spec}, schema, group_version="mellanox.com/v1alpha1", kind="NicClusterPolicy"
        )


def kueue_objects():
    made = queues.queues_of(
        [
            WorkloadClass(name="training", pools=("train", "burst")),
            WorkloadClass(name="other", pools=("train",)),
        ],
        gke_pools(),
    )
    yield "ResourceFlavor", queues.resource_flavor(gke_pools()[0])
    yield "ResourceFlavor", queues.resource_flavor(gke_pools()[1])
    for body in queues.topologies(gke_pools()).values():
        yield "Topology", body
    yield "Cohort", queues.cohort(made, {"train": 4, "burst": 2})
    for queue in made:
        yield "ClusterQueue", queues.cluster_queue(queue)
    yield "AdmissionCheck", queues.admission_check()
    yield "ProvisioningRequestConfig", queues.provisioning_config(gke_pools())


FILES = {
    "ResourceFlavor": "resourceflavors",
    "Topology": "topologies",
    "Cohort": "cohorts",
    "ClusterQueue": "clusterqueues",
    "AdmissionCheck": "admissionchecks",
    "ProvisioningRequestConfig": "provisioningrequestconfigs",
}


def test_every_object_of_kueues_is_one_that_kueue_takes():
    seen = set()
    for kind, body in kueue_objects():
        schema = kinds(f"kueue-{KUEUE.version}/kueue.x-k8s.io_{FILES[kind]}.yaml")[
            "kueue.x-k8s.io/v1beta2", kind
        ]

        assert problems(body, schema, group_version="kueue.x-k8s.io/v1beta2", kind=kind) == []
        seen.add(kind)
    assert seen == set(FILES)


def test_every_flavor_names_every_resource_of_its_group():
    """Kueue's own rule in the CRD, which no JSON schema can say."""
    for kind, body in kueue_objects():
        for group in body["spec"].get("resourceGroups", []) if kind in {"Cohort", "ClusterQueue"} else []:
            for flavor in group["flavors"]:
                assert [one["name"] for one in flavor["resources"]] == group["coveredResources"]


def test_kueues_configuration_is_the_charts_but_for_what_we_mean_to_change():
    text = chart_defaults(KUEUE.name, KUEUE.version)["managerConfig"]["controllerManagerConfigYaml"]
    default = yaml.safe_load(text)
    ours = yaml.safe_load(kueue_values()["managerConfig"]["controllerManagerConfigYaml"])

    for key in ("apiVersion", "kind", "health", "metrics", "webhook", "leaderElection", "clientConnection"):
        assert ours[key] == default[key], key
    assert set(ours["integrations"]["frameworks"]) < set(default["integrations"]["frameworks"])
    assert "pod" not in ours["integrations"]["frameworks"]
    assert "managedJobsNamespaceSelector" in text or "namespaceSelector" in text
    assert "excludeResourcePrefixes" in text
    kinds_counted = set(ours["controller"]["groupKindConcurrency"])
    assert kinds_counted < set(default["controller"]["groupKindConcurrency"])
