"""What the AWS component tests share: an environment, and what the cloud would compute for it."""

from __future__ import annotations

from dataclasses import fields
from datetime import date
from ipaddress import IPv4Network

import pytest

from gpuplatform.catalog import load
from gpuplatform.config import NodePool, Nodes, OnDemand, Platform, Spot
from gpuplatform.plan.recorder import Recording, record
from gpuplatform.platform.decision import decide
from gpuplatform.profile import node_profile
from gpuplatform.tags import Tags

ACCOUNT = "123456789012"


def computed(resource):
    """Outputs as AWS would answer them, just enough for what components look behind."""
    kind = resource.type.rpartition(":")[2]
    values = {"id": f"{resource.name}-id", "arn": f"arn:aws:test:us-east-1:{ACCOUNT}:{kind}/{resource.name}"}
    match kind:
        case "Cluster":
            values |= {
                "arn": f"arn:aws:eks:us-east-1:{ACCOUNT}:cluster/{resource.inputs['name']}",
                "endpoint": "https://ABC.gr7.us-east-1.eks.amazonaws.com",
                "certificateAuthority": {"data": "Q0E="},
                "vpcConfig": {"clusterSecurityGroupId": "sg-cluster"},
                "identities": [{"oidcs": [{"issuer": "https://oidc.eks.us-east-1.amazonaws.com/id/ABC"}]}],
            }
        case "NodeGroup":
            groups = [{"name": f"eks-{resource.name}"}]
            values |= {
                "nodeGroupName": resource.inputs.get("nodeGroupName", f"{resource.name}-1a2b3c4"),
                "resources": [{"autoscalingGroups": groups}],
            }
        case "LaunchTemplate":
            values["latestVersion"] = 3
        case "PodIdentityAssociation":
            values["associationId"] = "a-abc"
        case "Release":
            values = {"id": "kube-system/cluster-autoscaler", "status": {"status": "deployed"}}
        case _:
            values |= durable(kind, resource.inputs)
    return values


def durable(kind, inputs):
    """The same of storage and of identities that are named before they exist."""
    match kind:
        case "Bucket":
            return {"id": inputs["bucket"], "arn": f"arn:aws:s3:::{inputs['bucket']}"}
        case "LustreFileSystem":
            return {"dnsName": "fs-1.fsx.us-east-1.amazonaws.com", "mountName": "abcd1234"}
        case "Alias":
            return {"id": inputs["name"]}
        case "Role" if "path" in inputs:
            return {"arn": f"arn:aws:iam::{ACCOUNT}:role{inputs['path']}{inputs['name']}"}
        case "OpenIdConnectProvider":
            return {"arn": f"arn:aws:iam::{ACCOUNT}:oidc-provider/{inputs['url'].removeprefix('https://')}"}
    return {}


class Recorded(Recording):
    """A recording in which a resource is found by type and name: a subnet's table has the subnet's name."""

    def named_type(self, token, name):
        [found] = [resource for resource in self.of_type(token) if resource.name == name]
        return found


@pytest.fixture
def run():
    """Records a program as an update, with every output known."""

    def update(program):
        made = record(program, computed=computed)
        return Recorded(**{field.name: getattr(made, field.name) for field in fields(made)})

    return update


@pytest.fixture
def tags():
    return Tags(
        environment="prod",
        project="vision",
        team="vision",
        cost_center="4711",
        owner="ml@example.com",
        expires="2027-01-31",
    )


@pytest.fixture
def profile():
    def make(sku="g6.12xlarge", *, pool="serve", spot=False, taints=(), labels=None):
        node_pool = NodePool(
            name=pool,
            sku=sku,
            purpose="inference",
            nodes=Nodes(min=0, max=4),
            capacity=Spot(kind="spot") if spot else OnDemand(),
            labels=labels or {},
            taints=taints,
        )
        return node_profile(node_pool, load().sku("aws", sku))

    return make


@pytest.fixture
def platform():
    """A configuration with a pool that scales from zero, a spot pool, and a pool of a fixed size."""

    def make(**changed):
        pools = [
            {
                "name": "train",
                "sku": "p5.48xlarge",
                "purpose": "training",
                "nodes": {"min": 0, "max": 4},
                "zones": ("use1-az4",),
            },
            {
                "name": "serve",
                "sku": "g6.12xlarge",
                "purpose": "inference",
                "nodes": {"min": 1, "max": 8},
                "capacity": {"kind": "spot"},
                "zones": ("use1-az4",),
            },
            {"name": "fixed", "sku": "g6.12xlarge", "purpose": "batch", "nodes": {"min": 2, "max": 2}},
        ]
        document = {
            "name": "vision",
            "environment": "prod",
            "owner": "ml@example.com",
            "cost_center": "4711",
            "expires": "2027-01-31",
            "cloud": {"provider": "aws", "region": "us-east-1", "account": ACCOUNT},
            "network": {"cidr": "10.0.0.0/16", "zones": ("use1-az4", "use1-az6")},
            "cluster": {
                "kubernetes_version": "1.35",
                "api_access": {"private": True, "public_cidrs": ("198.51.100.0/24",)},
                "admins": (f"arn:aws:iam::{ACCOUNT}:role/platform-admins",),
            },
            "node_pools": tuple(pools),
        }
        return Platform.model_validate(document | changed)

    return make


@pytest.fixture
def decision():
    return lambda config: decide(config, load(), date(2026, 12, 1))


@pytest.fixture
def cidr():
    return IPv4Network("10.0.0.0/16")
