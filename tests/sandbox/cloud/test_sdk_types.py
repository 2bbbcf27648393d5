import pulumi
import pytest
from pulumi._types import input_type_types

from gpuplatform.sandbox import sdk_source
from gpuplatform.sandbox.sdk_types import SECRET, SIGNATURE, UNKNOWN, check, output_names

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
AGENT_POOL = "azure-native:containerservice:AgentPool"
NODE_POOL = "gcp:container/nodePool:NodePool"


DRIVER = "gpuDriverInstallationConfig"
ACCELERATOR = {"type": "nvidia-h100-80gb", "count": 8.0, DRIVER: {"gpuDriverVersion": "DEFAULT"}}


def node_group(**changes):
    inputs = {
        "clusterName": "train",
        "nodeRoleArn": "arn:aws:iam::123456789012:role/node",
        "subnetIds": ["subnet-1"],
        "scalingConfig": {"minSize": 0.0, "maxSize": 4.0, "desiredSize": 0.0},
        "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}],
    }
    return {**inputs, **changes}


def agent_pool(**changes):
    inputs = {
        "resourceGroupName": "rg",
        "resourceName": "aks",
        "agentPoolName": "train",
        "vmSize": "Standard_ND96isr_H100_v5",
        "mode": "User",
        "gpuProfile": {"driver": "None"},
        "nodeTaints": ["nvidia.com/gpu=true:NoSchedule"],
    }
    return {**inputs, **changes}


def node_pool(**changes):
    config = {
        "machineType": "a3-highgpu-8g",
        "guestAccelerators": [
            {
                "type": "nvidia-h100-80gb",
                "count": 8.0,
                "gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"},
            }
        ],
        "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
    }
    return {"cluster": "c", "nodeConfig": {**config, **changes}}


@pytest.mark.parametrize(
    ("token", "inputs"),
    [
        (NODE_GROUP, node_group()),
        (AGENT_POOL, agent_pool()),
        (NODE_POOL, node_pool()),
        ("kubernetes:core/v1:Namespace", {"metadata": {"name": "gpu-operator", "labels": {"a": "b"}}}),
        (
            "kubernetes:helm.sh/v3:Release",
            {"chart": "gpu-operator", "values": {"driver": {"enabled": False}}},
        ),
        (
            "pulumi:providers:aws",
            {"region": "us-east-1", "defaultTags": '{"tags": {"a": "b"}}', "version": "7.51.1"},
        ),
    ],
)
def test_a_right_resource_has_no_problems(token, inputs):
    assert check(token, inputs) == ()


@pytest.mark.parametrize(
    ("token", "inputs", "path", "words"),
    [
        (NODE_GROUP, node_group(instanceType=["p5.48xlarge"]), "instanceType", "did you mean instanceTypes?"),
        (
            NODE_GROUP,
            node_group(subnetIds="subnet-1"),
            "subnetIds",
            "must be a list, not the string 'subnet-1'",
        ),
        (NODE_GROUP, node_group(clusterName=["train"]), "clusterName", "must be a string, not a list"),
        (NODE_GROUP, node_group(clusterName=None), "clusterName", "required"),
        (NODE_GROUP, node_group(diskSize=1.5), "diskSize", "must be a whole number, not the number 1.5"),
        (NODE_GROUP, node_group(diskSize="100"), "diskSize", "must be a whole number"),
        (NODE_GROUP, node_group(diskSize=True), "diskSize", "must be a whole number, not true"),
        (NODE_GROUP, node_group(tags={"a": 1.0}), "tags.a", "must be a string, not the number 1"),
        (NODE_GROUP, node_group(scalingConfig=[]), "scalingConfig", "must be an object, not a list"),
        (
            NODE_GROUP,
            node_group(taints=[{"key": "a", "efect": "b"}]),
            "taints[0].efect",
            "did you mean effect?",
        ),
        (NODE_GROUP, node_group(taints=[{"key": "a"}]), "taints[0].effect", "required"),
        (AGENT_POOL, agent_pool(gpuProfile={"driver": "none"}), "gpuProfile.driver", "none of Install, None"),
        (AGENT_POOL, agent_pool(mode="Users"), "mode", "did you mean User?"),
        (AGENT_POOL, agent_pool(nodeTaints={"a": "b"}), "nodeTaints", "must be a list, not an object"),
        (AGENT_POOL, agent_pool(vmSise="x"), "vmSise", "did you mean vmSize?"),
        (NODE_POOL, node_pool(machinetype="x"), "nodeConfig.machinetype", "did you mean machineType?"),
        (NODE_POOL, node_pool(spot="true"), "nodeConfig.spot", "must be true or false"),
        (
            NODE_POOL,
            node_pool(guestAccelerators=[{"type": "t", "count": 1.0, DRIVER: {"version": "x"}}]),
            "nodeConfig.guestAccelerators[0].gpuDriverInstallationConfig.version",
            "unknown property",
        ),
        (
            "kubernetes:core/v1:Namespace",
            {"metadata": {"label": {}}},
            "metadata.label",
            "did you mean labels?",
        ),
        (
            "kubernetes:core/v1:Namespace",
            {"apiVersion": "v2", "metadata": {}},
            "apiVersion",
            "'v2' is none of v1",
        ),
        ("kubernetes:helm.sh/v3:Release", {"values": {}}, "chart", "required"),
        ("pulumi:providers:aws", {"regions": "us-east-1"}, "regions", "did you mean region?"),
        ("pulumi:providers:aws", {"defaultTags": '{"tag": {}}'}, "defaultTags.tag", "did you mean tags?"),
    ],
)
def test_each_mistake_is_found_where_it_is(token, inputs, path, words):
    problems = {problem.path: problem.message for problem in check(token, inputs)}

    assert words in problems[path]


def test_every_problem_of_a_resource_is_reported_at_once():
    problems = check(NODE_GROUP, node_group(subnetIds="s", diskSize="1", nodeRoleArn=None))

    assert [problem.path for problem in problems] == ["subnetIds", "diskSize", "nodeRoleArn"]


def test_unknown_secret_and_output_values_are_looked_through():
    secret = {SIGNATURE: SECRET, "value": ["not-a-string"]}

    assert check(NODE_GROUP, node_group(clusterName=UNKNOWN, subnetIds=UNKNOWN)) == ()
    assert check(NODE_GROUP, node_group(clusterName={SIGNATURE: SECRET, "value": UNKNOWN})) == ()
    assert [p.path for p in check(NODE_GROUP, node_group(clusterName=secret))] == ["clusterName"]


def test_live_outputs_as_mocks_record_them_are_no_problem():
    output = pulumi.Output.from_input("x")

    assert check(NODE_GROUP, node_group(clusterName=output, subnetIds=[output])) == ()


def test_an_aws_enumeration_is_a_hint_and_takes_newer_values():
    assert check("aws:ec2/instance:Instance", {"ami": "ami-1", "instanceType": "p9.96xlarge"}) == ()


def test_a_misspelt_type_names_the_nearest():
    (problem,) = check("aws:eks/nodegroup:NodeGroup", {})

    assert problem.path == ""
    assert "did you mean aws:eks/nodeGroup:NodeGroup?" in problem.message


def test_a_package_that_is_not_installed_is_no_pass():
    (problem,) = check("oci:core:Vcn", {})

    assert "cannot be checked" in problem.message


def test_a_custom_resource_is_free_form_but_for_its_head():
    custom = "kubernetes:kueue.x-k8s.io/v1beta1:ClusterQueue"
    right = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue", "spec": {"anything": [1]}}

    assert check(custom, {**right, "metadata": {"name": "a"}}) == ()
    assert [p.path for p in check(custom, {**right, "kind": "LocalQueue"})] == ["kind"]
    assert [p.path for p in check(custom, {**right, "metadata": {"nam": "a"}})] == ["metadata.nam"]


def test_a_misspelt_kind_of_a_built_in_group_is_no_custom_resource():
    (problem,) = check(
        "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoles", {"apiVersion": "x", "kind": "y"}
    )

    assert "did you mean" in problem.message


def test_an_azure_token_with_an_api_version_is_checked_for_types_but_not_for_names():
    custom = "azure-native:containerservice/v20240101:AgentPool"

    assert check(custom, agent_pool(onlyInThatVersion=1.0)) == ()
    assert [p.path for p in check(custom, agent_pool(vmSize=["a"]))] == ["vmSize"]


def test_outputs_are_listed_by_their_engine_names():
    assert {"arn", "resources", "nodeGroupName"} <= set(output_names(NODE_GROUP))
    assert {"oidcIssuerProfile", "fqdn"} <= set(output_names("azure-native:containerservice:ManagedCluster"))
    assert output_names("aws:no/such:Thing") == ()


@pytest.mark.parametrize(
    ("token", "module", "name"),
    [
        ("aws:eks/cluster:Cluster", "pulumi_aws.eks", "ClusterArgs"),
        (NODE_GROUP, "pulumi_aws.eks", "NodeGroupArgs"),
        ("aws:iam/role:Role", "pulumi_aws.iam", "RoleArgs"),
        (AGENT_POOL, "pulumi_azure_native.containerservice", "AgentPoolArgs"),
        (
            "azure-native:containerservice:ManagedCluster",
            "pulumi_azure_native.containerservice",
            "ManagedClusterArgs",
        ),
        (NODE_POOL, "pulumi_gcp.container", "NodePoolArgs"),
        ("gcp:container/cluster:Cluster", "pulumi_gcp.container", "ClusterArgs"),
        ("kubernetes:helm.sh/v3:Release", "pulumi_kubernetes.helm.v3", "ReleaseArgs"),
        ("kubernetes:core/v1:ResourceQuota", "pulumi_kubernetes.core.v1", "ResourceQuotaInitArgs"),
    ],
)
def test_reading_the_source_agrees_with_importing_the_sdk(token, module, name):
    """Holds for nested classes too: the walk compares every class reachable from the resource."""
    import importlib

    package = importlib.import_module(module)
    todo = [(getattr(package, name), sdk_source.resource_type(token).inputs)]
    seen = set()
    while todo:
        imported, read = todo.pop()
        if imported in seen:
            continue
        seen.add(imported)
        types = input_type_types(imported)
        assert set(read) == set(types)
        for key, declared in read.items():
            todo += _nested(types[key], declared.type)
    assert seen


def _nested(imported, declared):
    """Pairs of (imported class, its properties as read), through lists, maps and unions."""
    from typing import get_args

    classes = {}
    stack = [imported]
    while stack:
        entry = stack.pop()
        if hasattr(entry, "_pulumi_input_type"):
            classes[entry.__name__] = entry
        stack += [a for a in get_args(entry) if a is not entry]
    pairs = []
    types = [declared]
    while types:
        entry = types.pop()
        if isinstance(entry, sdk_source.ListOf | sdk_source.MapOf):
            types.append(entry.item)
        elif isinstance(entry, sdk_source.OneOf):
            types += entry.options
        elif isinstance(entry, sdk_source.ObjectType) and entry.name in classes:
            pairs.append((classes.pop(entry.name), sdk_source.object_type(entry)))
    assert not classes, f"read nothing for {classes}"
    return pairs
