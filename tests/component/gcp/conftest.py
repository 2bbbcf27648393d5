"""A small environment on Google Cloud, as the engine would see it."""

from __future__ import annotations

import json
from dataclasses import replace
from ipaddress import IPv4Network

import pulumi
import pulumi_gcp as gcp
import pytest

from gpuplatform import catalog
from gpuplatform.config import NodePool
from gpuplatform.gcp import (
    GcpNetwork,
    GcpNetworkArgs,
    GkeCluster,
    GkeClusterArgs,
    GkeGpuPool,
    GkeGpuPoolArgs,
)
from gpuplatform.plan.recorder import record
from gpuplatform.profile import node_profile
from gpuplatform.tags import Tags

TAGS = Tags(
    environment="prod",
    project="Vision",
    team="vision",
    cost_center="4711",
    owner="ml@example.com",
    expires="2027-01-31",
)
NETWORK = GcpNetworkArgs(
    name="vision-prod",
    cidr=IPv4Network("10.0.0.0/16"),
    zones=("us-east4-a", "us-east4-b"),
    nodes_max=20,
    region="us-east4",
    tags=TAGS,
)


def profile_of(sku, **changes):
    """The profile of a training pool on `sku`."""
    asked = {"name": "train", "sku": sku, "purpose": "training", "nodes": {"max": 4}, **changes}
    pool = NodePool.model_validate_json(json.dumps(asked))
    return node_profile(pool, catalog.load().sku("gcp", sku))


TRAIN = profile_of("a3-megagpu-8g", fabric="none")


@pytest.fixture
def profile():
    """Makes profiles of training pools."""
    return profile_of


@pytest.fixture
def train():
    return TRAIN


@pytest.fixture
def network_args():
    return NETWORK


@pytest.fixture
def tags():
    return TAGS


@pytest.fixture
def environment():
    """Records a network, a cluster and one GPU pool; keywords change the arguments of each."""

    def build(*, network=None, cluster=None, pool=None, profile=TRAIN, opts=None, computed=None):
        def program():
            made = GcpNetwork("network", replace(NETWORK, **(network or {})), opts)
            args = GkeClusterArgs(
                name="vision-prod",
                project="example-ml",
                region="us-east4",
                kubernetes_version="1.35",
                network=made,
                admins=("group:admins@example.com",),
                system_sku="e2-standard-4",
                system_min=2,
                system_max=4,
                api_public_cidrs=("198.51.100.0/24",),
                tags=TAGS,
            )
            gke = GkeCluster("cluster", replace(args, **(cluster or {})), opts)
            asked = {"nodes_min": 0, "nodes_max": 4, "zones": ("us-east4-b",), **(pool or {})}
            args = GkeGpuPoolArgs(cluster=gke, profile=profile, tags=TAGS, **asked)
            GkeGpuPool("pool-train", args, opts)
            for key in ("name", "id", "endpoint", "kubeconfig", "kubeconfig_command", "oidc_issuer"):
                pulumi.export(key, getattr(gke.handle, key))

        return record(program, computed=computed)

    return build


NUMBER = "123456789012"
POOLS = f"projects/{NUMBER}/locations/global/workloadIdentityPools"
AGENT = f"service-{NUMBER}@gs-project-accounts.iam.gserviceaccount.com"
ANSWERS = {
    "gcp:organizations/getProject:getProject": ("projectId", {"number": NUMBER}),
    "gcp:storage/getProjectServiceAccount:getProjectServiceAccount": ("project", {"emailAddress": AGENT}),
}


@pytest.fixture
def update(cloud, monkeypatch):
    """Records a program as an update: the cloud has answered, functions too."""

    def answer(function, inputs, opts):
        asked, values = ANSWERS[function]
        assert inputs == {asked: "example-ml"}
        assert opts.parent.get_provider(function) is not None
        return pulumi.Output.from_input(values)

    monkeypatch.setattr(pulumi.runtime, "invoke_output", answer)

    def run(build):
        def program():
            provider = gcp.Provider("gcp", project="example-ml", region="us-east4")
            build(pulumi.ResourceOptions(provider=provider))

        return record(program, computed=cloud)

    return run


@pytest.fixture
def preview():
    """Records a program as a preview: functions are not answered."""

    def run(build):
        return record(
            lambda: build(pulumi.ResourceOptions(provider=gcp.Provider("gcp", project="example-ml")))
        )

    return run


def _account(resource):
    email = f"{resource.inputs['accountId']}@example-ml.iam.gserviceaccount.com"
    name = f"projects/example-ml/serviceAccounts/{email}"
    return {"email": email, "member": f"serviceAccount:{email}", "name": name}


def _filestore(resource):
    (network,) = resource.inputs["networks"]
    return {"networks": [{**network, "ipAddresses": ["10.0.240.10"]}], "createTime": "2026"}


def _provider(resource):
    pool, own = (resource.inputs[f"workloadIdentityPool{part}Id"] for part in ("", "Provider"))
    return {"name": f"{POOLS}/{pool}/providers/{own}"}


COMPUTED = {
    "gcp:container/cluster:Cluster": lambda _: {
        "id": "projects/example-ml/locations/us-east4/clusters/vision-prod",
        "endpoint": "203.0.113.7",
        "masterAuth": {"clusterCaCertificate": "Q0E=", "clientCertificateConfig": {}},
    },
    "gcp:serviceaccount/account:Account": _account,
    "gcp:storage/bucket:Bucket": lambda r: {"id": r.inputs["name"]},
    "gcp:kms/keyRing:KeyRing": lambda r: {
        "id": f"projects/example-ml/locations/us-east4/keyRings/{r.name}-1a2b3c4"
    },
    "gcp:kms/cryptoKey:CryptoKey": lambda r: {"id": f"{r.inputs['keyRing']}/cryptoKeys/{r.name}-1a2b3c4"},
    "gcp:iam/workloadIdentityPool:WorkloadIdentityPool": lambda r: {
        "name": f"{POOLS}/{r.inputs['workloadIdentityPoolId']}"
    },
    "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider": _provider,
    "gcp:projects/iAMCustomRole:IAMCustomRole": lambda r: {
        "name": f"projects/example-ml/roles/{r.inputs['roleId']}"
    },
    "gcp:monitoring/notificationChannel:NotificationChannel": lambda r: {
        "id": f"projects/example-ml/notificationChannels/{r.name}"
    },
    "gcp:lustre/instance:Instance": lambda r: {"mountPoint": f"10.0.240.2@tcp:/{r.inputs['filesystem']}"},
    "gcp:filestore/instance:Instance": _filestore,
}


@pytest.fixture
def cloud():
    """What Google Cloud would answer."""
    return lambda resource: COMPUTED.get(resource.type, lambda _: {})(resource)
