"""A small environment on Google Cloud, as the engine would see it."""

from __future__ import annotations

import json
from dataclasses import replace
from ipaddress import IPv4Network

import pulumi
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


@pytest.fixture
def cloud():
    """What Google Cloud would answer."""

    def computed(resource):
        match resource.type:
            case "gcp:container/cluster:Cluster":
                path = "projects/example-ml/locations/us-east4/clusters/vision-prod"
                authority = {"clusterCaCertificate": "Q0E=", "clientCertificateConfig": {}}
                return {"id": path, "endpoint": "203.0.113.7", "masterAuth": authority}
            case "gcp:serviceaccount/account:Account":
                email = f"{resource.inputs['accountId']}@example-ml.iam.gserviceaccount.com"
                return {"email": email, "member": f"serviceAccount:{email}"}
            case _:
                return {}

    return computed
