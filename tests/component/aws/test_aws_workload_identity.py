from __future__ import annotations

import json

import pytest

from gpuplatform.aws import (
    AwsNetworkIds,
    AwsObjectStore,
    AwsObjectStoreArgs,
    AwsWorkloadIdentity,
    AwsWorkloadIdentityArgs,
    EksCluster,
    EksClusterArgs,
)
from gpuplatform.storage import ObjectPlan

ACCOUNT = "123456789012"
ASSOCIATION = "aws:eks/podIdentityAssociation:PodIdentityAssociation"


def object_store(tags, tier):
    plan = ObjectPlan(tier=tier, bucket=f"vision-{tier}")
    args = AwsObjectStoreArgs(plan=plan, name="vision-prod", region="us-east-1", tags=tags, account=ACCOUNT)
    return AwsObjectStore(tier, args)


@pytest.fixture
def identity(run, tags):
    def make(*tiers, boundary=None):
        made = {}

        def program():
            cluster = EksCluster(
                "cluster",
                EksClusterArgs(
                    name="vision-prod",
                    region="us-east-1",
                    kubernetes_version="1.35",
                    network=AwsNetworkIds(id="vpc-1", subnet_by_zone={"use1-az4": "a", "use1-az6": "b"}),
                    admins=(f"arn:aws:iam::{ACCOUNT}:role/admins",),
                    system_sku="m6i.xlarge",
                    system_min=2,
                    system_max=2,
                    tags=tags,
                    mounts=("object", "lustre"),
                    role_boundary=boundary,
                ),
            )
            args = AwsWorkloadIdentityArgs(
                name="vision-prod",
                region="us-east-1",
                namespace="perception",
                service_account="team",
                tags=tags,
                cluster=cluster,
                stores=tuple(object_store(tags, tier) for tier in tiers),
            )
            made["identity"] = AwsWorkloadIdentity("perception", args)

        recorded = run(program)
        return recorded, made["identity"]

    return make


def role(recorded):
    return recorded.named_type("aws:iam/role:Role", "perception-pods-perception-team")


def test_only_pods_of_one_service_account_in_one_cluster_get_the_role(identity):
    recorded, _ = identity("data")
    [statement] = json.loads(role(recorded).inputs["assumeRolePolicy"])["Statement"]
    assert statement["Principal"] == {"Service": "pods.eks.amazonaws.com"}
    assert statement["Condition"] == {
        "StringEquals": {
            "aws:RequestTag/eks-cluster-arn": f"arn:aws:eks:us-east-1:{ACCOUNT}:cluster/vision-prod",
            "aws:RequestTag/kubernetes-namespace": "perception",
            "aws:RequestTag/kubernetes-service-account": "team",
        }
    }


def test_it_reads_and_writes_its_own_buckets_and_nothing_else(identity):
    recorded, _ = identity("data", "models")
    [policy] = [
        r for r in recorded.of_type("aws:iam/rolePolicy:RolePolicy") if r.name.startswith("perception-")
    ]
    granted = {
        s["Sid"]: (s["Action"], s["Resource"]) for s in json.loads(policy.inputs["policy"])["Statement"]
    }
    assert granted == {
        "List": (["s3:ListBucket"], ["arn:aws:s3:::vision-data", "arn:aws:s3:::vision-models"]),
        "Objects": (
            ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"],
            ["arn:aws:s3:::vision-data/*", "arn:aws:s3:::vision-models/*"],
        ),
        "Key": (
            ["kms:Decrypt", "kms:GenerateDataKey"],
            [f"arn:aws:test:us-east-1:{ACCOUNT}:Key/{tier}-key" for tier in ("data", "models")],
        ),
    }


def test_without_a_bucket_it_may_do_nothing(identity):
    recorded, made = identity()
    assert not [r for r in recorded.of_type("aws:iam/rolePolicy:RolePolicy") if "perception" in r.name]
    assert role(recorded)
    assert len(made.handle.ready) == 1


def test_pods_wait_for_the_association_and_it_for_the_rights(identity):
    recorded, made = identity("data")
    [association] = [r for r in recorded.of_type(ASSOCIATION) if "perception" in r.name]
    assert association.inputs["namespace"] == "perception"
    assert association.inputs["serviceAccount"] == "team"
    policy = next(r for r in recorded.of_type("aws:iam/rolePolicy:RolePolicy") if "perception" in r.name)
    assert policy.urn in association.dependencies
    assert len(made.handle.ready) == 2


def test_the_service_account_needs_neither_annotation_nor_label(identity):
    _, made = identity("data")
    assert dict(made.handle.annotations) == {}
    assert dict(made.handle.pod_labels) == {}
    assert (made.handle.namespace, made.handle.service_account) == ("perception", "team")


def test_nothing_is_granted_to_the_nodes_role(identity):
    recorded, _ = identity("data")
    nodes = recorded.named_type("aws:iam/role:Role", "cluster-nodes").inputs["name"]
    for policy in recorded.of_type("aws:iam/rolePolicy:RolePolicy"):
        assert policy.inputs["role"] != nodes


def test_a_bucket_depends_on_nothing_of_the_cluster(identity):
    recorded, _ = identity("data")
    by_urn = {r.urn: r for r in recorded.resources}
    for resource in recorded.resources:
        if "AwsObjectStore" in resource.urn:
            assert not [urn for urn in resource.dependencies if "EksCluster" in by_urn[urn].urn], (
                resource.name
            )


BOUNDARY = f"arn:aws:iam::{ACCOUNT}:policy/gpuplatform-ci/vision-prod-us-east-1-boundary"


def test_every_role_of_the_cluster_and_its_pods_has_the_boundary_that_pipelines_must_give(identity):
    recorded, _ = identity("data", boundary=BOUNDARY)
    roles = recorded.of_type("aws:iam/role:Role")
    assert len(roles) >= 5
    assert {role.inputs["permissionsBoundary"] for role in roles} == {BOUNDARY}


def test_without_a_pipeline_no_role_has_one(identity):
    recorded, _ = identity("data")
    assert not [r.name for r in recorded.of_type("aws:iam/role:Role") if "permissionsBoundary" in r.inputs]
