"""Volumes of teams and the cluster's StorageClasses under the real engine, while what they are changes."""

import textwrap

import pytest

from gpuplatform.sandbox import cloud, session
from gpuplatform.sandbox.cloud.world import World

pytestmark = pytest.mark.engine

VOLUME = "kubernetes:core/v1:PersistentVolume"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"

PROGRAM = """
import json

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as k8s

from gpuplatform.contracts import ClusterHandle, StorageHandle, Volume
from gpuplatform.kubernetes import StorageClasses, StorageClassesArgs, TeamSpace, TeamSpaceArgs
from gpuplatform.storage import BlockPlan, DiskClass
from gpuplatform.tags import Tags

said = pulumi.Config()
network = gcp.compute.Network("net", auto_create_subnetworks=False)
made = gcp.container.Cluster(
    "one", location="us-central1", network=network.self_link, initial_node_count=1, deletion_protection=False
)
kubeconfig = made.endpoint.apply(
    lambda host: json.dumps({"clusters": [{"name": "c", "cluster": {"server": f"https://{host}"}}]})
)
inside = k8s.Provider("one", kubeconfig=kubeconfig, cluster_identifier=made.id)
cluster = ClusterHandle(
    cloud="gcp", name=made.name, id=made.id, endpoint=made.endpoint, kubeconfig=kubeconfig,
    kubeconfig_command=made.name, oidc_issuer=made.name, provider=inside, cluster=made, ready=(),
)
store = gcp.compute.Network("store", auto_create_subnetworks=False)
data = StorageHandle(
    cloud="gcp", name="data", tier="object", id=store.id, uri=store.id, resource=store,
    volume=Volume(
        driver="gcsfuse.csi.storage.gke.io",
        handle=pulumi.Output.concat(said.get("bucket") or "bucket", "-", store.name.apply(lambda _: "x")),
        capacity_gib=said.get_int("gib") or 1024,
        separator="-",
    ),
)
tags = Tags(environment="dev", project="vision", team="vision", cost_center="1", owner="ml@example.com")
for team in ("research", "search"):
    args = TeamSpaceArgs(cluster=cluster, team=team, identity=None, volumes=(data,), tags=tags)
    TeamSpace(f"team-{team}", args)
disks = DiskClass(
    name="disks-default", provisioner="pd.csi.storage.gke.io", parameters={"type": "pd-balanced"},
    default=True, keep=said.get("teardown") != "delete",
)
StorageClasses("disks", StorageClassesArgs(cluster=cluster, plan=BlockPlan(tier="disks", classes=(disks,))))
"""


@pytest.fixture
def project(tmp_path):
    files = {
        "Pulumi.yaml": "name: teams\nruntime: python\nmain: stacks/\nstackConfigDir: stacks/config\n",
        "stacks/__main__.py": PROGRAM,
        "stacks/config/Pulumi.dev.yaml": "config: {}\n",
    }
    for name, text in files.items():
        file = tmp_path / "project" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
    return tmp_path / "project"


def configure(project, **values):
    lines = "".join(f"  teams:{key}: {value!r}\n" for key, value in values.items())
    (project / "stacks/config/Pulumi.dev.yaml").write_text(f"config:\n{lines}")


def test_volumes_take_their_claims_along_and_classes_are_made_anew(project, open_sandbox):
    with open_sandbox(project, clouds=cloud.serve) as sandbox:
        world = World(sandbox.home.world)

        def things(token):
            return {thing.id: thing for thing in world.all() if thing.token == token}

        def up(**values):
            configure(project, **values)
            result = session.up(sandbox, "dev", quiet=True)
            assert [d.message for d in result.diagnostics if d.severity == "error"] == []
            assert result.exit_code == 0
            bound = {name: thing.outputs["status"]["phase"] for name, thing in things(VOLUME).items()}
            assert bound == {"research-data": "Bound", "search-data": "Bound"}
            return result

        up(gib="1024")
        assert set(things(CLAIM)) == {"research/data", "search/data"}
        assert up(gib="1024").changes == 0

        # A file system that grows changes its volumes in place, and no claim: pods go on.
        grown = up(gib="2048")
        assert grown.counts.get("update") == 2
        assert not {"replace", "create", "delete"} & set(grown.counts)

        # Another bucket is another volume; the claim goes before it, or it would never go.
        keys = {thing.key for thing in things(CLAIM).values()}
        up(gib="2048", bucket="another")
        assert not keys & {thing.key for thing in things(CLAIM).values()}
        assert {t.inputs["spec"]["csi"]["volumeHandle"] for t in things(VOLUME).values()} == {
            "another-x-research-data",
            "another-x-search-data",
        }

        # The API would refuse another reclaim policy, so the class is made anew.
        up(gib="2048", bucket="another", teardown="delete")
        assert things(STORAGE_CLASS)["disks-default"].inputs["reclaimPolicy"] == "Delete"

        gone = session.destroy(sandbox, "dev", quiet=True)
        assert gone.exit_code == 0
        assert world.all() == []
