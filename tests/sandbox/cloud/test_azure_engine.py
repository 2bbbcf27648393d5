"""What Azure keeps, under the real engine: up, down but for what is protected, up again, and all gone."""

from __future__ import annotations

import textwrap

import pytest

from gpuplatform.sandbox import cloud, session
from gpuplatform.sandbox.cloud.world import World

pytestmark = pytest.mark.engine

PROGRAM = """
from ipaddress import IPv4Network

import pulumi
import pulumi_azure_native as azure_native

from gpuplatform.azure import *
from gpuplatform.storage import ObjectPlan, SharedFilesystemPlan
from gpuplatform.tags import Tags

SUBSCRIPTION = "00000000-0000-4000-8000-000000000001"
keep = pulumi.Config().get_bool("keep") or False
tags = Tags(environment="dev", project="vision", team="vision", cost_center="4711", owner="ml@example.com")
common = {"name": "vision-dev", "region": "eastus", "tags": tags}
provider = azure_native.Provider("azure", subscription_id=SUBSCRIPTION, location="eastus")
opts = pulumi.ResourceOptions(provider=provider)

network = AzureNetwork(
    "network",
    AzureNetworkArgs(
        cidr=IPv4Network("10.0.0.0/16"),
        zones=("1",),
        nodes_max=20,
        protect=False,
        lustre={"scratch": 8192},
        files=True,
        **common,
    ),
    opts,
)
store = AzureObjectStore(
    "storage-data",
    AzureObjectStoreArgs(
        plan=ObjectPlan(tier="data", bucket="visiondevdata", cold_after_days=30, keep=keep), **common
    ),
    opts,
)
for plan in (
    SharedFilesystemPlan(
        tier="scratch",
        service="azure-managed-lustre",
        capacity_gib=8192,
        sku="AMLFS-Durable-Premium-250",
        zone="1",
        keep=keep,
    ),
    SharedFilesystemPlan(
        tier="home", service="azure-files-nfs", capacity_gib=500, sku="Premium_LRS", keep=keep
    ),
):
    made = AzureSharedFilesystem(
        f"storage-{plan.tier}",
        AzureSharedFilesystemArgs(plan=plan, network=network, subscription=SUBSCRIPTION, **common),
        opts,
    )
    pulumi.export(plan.tier, made.address)
AzureWorkloadIdentity(
    "team",
    AzureWorkloadIdentityArgs(
        namespace="vision",
        service_account="team",
        resource_group_name=network.resource_group_name,
        issuer="https://issuer.example.com/",
        stores=(store,),
        **common,
    ),
    opts,
)
pulumi.export("uri", store.uri)
"""

BOOTSTRAP = """
import pulumi
import pulumi_azure_native as azure_native

from gpuplatform.azure import *
from gpuplatform.config.identity import Github
from gpuplatform.permissions.azure import AzureActions
from gpuplatform.tags import Tags
from gpuplatform.trust import trust

SUBSCRIPTION = "00000000-0000-4000-8000-000000000001"
tags = Tags(environment="dev", project="vision", team="vision", cost_center="4711", owner="ml@example.com")
common = {"name": "vision-dev", "region": "eastus", "tags": tags, "subscription": SUBSCRIPTION}
provider = azure_native.Provider("azure", subscription_id=SUBSCRIPTION, location="eastus")
opts = pulumi.ResourceOptions(provider=provider)
environments = ("dev", "second") if pulumi.Config().get_bool("keep") else ("dev",)
state = AzureStateStore("state", AzureStateStoreArgs(**common), opts)
nothing = AzureActions(actions=())
ci = AzureCiIdentity(
    "ci",
    AzureCiIdentityArgs(
        trust=trust(Github(repository="octo/vision", environments=environments)),
        actions={"preview": nothing, "deploy": nothing},
        state=state,
        **common,
    ),
    opts,
)
pulumi.export("backend", state.backend_url)
pulumi.export("variables", ci.variables)
"""


@pytest.fixture
def project(tmp_path):
    files = {
        "Pulumi.yaml": "name: durable\nruntime: python\nmain: stacks/\nstackConfigDir: stacks/config\n",
        "stacks/__main__.py": PROGRAM,
    }
    for name, text in files.items():
        file = tmp_path / "project" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
    return tmp_path / "project"


def configure(project, keep):
    file = project / "stacks/config/Pulumi.dev.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"config:\n  durable:keep: {'true' if keep else 'false'}\n")


def kinds(world):
    return {thing.token.rpartition(":")[2] for thing in world.all() if thing.urn}


def test_a_teardown_keeps_what_is_kept_and_what_it_stands_on_and_the_next_up_finds_it(project, open_sandbox):
    configure(project, keep=True)
    with open_sandbox(project, clouds=cloud.serve) as sandbox:
        made = session.up(sandbox, "dev", quiet=True)
        assert [d.message for d in made.diagnostics if d.severity == "error"] == []
        assert made.outputs["uri"] == "abfss://data@visiondevdata.dfs.core.windows.net"
        assert made.outputs["scratch"].endswith("@tcp:/lustrefs")
        again = session.up(sandbox, "dev", quiet=True)
        assert (again.exit_code, again.changes) == (0, 0)

        world = World(sandbox.home.world)
        before = {thing.id for thing in world.all() if thing.urn}
        gone = session.destroy(sandbox, "dev", quiet=True)
        assert gone.exit_code == 0
        left = kinds(world)
        assert {"StorageAccount", "BlobContainer", "Vault", "Key", "AmlFilesystem", "FileShare"} <= left
        assert not {"NatGateway", "PublicIPAddress", "PrivateEndpoint", "PrivateZone"} & left

        back = session.up(sandbox, "dev", quiet=True)
        assert back.exit_code == 0
        assert {thing.id for thing in world.all() if thing.urn} >= {
            known for known in before if "StorageAccount" in known or "amlFilesystems" in known
        }
        assert back.outputs == made.outputs
        world.close()


def test_what_is_not_kept_goes_whole_and_can_be_made_again(project, open_sandbox):
    configure(project, keep=False)
    with open_sandbox(project, clouds=cloud.serve) as sandbox:
        for _ in range(2):  # the second time, deleted vaults still have their names
            made = session.up(sandbox, "dev", quiet=True)
            assert [d.message for d in made.diagnostics if d.severity == "error"] == []
            gone = session.destroy(sandbox, "dev", quiet=True)
            assert gone.exit_code == 0
            world = World(sandbox.home.world)
            assert kinds(world) == set()
            world.close()


def test_a_second_bootstrap_changes_nothing_and_a_locked_identity_trusts_nobody_new(project, open_sandbox):
    (project / "stacks/__main__.py").write_text(BOOTSTRAP)
    configure(project, keep=False)
    with open_sandbox(project, clouds=cloud.serve) as sandbox:
        made = session.up(sandbox, "dev", quiet=True)
        assert [d.message for d in made.diagnostics if d.severity == "error"] == []
        assert made.outputs["backend"].startswith("azblob://state?storage_account=visiondevstate")
        again = session.up(sandbox, "dev", quiet=True)
        assert (again.exit_code, again.changes) == (0, 0)

        configure(project, keep=True)
        refused = session.up(sandbox, "dev", quiet=True)
        assert refused.exit_code != 0
        assert "remove the lock" in " ".join(d.message for d in refused.diagnostics)
