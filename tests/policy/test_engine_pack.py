"""The pack in the real engine, over small programs that do not import gpuplatform."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import yaml

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]

PACK = Path(__file__).parents[2] / "policies" / "gpu"

# Each program has its good parts always, and the bad ones by configuration.
PROGRAMS = {
    "aws": """
        import pulumi
        import pulumi_aws as aws

        bad = pulumi.Config().get_bool("bad")
        opts = pulumi.ResourceOptions(provider=aws.Provider("here", region="us-east-1"))
        vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", opts=opts)
        subnets = [
            aws.ec2.Subnet(
                f"in-{zone}", vpc_id=vpc.id, cidr_block=f"10.0.{zone}.0/24",
                availability_zone_id=f"use1-az{zone}", opts=opts,
            )
            for zone in (4, 6)
        ]
        ids = [subnet.id for subnet in subnets]
        trust = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow",' \\
            '"Principal":{"Service":"eks.amazonaws.com"},"Action":"sts:AssumeRole"}]}'
        role = aws.iam.Role("role", assume_role_policy=trust, opts=opts)
        cluster = aws.eks.Cluster(
            "cluster", role_arn=role.arn, version="1.35", vpc_config={"subnet_ids": ids}, opts=opts
        )

        def pool(name, machine, zone=1, **more):
            aws.eks.NodeGroup(
                name, cluster_name=cluster.name, node_role_arn=role.arn, subnet_ids=[ids[zone]],
                instance_types=[machine], ami_type="AL2023_x86_64_NVIDIA",
                scaling_config={"min_size": 0, "max_size": 2, "desired_size": 0}, opts=opts, **more,
            )

        pool("elsewhere-in-zone", "p5en.48xlarge", zone=0)
        if bad:
            pool("d-for-n", "m6i.4xlarge")
            pool("misspelt", "p5.48xlrge")
            pool("retired", "p3.2xlarge")
            pool("not-offered", "p5en.48xlarge", region="sa-east-1")
            aws.ec2.LaunchTemplate("bypass", instance_type="p3.8xlarge", opts=opts)
        """,
    "azure": """
        import pulumi
        import pulumi_azure_native as azure

        bad = pulumi.Config().get_bool("bad")
        group = azure.resources.ResourceGroup("group", location="eastus")

        def cluster(name, location, size="Standard_D4s_v5"):
            return azure.containerservice.ManagedCluster(
                name, resource_group_name=group.name, location=location, kubernetes_version="1.35",
                dns_prefix=name, identity={"type": "SystemAssigned"},
                sku={"name": "Base", "tier": "Standard"},
                agent_pool_profiles=[
                    {"name": "system", "mode": "System", "vm_size": size, "count": 1, "os_type": "Linux"}
                ],
            )

        def pool(name, machine, where, **more):
            azure.containerservice.AgentPool(
                name, agent_pool_name=name, resource_name_=where.name, resource_group_name=group.name,
                vm_size=machine, count=2, mode="User", gpu_profile={"driver": "Install"}, **more,
            )

        here = cluster("here", "eastus")
        pool("inzone", "Standard_NC4as_T4_v3", here, availability_zones=["2"])
        pool("notoffered", "Standard_NC24ads_A100_v4", cluster("there", "uaenorth"))
        if bad:
            pool("dforn", "Standard_D16s_v5", here)
            pool("misspelt", "Standard_NC4as_T4_v33", here)
            pool("retired", "Standard_NC6s_v3", here)
            cluster("off-the-list", "westus")
            cluster("bypass", "eastus", size="Standard_NC12s_v3")
        """,
    "gcp": """
        import pulumi
        import pulumi_gcp as gcp

        bad = pulumi.Config().get_bool("bad")
        opts = pulumi.ResourceOptions(
            provider=gcp.Provider("here", project="example-project", region="us-central1")
        )

        def cluster(name, location, **more):
            return gcp.container.Cluster(
                name, name=name, location=location, min_master_version="1.35", initial_node_count=1,
                deletion_protection=False, opts=opts, **more,
            )

        def pool(name, machine, where, zone, accelerator, **more):
            gcp.container.NodePool(
                name, name=name, cluster=where.name, location=zone[:-2], node_locations=[zone],
                autoscaling={"total_min_node_count": 0, "total_max_node_count": 2},
                node_config={
                    "machine_type": machine,
                    "guest_accelerators": [{"type": accelerator, "count": 1}],
                },
                opts=opts, **more,
            )

        here = cluster("here", "us-central1", remove_default_node_pool=True)
        pool("good", "g2-standard-8", here, "us-central1-a", "nvidia-l4")
        if bad:
            pool("d-for-n", "n2-standard-8", here, "us-central1-a", "nvidia-l4")
            pool("misspelt", "g2-standrd-8", here, "us-central1-a", "nvidia-l4")
            pool("in-zone", "g2-standard-8", here, "us-central1-f", "nvidia-l4")
            there = cluster("off-the-list", "africa-south1", remove_default_node_pool=True)
            pool("not-offered", "a3-megagpu-8g", there, "africa-south1-a", "nvidia-h100-mega-80gb")
            cluster("bypass", "us-central1-a", node_config={"machine_type": "a2-highgpu-1g"})
        """,
}
ZONES = """
prices:
  - {cloud: azure, sku: Standard_NC4as_T4_v3, region: eastus, zone_ids: "1 3", date: 2026-11-01}
  - {cloud: gcp, sku: g2-standard-8, region: us-central1, zone_ids: us-central1-a, date: 2026-11-01}
"""

AT_THE_RESOURCE = {
    "aws": (
        "m6i.4xlarge has no GPU",
        "Did you mean p5.48xlarge",
        "p3.2xlarge is retired",
        "p5en.48xlarge is not offered in sa-east-1. It is, nearest first, in ",
        "the region sa-east-1 is not on the list; allowed: us-east-1",
        "p3.8xlarge is retired",
    ),
    "azure": (
        "Standard_D16s_v5 has no GPU",
        "Did you mean Standard_NC4as_T4_v3",
        "Standard_NC6s_v3 is retired",
        "the region westus is not on the list; allowed: eastus, uaenorth",
        "Standard_NC12s_v3 is retired",
        "Standard_NC12s_v3 has GPUs",
    ),
    "gcp": (
        "n2-standard-8 has no GPU",
        "Did you mean g2-standard-8",
        "g2-standard-8 is not offered in zone us-central1-f of us-central1. It is in us-central1-a",
        "a3-megagpu-8g is not offered in africa-south1. It is, nearest first, in ",
        "the region africa-south1 is not on the list; allowed: us-central1",
        "a2-highgpu-1g has GPUs",
    ),
}
ACROSS_RESOURCES = {
    "aws": ("p5en.48xlarge is not offered in zone use1-az4 of us-east-1. It is in use1-az2, use1-az6",),
    "azure": (
        "Standard_NC4as_T4_v3 is not offered in zone 2 of eastus. It is in 1, 3",
        "Standard_NC24ads_A100_v4 is not offered in uaenorth. It is, nearest first, in ",
    ),
    "gcp": (),
}
LARGEST = {"aws": "2 x p5en.48xlarge", "azure": "Standard_NC4as_T4_v3", "gcp": "2 x g2-standard-8"}
REGIONS = {"aws": ["us-east-1"], "azure": ["eastus", "uaenorth"], "gcp": ["us-central1"]}


@pytest.fixture
def pulumi(tmp_path):
    """Runs an operation with the pack over a cloud's program in the sandbox: exit code and words."""
    environ = {**os.environ, "GPUPLATFORM_HOME": str(tmp_path / "home"), "GPUPLATFORM_TODAY": "2026-11-30"}
    sandbox = [Path(sys.executable).parent / "gpuplatform", "sandbox"]

    def run(folder: Path, *command: str) -> tuple[int, str]:
        done = subprocess.run(
            [*sandbox, *command],
            cwd=folder,
            env=environ,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def operate(
        *operation: str, cloud: str, bad: bool, platform=None, pack=None, **limits
    ) -> tuple[int, str]:
        folder = tmp_path / cloud
        folder.mkdir(exist_ok=True)
        (folder / "Pulumi.yaml").write_text("name: other\nruntime: python\n")
        config = {"other:bad": bad} | ({"gpuplatform:platform": platform} if platform else {})
        (folder / "Pulumi.dev.yaml").write_text(json.dumps({"config": config}, default=str))
        (folder / "__main__.py").write_text(textwrap.dedent(PROGRAMS[cloud]))
        (folder / "zones.yaml").write_text(ZONES)
        limits = {"gpu-machine": {"prices": "zones.yaml", **limits}} | (pack or {})
        (folder / "limits.json").write_text(json.dumps(limits))
        flags = ["--stack", "dev", "--non-interactive", "--color", "never"]
        flags += ["--policy-pack", str(PACK), "--policy-pack-config", "limits.json"]
        return run(folder, "exec", "--", "pulumi", *operation, *flags)

    operate.cloud_holds = lambda cloud: run(tmp_path / cloud, "cloud")[1]
    return operate


@pytest.mark.parametrize("cloud", ["aws", "azure", "gcp"])
def test_a_preview_of_somebody_elses_program_fails_for_each_mistake(pulumi, cloud):
    code, words = pulumi("preview", cloud=cloud, bad=True, regions=REGIONS[cloud])
    assert code != 0
    missing = [message for message in AT_THE_RESOURCE[cloud] if message not in words]
    assert not missing, words
    assert "[mandatory]" in words
    assert "can't run policy" not in words


@pytest.mark.parametrize("cloud", ["aws", "azure", "gcp"])
def test_what_takes_several_resources_to_tell_and_a_budget_of_100_dollars_fail_too(pulumi, cloud):
    code, words = pulumi("preview", cloud=cloud, bad=False, monthlyUsd=100)
    assert code != 0
    missing = [message for message in ACROSS_RESOURCES[cloud] if message not in words]
    assert not missing, words
    assert "the budget is $100.00" in words
    assert LARGEST[cloud] in words


def test_a_program_within_its_limits_passes(pulumi):
    code, words = pulumi("preview", cloud="gcp", bad=False, monthlyUsd=100_000, regions=["us-central1"])
    assert code == 0, words
    assert "[mandatory]" not in words


def test_all_policies_made_advisory_show_what_is_wrong_and_stop_nothing(pulumi):
    code, words = pulumi("preview", cloud="gcp", bad=True, monthlyUsd=100, pack={"all": "advisory"})
    assert code == 0, words
    assert [message for message in AT_THE_RESOURCE["gcp"] if message not in words] == [
        "the region africa-south1 is not on the list; allowed: us-central1"
    ]
    assert "the budget is $100.00" in words
    assert "[mandatory]" not in words
    assert "[advisory]" in words


def test_a_configuration_that_cannot_be_read_stops_a_stack_even_where_all_policies_are_advisory(pulumi):
    pack = {"all": {"enforcementLevel": "advisory"}, "gpu-budget": {"montlyUsd": 100}}
    for operation in (("preview",), ("up", "--skip-preview", "--yes")):
        code, words = pulumi(*operation, cloud="gcp", bad=False, pack=pack)
        assert code != 0, words
        assert words.count("did you mean 'monthlyUsd'?") == 1, words
    assert "gcp:container" not in words


def test_the_stacks_own_budget_reaches_the_pack_through_the_engine(pulumi, root):
    text = (root / "stacks" / "config" / "Pulumi.gcp-dev.yaml").read_text()
    platform = yaml.safe_load(text)["config"]["gpuplatform:platform"] | {"budget": {"monthly_usd": 150}}
    code, words = pulumi("preview", cloud="gcp", bad=False, platform=platform, monthlyUsd=100_000)
    assert code != 0
    assert "the budget is $150.00" in words


def test_an_update_without_a_preview_is_stopped_before_the_pool_that_goes_over_the_budget(pulumi):
    """Stack policies run after an update's work is done, so the budget is also kept resource by resource."""
    code, words = pulumi(
        "up", "--skip-preview", "--yes", cloud="gcp", bad=False, monthlyUsd=100, regions=["us-central1"]
    )
    assert code != 0
    assert "[budget] stack: at the autoscaler's maximum a month costs" in words
    held = pulumi.cloud_holds("gcp")
    assert "gcp:container/cluster:Cluster" in held
    assert "gcp:container/nodePool:NodePool" not in held
