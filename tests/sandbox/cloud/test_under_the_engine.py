"""The four providers under the real engine: up, nothing to do, a change, drift, and down."""

import textwrap

import pytest

from gpuplatform.sandbox import cloud, session
from gpuplatform.sandbox.cloud.world import World

pytestmark = pytest.mark.engine

POOL = "azure-native:containerservice:AgentPool"

PROGRAM = """
import json

import pulumi
import pulumi_aws as aws
import pulumi_azure_native as azure
import pulumi_gcp as gcp
import pulumi_kubernetes as k8s

size = pulumi.Config().get_int("size") or 2

for region in ("us-east-1", "us-west-2"):
    provider = aws.Provider(region, region=region)
    own = pulumi.ResourceOptions(provider=provider)
    vpc = aws.ec2.Vpc(f"vpc-{region}", cidr_block="10.0.0.0/16", opts=own)
    aws.ec2.Subnet(f"subnet-{region}", vpc_id=vpc.id, cidr_block="10.0.0.0/24", opts=own)
    pulumi.export(region, vpc.arn)

group = azure.resources.ResourceGroup("group", location="eastus")
aks = azure.containerservice.ManagedCluster(
    "aks",
    resource_group_name=group.name,
    agent_pool_profiles=[{"name": "system", "mode": "System", "count": 1, "vm_size": "Standard_D4s_v5"}],
)
azure.containerservice.AgentPool(
    "gpu",
    resource_group_name=group.name,
    resource_name_=aks.name,
    agent_pool_name="gpu",
    vm_size="Standard_NC24ads_A100_v4",
    enable_auto_scaling=True,
    min_count=0,
    max_count=size,
)

network = gcp.compute.Network("net", auto_create_subnetworks=False)
for name in ("one", "two"):
    cluster = gcp.container.Cluster(
        name,
        location="us-central1",
        network=network.self_link,
        initial_node_count=1,
        deletion_protection=False,
    )
    gcp.container.NodePool(
        f"{name}-gpu",
        cluster=cluster.id,
        initial_node_count=0,
        autoscaling={"min_node_count": 0, "max_node_count": size},
        node_config={
            "machine_type": "g2-standard-8",
            "guest_accelerators": [{"type": "nvidia-l4", "count": 1}],
        },
    )
    kubeconfig = cluster.endpoint.apply(
        lambda host: json.dumps({"clusters": [{"name": "c", "cluster": {"server": f"https://{host}"}}]})
    )
    inside = k8s.Provider(name, kubeconfig=kubeconfig, cluster_identifier=cluster.id)
    own = pulumi.ResourceOptions(provider=inside, deleted_with=cluster)
    space = k8s.core.v1.Namespace(f"{name}-operator", metadata={"name": "gpu-operator"}, opts=own)
    release = k8s.helm.v3.Release(
        f"{name}-release",
        chart="gpu-operator",
        name="gpu-operator",
        namespace=space.metadata["name"],
        values={"driver": {"enabled": False}},
        opts=own,
    )
    pulumi.export(name, release.status["status"])
"""

MISTAKE = """
import pulumi_azure_native as azure

group = azure.resources.ResourceGroup("group", location="eastus")
azure.containerservice.AgentPool(
    "gpu", resource_group_name=group.name, resource_name_="aks", gpu_profile={"driver": "none"}
)
"""


@pytest.fixture
def project(tmp_path):
    files = {
        "Pulumi.yaml": "name: four\nruntime: python\nmain: stacks/\nstackConfigDir: stacks/config\n",
        "stacks/__main__.py": PROGRAM,
        "stacks/config/Pulumi.dev.yaml": "config: {}\n",
    }
    for name, text in files.items():
        file = tmp_path / "project" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
    return tmp_path / "project"


def configure(project, **values):
    lines = "".join(f"  four:{key}: {value!r}\n" for key, value in values.items())
    (project / "stacks/config/Pulumi.dev.yaml").write_text(f"config:\n{lines}")


def test_four_providers_go_up_stay_change_and_go_down(project, open_sandbox):
    with open_sandbox(project, clouds=cloud.serve) as sandbox:
        made = session.up(sandbox, "dev", quiet=True)
        assert [d for d in made.diagnostics if d.severity == "error"] == []
        assert made.exit_code == 0
        # Two regions and two clusters at once: each resource went to its own provider's.
        assert made.outputs["us-east-1"].startswith("arn:aws:ec2:us-east-1:")
        assert made.outputs["us-west-2"].startswith("arn:aws:ec2:us-west-2:")
        assert (made.outputs["one"], made.outputs["two"]) == ("deployed", "deployed")

        again = session.up(sandbox, "dev", quiet=True)
        assert (again.exit_code, again.changes) == (0, 0)

        configure(project, size="4")
        changed = session.up(sandbox, "dev", quiet=True)
        assert changed.counts.get("update") == 3
        assert not {"replace", "delete", "create"} & set(changed.counts)

        world = World(sandbox.home.world)
        (pool,) = (thing for thing in world.all() if thing.token == POOL)
        world.remove(pool.key)
        seen = session.refresh(sandbox, "dev", quiet=True)
        assert (seen.exit_code, seen.changes, seen.counts["delete"]) == (0, 1, 1)

        gone = session.destroy(sandbox, "dev", quiet=True)
        assert gone.exit_code == 0
        assert world.all() == []
        world.close()


def test_a_preview_refuses_a_wrong_value_and_creates_nothing(project, open_sandbox):
    (project / "stacks/__main__.py").write_text(MISTAKE)

    with open_sandbox(project, clouds=cloud.serve) as sandbox:
        result = session.preview(sandbox, "dev", quiet=True)

        assert result.exit_code != 0
        assert "'none' is none of Install, None" in " ".join(d.message for d in result.diagnostics)
        world = World(sandbox.home.world)
        assert world.all() == []
        world.close()
