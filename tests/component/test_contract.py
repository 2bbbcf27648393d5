"""What holds for every component on every cloud, over all that the sample stacks register."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pulumi
import pytest
from samples import STACKS, config_of, decision_of, recording_of

import gpuplatform
from gpuplatform import contracts
from gpuplatform.component import Component
from gpuplatform.errors import Refusal
from gpuplatform.kubernetes import pod_security
from gpuplatform.plan.recorder import Registered, record
from gpuplatform.platform.arguments import cluster_arguments, pool_arguments
from gpuplatform.platform.build import build
from gpuplatform.sandbox import sdk_types
from gpuplatform.tags import KEYS

TOKENS = {
    "gpuplatform:index:AksCluster",
    "gpuplatform:index:AksGpuPool",
    "gpuplatform:index:AutoscalerRole",
    "gpuplatform:index:AwsBudget",
    "gpuplatform:index:AwsCiIdentity",
    "gpuplatform:index:AwsNetwork",
    "gpuplatform:index:AwsObjectStore",
    "gpuplatform:index:AwsSharedFilesystem",
    "gpuplatform:index:AwsStateStore",
    "gpuplatform:index:AwsWorkloadIdentity",
    "gpuplatform:index:AzureBudget",
    "gpuplatform:index:AzureCiIdentity",
    "gpuplatform:index:AzureLustreDriver",
    "gpuplatform:index:AzureNetwork",
    "gpuplatform:index:AzureObjectStore",
    "gpuplatform:index:AzureSharedFilesystem",
    "gpuplatform:index:AzureStateStore",
    "gpuplatform:index:AzureWorkloadIdentity",
    "gpuplatform:index:ClusterAutoscaler",
    "gpuplatform:index:ComputeDomains",
    "gpuplatform:index:DeviceIsolation",
    "gpuplatform:index:EfaDevicePlugin",
    "gpuplatform:index:EksCluster",
    "gpuplatform:index:EksGpuPool",
    "gpuplatform:index:GcpBudget",
    "gpuplatform:index:GcpCiIdentity",
    "gpuplatform:index:GcpNetwork",
    "gpuplatform:index:GcpObjectStore",
    "gpuplatform:index:GcpSharedFilesystem",
    "gpuplatform:index:GcpStateStore",
    "gpuplatform:index:GcpWorkloadIdentity",
    "gpuplatform:index:GkeCluster",
    "gpuplatform:index:GkeGpuNetworks",
    "gpuplatform:index:GkeGpuPool",
    "gpuplatform:index:GkeNodeDaemons",
    "gpuplatform:index:GpuOperator",
    "gpuplatform:index:Kueue",
    "gpuplatform:index:NetworkOperator",
    "gpuplatform:index:StorageClasses",
    "gpuplatform:index:TeamSpace",
}
"""Pinned: changing one replaces every child in everybody's stacks, unless an alias comes with it."""

VIEWERS = {
    "aws": "arn:aws:iam::123456789012:role/gpuplatform-ci/vision-dev-us-east-1-ci-preview",
    "azure": "00000000-0000-4000-8000-0000000000bb",
    "gcp": "serviceAccount:vision-dev-preview@example-ml-dev.iam.gserviceaccount.com",
}
PROVIDERS = {"aws": "aws", "azure": "azure-native", "gcp": "gcp"}
TAG_PROPERTIES = ("tags", "resourceLabels", "labels", "userLabels")
UNTAGGED = {
    # A Tag resource's own `tag` is what it puts on the group; the group's tags come from its node group.
    "aws:autoscaling/tag:Tag",
}


def _components() -> set[type[Component]]:
    for package in ("aws", "azure", "gcp", "kubernetes"):
        module = import_module(f"gpuplatform.{package}")
        for name in getattr(module, "__all__", ()):
            getattr(module, name)
    return {component for component in _below(Component) if "TOKEN" in vars(component)}


def _below(component: type[Component]) -> set[type[Component]]:
    subclasses = component.__subclasses__()
    return set(subclasses).union(*map(_below, subclasses))


def _custom(stack: str) -> list[Registered]:
    return [
        r for r in recording_of(stack).resources if r.custom and not r.type.startswith("pulumi:providers")
    ]


def test_every_component_s_type_token_is_the_pinned_one() -> None:
    components = [component for component in _components() if component.__module__.startswith("gpuplatform.")]
    assert {component.TOKEN for component in components} <= TOKENS
    registered = {r.type for stack in STACKS for r in recording_of(stack).resources if not r.custom}
    assert registered <= TOKENS


def test_every_component_takes_a_name_its_arguments_and_options() -> None:
    for component in _components():
        if component.__module__.startswith("gpuplatform."):
            parameters = list(inspect.signature(component.__init__).parameters)
            assert parameters[:2] == ["self", "name"], component
            assert parameters[-1] == "opts", component


@pytest.mark.parametrize(
    "part",
    [
        "Network", "Cluster", "GpuPool", "ObjectStore", "SharedFilesystem", "WorkloadIdentity", "CiIdentity",
        "StateStore",
    ],
)  # fmt: skip
def test_a_part_is_made_of_the_same_arguments_on_every_cloud(part: str) -> None:
    own = {
        "AwsNetwork": {"nat"},
        "AzureNetwork": {"protect", "lustre", "files"},
        "GcpNetwork": {"private_services"},
        "EksCluster": {"network", "system_arch", "role_boundary"},
        "AksCluster": {"network", "reservations"},
        "GkeCluster": {"network", "project", "multi_networking", "bare_metal"},
        "EksGpuPool": {"cluster"},
        "AksGpuPool": {"cluster"},
        "GkeGpuPool": {"cluster", "interfaces", "after"},
        "AwsObjectStore": {"account"},
        "AzureObjectStore": set(),
        "GcpObjectStore": {"project"},
        "AwsSharedFilesystem": {"network", "source"},
        "AzureSharedFilesystem": {"network", "subscription"},
        "GcpSharedFilesystem": {"network", "project"},
        "AwsWorkloadIdentity": {"cluster", "stores"},
        "AzureWorkloadIdentity": {"resource_group_name", "issuer", "stores"},
        "GcpWorkloadIdentity": {"cluster", "project", "stores"},
        "AwsCiIdentity": {"account", "policies", "state"},
        "AzureCiIdentity": {"subscription", "actions", "conditions", "state"},
        "GcpCiIdentity": {"project", "permissions", "conditions", "state"},
        "AwsStateStore": {"account"},
        "AzureStateStore": {"subscription", "admins"},
        "GcpStateStore": {"project"},
    }
    shared = set(inspect.signature(getattr(contracts, f"{part}Args")).parameters)
    found = {}
    for package in ("aws", "azure", "gcp"):
        module = import_module(f"gpuplatform.{package}")
        (name,) = (name for name in module.__all__ if name.endswith(part))
        found[name] = set(inspect.signature(getattr(module, f"{name}Args")).parameters) - shared
    assert found == {name: arguments for name, arguments in own.items() if name.endswith(part)}


@pytest.mark.parametrize(
    ("part", "outputs"),
    [
        ("Network", {"id", "node_subnet_ids"}),
        (
            "Cluster",
            {"cluster_name", "cluster_id", "endpoint", "kubeconfig", "kubeconfig_command", "oidc_issuer"},
        ),
        ("GpuPool", {"node_group_name", "node_group_id"}),
    ],
)
def test_a_part_gives_the_same_outputs_on_every_cloud(part: str, outputs: set[str]) -> None:
    for stack in STACKS:
        recording = recording_of(stack)
        components = [r for r in recording.resources if r.type.endswith(part) and not r.custom]
        assert components
        for component in components:
            assert outputs <= set(recording.outputs[component.urn]), component.urn


def test_what_exists_on_every_cloud_is_in_a_file_of_the_same_name() -> None:
    root = Path(gpuplatform.__file__).parent
    files = {cloud: {path.stem for path in (root / cloud).glob("*.py")} for cloud in ("aws", "azure", "gcp")}
    common = set.intersection(*files.values())
    assert common == {
        "__init__",
        "access",
        "budget",
        "ci_identity",
        "cluster",
        "fabric",
        "gpu_pool",
        "identity",
        "kubeconfig",
        "network",
        "object_store",
        "resource",
        "settings",
        "shared_filesystem",
        "state_store",
        "system_pool",
        "workload_identity",
    }
    assert {cloud: names - common for cloud, names in files.items()} == {
        "aws": {
            "addons",
            "autoscaler",
            "bucket",
            "launch_template",
            "machines",
            "policies",
            "storage_policies",
            "user_data",
            "zones",
        },
        "azure": {"account", "lustre_driver"},
        "gcp": {"bucket", "fabric_layout", "node_config", "node_daemons", "node_pool", "project", "sizing"},
    }


@pytest.mark.parametrize("part", ["Network", "Cluster"])
def test_infrastructure_that_exists_already_is_taken_on_every_cloud(part: str) -> None:
    for package in ("aws", "azure", "gcp"):
        module = import_module(f"gpuplatform.{package}")
        (ids,) = (name for name in module.__all__ if name.endswith(f"{part}Ids"))
        made = getattr(module, ids.removesuffix("Ids"))
        assert inspect.get_annotations(made)["ids"] == ids
        parameters = inspect.signature(getattr(module, ids)).parameters
        assert {"Network": "ready", "Cluster": "before_nodes"}[part] in parameters


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"admins": ()}, "cluster.admins"),
        ({"admins": ("somebody",)}, "cluster.admins"),
        ({"viewers": ("somebody",)}, "cluster.viewers"),
        ({"name": "x" * 101}, "cluster.name"),
        ({"system_min": 5, "system_max": 4}, "cluster.system.nodes"),
        ({"system_min": -1}, "cluster.system.nodes"),
        ({"system_min": 0, "system_max": 0}, "cluster.system.nodes"),
    ],
)
@pytest.mark.parametrize("stack", ["aws-dev", "azure-dev", "gcp-dev"])
def test_a_cluster_that_no_cloud_builds_is_refused_alike(
    stack: str, changes: dict[str, Any], where: str
) -> None:
    with pytest.raises(Refusal) as refused:
        _cluster_args(stack, **changes)
    assert refused.value.where == where
    assert refused.value.way_out


@pytest.mark.parametrize("stack", ["aws-dev", "azure-dev", "gcp-dev"])
def test_nobody_administers_a_cluster_and_only_looks_at_it(stack: str) -> None:
    admins = config_of(stack).cluster.admins
    with pytest.raises(Refusal, match="would administer the cluster and look at it") as refused:
        _cluster_args(stack, viewers=admins[:1])
    assert refused.value.where == "cluster.viewers"


@pytest.mark.parametrize("stack", ["aws-dev", "azure-dev", "gcp-dev"])
def test_who_looks_at_a_cluster_comes_beside_all_else_and_reads_no_secrets(stack: str) -> None:
    config = config_of(stack)
    changed = config.cluster.model_copy(update={"viewers": (VIEWERS[config.cloud.provider],)})
    decision = replace(decision_of(stack), config=config.model_copy(update={"cluster": changed}))
    before = {resource.urn: resource for resource in recording_of(stack).resources}
    after = {resource.urn: resource for resource in record(lambda: build(decision), stack=stack).resources}
    assert before.items() <= after.items()
    new = [after[urn] for urn in after.keys() - before.keys()]
    assert new
    for resource in new:
        assert "cluster-viewer" in resource.name
        assert not sdk_types.check(resource.type, resource.inputs)
        assert resource.parent.endswith("::cluster")
    granted = {resource.inputs.get(key) for resource in new for key in ("policyArn", "role")}
    granted |= {(resource.inputs.get("roleRef") or {}).get("name") for resource in new}
    reading = {"arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy", "roles/container.viewer", "view"}
    assert len(granted & reading) == 1
    assert granted - {None} <= reading


def _cluster_args(stack: str, **changes: Any) -> contracts.ClusterArgs:
    config = config_of(stack)
    module = import_module(f"gpuplatform.{config.cloud.provider}")
    (name,) = (name for name in module.__all__ if name.endswith("ClusterArgs"))
    own = {"network": None} | ({"project": "p"} if config.cloud.provider == "gcp" else {})
    made: contracts.ClusterArgs = getattr(module, name)(**own, **(cluster_arguments(config, ()) | changes))
    return made


@pytest.mark.parametrize("bounds", [(3, 2), (-1, 2), (0, 0)])
@pytest.mark.parametrize("stack", ["aws-dev", "azure-dev", "gcp-dev"])
def test_a_pool_with_bounds_out_of_order_is_refused_alike(stack: str, bounds: tuple[int, int]) -> None:
    config = config_of(stack)
    module = import_module(f"gpuplatform.{config.cloud.provider}")
    (name,) = (name for name in module.__all__ if name.endswith("GpuPoolArgs"))
    _, arguments = next(pool_arguments(config, decision_of(stack).profiles))
    arguments |= {"nodes_min": bounds[0], "nodes_max": bounds[1]}
    with pytest.raises(Refusal) as refused:
        getattr(module, name)(cluster=None, **arguments)
    assert refused.value.where == f"node_pools.{arguments['profile'].pool}.nodes"


@pytest.mark.parametrize("stack", STACKS)
def test_every_resource_s_inputs_have_the_sdk_s_own_names_and_types(stack: str) -> None:
    problems = {
        resource.urn: found
        for resource in _custom(stack)
        if (found := sdk_types.check(resource.type, resource.inputs))
    }
    assert problems == {}


def test_a_wrong_property_name_and_a_list_for_a_string_would_be_caught() -> None:
    cluster = next(r for r in _custom("aws-dev") if r.type == "aws:eks/cluster:Cluster")
    misspelt = {**cluster.inputs, "acessConfig": cluster.inputs["accessConfig"]}
    assert any("acessConfig" in problem.path for problem in sdk_types.check(cluster.type, misspelt))
    listed = {**cluster.inputs, "version": ["1.35"]}
    assert any(problem.path == "version" for problem in sdk_types.check(cluster.type, listed))
    missing = {key: value for key, value in cluster.inputs.items() if key != "roleArn"}
    assert any(
        "roleArn" in f"{problem.path}{problem.message}" for problem in sdk_types.check(cluster.type, missing)
    )


@pytest.mark.parametrize("stack", STACKS)
def test_pul_7_every_resource_belongs_to_a_component_and_has_an_explicit_provider(stack: str) -> None:
    own = PROVIDERS[config_of(stack).cloud.provider]
    for resource in _custom(stack):
        assert "gpuplatform:index:" in resource.urn.split("::")[2], resource.urn
        package = resource.type.split(":", 1)[0]
        assert package in {own, "kubernetes"}, resource.urn
        assert f"pulumi:providers:{package}::" in resource.provider, resource.urn


@pytest.mark.parametrize("stack", STACKS)
def test_every_taggable_resource_carries_all_tags(stack: str) -> None:
    wanted = set(KEYS) - {"experiment"} - (set() if config_of(stack).expires else {"expires"})
    seen = 0
    for resource in _custom(stack):
        if resource.type.startswith("kubernetes:") or resource.type in UNTAGGED:
            continue
        carriers = [
            resource.inputs.get(name) or {} for name in TAG_PROPERTIES if _has_input(resource.type, name)
        ]
        if "nodeConfig" in resource.inputs and resource.type == "gcp:container/nodePool:NodePool":
            carriers.append(resource.inputs["nodeConfig"].get("resourceLabels") or {})
        if not carriers:
            continue
        seen += 1
        carried = {key for carrier in carriers for key in carrier}
        assert wanted <= carried, f"{resource.urn} lacks {wanted - carried}"
    assert seen >= 3


def _has_input(token: str, name: str) -> bool:
    """Whether the SDK knows the input `name` of a resource: then a wrong value is no unknown name."""
    problems = sdk_types.check(token, {name: {"k": "v"}})
    return not any(problem.path == name for problem in problems)


@pytest.mark.parametrize("stack", STACKS)
def test_a_component_s_outputs_are_its_attributes_by_the_same_names(stack: str) -> None:
    recording = recording_of(stack)
    components = [r for r in recording.resources if not r.custom]
    for component in components:
        assert component.urn in recording.outputs, f"{component.urn} registers no outputs"


def test_an_output_without_an_attribute_of_its_name_is_refused() -> None:
    class Wrong(Component):
        TOKEN = "gpuplatform:index:Wrong"  # noqa: S105 - a type token

        def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
            super().__init__(name, opts)
            self.finish(missing="value")

    with pytest.raises(AttributeError, match="missing"):
        record(lambda: Wrong("wrong"))


@pytest.mark.parametrize("stack", STACKS)
def test_pul_2_what_runs_in_the_cluster_goes_before_its_nodes_and_with_the_cluster(stack: str) -> None:
    recording = recording_of(stack)
    by_urn = {r.urn: r for r in recording.resources}
    pools = {r.urn for r in recording.resources if r.type.endswith(("NodeGroup", "AgentPool", "NodePool"))}
    gpu_pools = {urn for urn in pools if "GpuPool" in urn}
    assert gpu_pools
    pools |= {
        r.urn for r in recording.of_type("azure-native:containerservice:ManagedCluster")
    }  # its own pool
    releases = recording.of_type("kubernetes:helm.sh/v3:Release")
    assert any("gpu-operator" in release.name for release in releases)
    for resource in recording.resources:
        if not resource.type.startswith("kubernetes:"):
            continue
        assert resource.deleted_with, resource.urn
        assert by_urn[resource.deleted_with].type.endswith(("Cluster", "ManagedCluster")), resource.urn
        reached = _reached(resource, by_urn)
        assert reached & pools, f"{resource.urn} does not wait for any nodes"
        if "GpuOperator" in resource.urn:
            assert gpu_pools <= reached, resource.urn


def _reached(resource: Registered, by_urn: dict[str, Registered]) -> set[str]:
    seen: set[str] = set()
    waiting = [resource.urn]
    while waiting:
        urn = waiting.pop()
        if urn in seen or urn not in by_urn:
            continue
        seen.add(urn)
        found = by_urn[urn]
        waiting += [*found.dependencies, found.provider]
    return seen


@pytest.mark.parametrize("stack", STACKS)
def test_pul_1_the_kubernetes_provider_is_identified_by_the_cluster(
    stack: str,
) -> None:
    (provider,) = recording_of(stack).of_type("pulumi:providers:kubernetes")
    assert provider.inputs["clusterIdentifier"]
    assert "kubeconfig" in provider.secrets


@pytest.mark.parametrize("stack", STACKS)
def test_pul_5_an_autoscaled_size_is_left_to_the_autoscaler(stack: str) -> None:
    paths = {
        "aws:eks/nodeGroup:NodeGroup": "scalingConfig.desiredSize",
        "azure-native:containerservice:AgentPool": "count",
        "gcp:container/nodePool:NodePool": "initialNodeCount",
    }
    pools = [r for r in _custom(stack) if r.type in paths]
    assert pools
    for pool in pools:
        assert paths[pool.type] in pool.ignore_changes, pool.urn


@pytest.mark.parametrize("stack", STACKS)
def test_drv_10_only_namespaces_whose_pods_need_it_are_privileged(stack: str) -> None:
    needed = pod_security(decision_of(stack).profiles)
    namespaces = recording_of(stack).of_type("kubernetes:core/v1:Namespace")
    teams = {team.name for team in config_of(stack).teams}
    found = {
        namespace.inputs["metadata"]["name"]: namespace.inputs["metadata"]["labels"][
            "pod-security.kubernetes.io/enforce"
        ]
        for namespace in namespaces
    }
    assert teams < set(found)
    for name, level in found.items():
        assert level == (needed if name in teams else "privileged"), name
        assert name in teams or "operator" in name
    assert needed == ("privileged" if stack.endswith("prod") else "baseline")


@pytest.mark.parametrize("stack", STACKS)
def test_drv_3_gke_alone_gets_the_quota_for_critical_pods_before_the_release(stack: str) -> None:
    recording = recording_of(stack)
    quotas = recording.of_type("kubernetes:core/v1:ResourceQuota")
    if config_of(stack).cloud.provider != "gcp":
        assert quotas == ()
        return
    (quota,) = quotas
    (expression,) = quota.inputs["spec"]["scopeSelector"]["matchExpressions"]
    assert expression == {
        "scopeName": "PriorityClass",
        "operator": "In",
        "values": ["system-node-critical", "system-cluster-critical"],
    }
    assert quota.urn in recording.named("gpu-operator-release").dependencies


@pytest.mark.parametrize("stack", STACKS)
def test_drv_5_every_taint_of_every_pool_is_tolerated_by_every_daemonset(stack: str) -> None:
    recording = recording_of(stack)
    taints = _taint_keys(recording.resources)
    assert "nvidia.com/gpu" in taints
    lists = [found for resource in recording.resources for found in _tolerations(resource.inputs)]
    assert lists
    for tolerated in lists:
        everything = {"operator": "Exists"} in tolerated
        assert everything or taints <= {toleration["key"] for toleration in tolerated}
        assert {toleration["operator"] for toleration in tolerated} == {"Exists"}


@pytest.mark.parametrize("stack", STACKS)
def test_drv_9_exactly_one_chart_brings_node_feature_discovery(stack: str) -> None:
    releases = recording_of(stack).of_type("kubernetes:helm.sh/v3:Release")
    switches = [values["nfd"]["enabled"] for r in releases if "nfd" in (values := r.inputs["values"])]
    assert switches.count(True) == 1


def _tolerations(value: Any) -> Iterator[list[dict[str, Any]]]:
    """Every list of tolerations, wherever it stands: in values, DaemonSets, flavors."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key == "tolerations" and isinstance(part, list):
                yield part
            else:
                yield from _tolerations(part)
    elif isinstance(value, list):
        for part in value:
            yield from _tolerations(part)


def _taint_keys(resources: tuple[Registered, ...]) -> set[str]:
    keys: set[str] = set()
    for resource in resources:
        if "GpuPool" not in resource.urn or not resource.custom:
            continue
        inputs = resource.inputs
        keys |= {taint["key"] for taint in inputs.get("taints", ())}
        keys |= {taint["key"] for taint in inputs.get("nodeConfig", {}).get("taints", ())}
        keys |= {taint.split("=", 1)[0] for taint in inputs.get("nodeTaints", ())}
    return keys


@pytest.mark.parametrize("stack", STACKS)
def test_what_goes_with_another_resource_uses_nothing_that_goes_before_it(stack: str) -> None:
    """A resource with `deleted_with` is never deleted by itself, so what it uses could not go before it."""
    by_urn = {r.urn: r for r in recording_of(stack).resources}
    for resource in by_urn.values():
        if not resource.deleted_with or resource.type.startswith(
            "kubernetes:"
        ):  # nothing in a cloud waits for those
            continue
        outlives = _reached(by_urn[resource.deleted_with], by_urn)
        for urn in resource.dependencies:
            used = by_urn[urn]
            assert urn in outlives or used.deleted_with or resource.deleted_with in _reached(used, by_urn), (
                f"{resource.urn} would keep {urn} from going"
            )
