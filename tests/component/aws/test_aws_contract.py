"""What holds for every AWS component, over a whole environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuplatform.platform.aws import build
from gpuplatform.sandbox.sdk_types import check, output_names
from gpuplatform.tags import KEYS

URNS = Path(__file__).parent / "urns.txt"
TOKENS = {
    "network": "gpuplatform:index:AwsNetwork",
    "cluster": "gpuplatform:index:EksCluster",
    "pool-train": "gpuplatform:index:EksGpuPool",
    "pool-serve": "gpuplatform:index:EksGpuPool",
    "pool-fixed": "gpuplatform:index:EksGpuPool",
    "autoscaler-role": "gpuplatform:index:AutoscalerRole",
    "autoscaler": "gpuplatform:index:ClusterAutoscaler",
}
OUTPUTS = {
    "gpuplatform:index:AwsNetwork": {"id", "node_subnet_ids", "subnet_by_zone"},
    "gpuplatform:index:EksCluster": {
        "cluster_name",
        "cluster_id",
        "endpoint",
        "kubeconfig",
        "kubeconfig_command",
        "oidc_issuer",
        "oidc_provider_arn",
        "node_role_arn",
    },
    "gpuplatform:index:EksGpuPool": {"node_group_name", "node_group_id", "autoscaling_group"},
    "gpuplatform:index:AutoscalerRole": {"role_arn", "association_id"},
    "gpuplatform:index:ClusterAutoscaler": {"release", "namespace", "chart_version", "status"},
}


@pytest.fixture
def recorded(run, platform, decision):
    config = platform()
    return run(lambda: build(decision(config)))


def of_clouds(recorded):
    return [resource for resource in recorded.resources if resource.custom]


def test_type_tokens_of_components_never_change(recorded):
    components = {resource.name: resource.type for resource in recorded.resources if not resource.custom}
    assert components == TOKENS


def test_urns_never_change_without_an_alias(recorded):
    urns = sorted(resource.urn for resource in recorded.resources)
    assert "\n".join(urns) + "\n" == URNS.read_text(), (
        "a changed URN replaces what exists: give the resource an alias, then write the new list"
    )


def test_urns_do_not_depend_on_the_order_of_pools_and_admins(run, platform, decision, recorded):
    config = platform(node_pools=tuple(reversed(platform().model_dump()["node_pools"])))
    reordered = run(lambda: build(decision(config)))
    assert {r.urn for r in reordered.resources} == {r.urn for r in recorded.resources}


def test_every_input_has_a_name_and_type_that_the_sdk_knows(recorded):
    problems = {
        f"{resource.name} ({resource.type}).{problem.path}": problem.message
        for resource in of_clouds(recorded)
        for problem in check(resource.type, resource.inputs)
    }
    assert of_clouds(recorded)
    assert problems == {}


def test_the_sdk_check_would_notice_a_wrong_name_and_a_wrong_type(recorded):
    subnet = next(r for r in recorded.resources if r.type == "aws:ec2/subnet:Subnet")
    assert check(subnet.type, {**subnet.inputs, "cidr_block": "10.0.0.0/24"})
    assert check(subnet.type, {**subnet.inputs, "cidrBlock": ["10.0.0.0/24"]})


def test_everything_but_the_provider_is_a_child_of_a_component(recorded):
    components = {resource.urn for resource in recorded.resources if not resource.custom}
    strays = [r.name for r in of_clouds(recorded) if r.parent not in components]
    assert strays == ["aws"]


def test_nothing_uses_a_default_provider(recorded):
    providers = {
        r.type.partition(":")[0]: {
            x.provider.rpartition("::")[2]
            for x in of_clouds(recorded)
            if x.type.partition(":")[0] == r.type.partition(":")[0]
        }
        for r in of_clouds(recorded)
        if not r.type.startswith("pulumi:")
    }
    assert providers == {"aws": {"aws"}, "kubernetes": {"cluster-kubernetes"}}


def test_everything_taggable_is_tagged(recorded):
    taggable = [r for r in of_clouds(recorded) if "tags" in output_names(r.type)]
    untagged = [
        r.name for r in taggable if not (set(KEYS) - {"experiment"}) <= r.inputs.get("tags", {}).keys()
    ]
    assert len(taggable) > 20
    assert untagged == []


def test_what_is_launched_is_tagged_as_well(recorded):
    templates = recorded.of_type("aws:ec2/launchTemplate:LaunchTemplate")
    assert len(templates) == 4
    for template in templates:
        specs = {s["resourceType"]: s["tags"] for s in template.inputs["tagSpecifications"]}
        assert set(specs) == {"instance", "volume", "network-interface"}
        assert all(
            (set(KEYS) - {"experiment", "expires"}) <= tags.keys() and tags["Name"] for tags in specs.values()
        )


def test_outputs_are_registered_under_the_names_of_the_attributes(recorded):
    registered = {
        resource.type: set(recorded.outputs[resource.urn])
        for resource in recorded.resources
        if not resource.custom
    }
    assert registered == OUTPUTS


def test_what_holds_data_is_protected_in_prod_and_nothing_is_in_dev(run, platform, decision, recorded):
    assert {r.name for r in recorded.resources if r.protect} == {
        "cluster-eks",
        "cluster-logs",
        "cluster-secrets",
    }
    dev = platform(environment="dev")
    assert not [r for r in run(lambda: build(decision(dev))).resources if r.protect]


def test_nothing_is_kept_silently_on_deletion(recorded):
    assert not [r.name for r in recorded.resources if r.retain_on_delete]


def test_the_provider_works_in_one_account_and_region(recorded):
    provider = recorded.named("aws").inputs
    assert provider["region"] == "us-east-1"
    assert "123456789012" in str(provider["allowedAccountIds"])


def test_a_preview_needs_no_computed_value(platform, decision):
    from gpuplatform.plan.recorder import record

    config = platform()
    preview = record(lambda: build(decision(config)))
    assert len(preview.resources) == len(URNS.read_text().splitlines())


def test_prod_has_a_nat_gateway_in_each_zone_and_dev_has_one(run, platform, decision, recorded):
    dev = platform(environment="dev")
    cheap = run(lambda: build(decision(dev)))
    assert len(recorded.of_type("aws:ec2/natGateway:NatGateway")) == 2
    assert len(cheap.of_type("aws:ec2/natGateway:NatGateway")) == 1


def test_an_arm_system_machine_gets_an_arm_image(run, platform, decision):
    document = platform().cluster.model_dump()
    document["system"]["sku"] = "m7g.xlarge"
    config = platform(cluster=document)
    system = run(lambda: build(decision(config))).named_type("aws:eks/nodeGroup:NodeGroup", "cluster-system")
    assert system.inputs["amiType"] == "AL2023_ARM_64_STANDARD"
