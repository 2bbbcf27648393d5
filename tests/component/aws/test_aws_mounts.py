"""The CSI drivers of what pods mount beside disks."""

from __future__ import annotations

import json

import pytest

from gpuplatform.aws import AwsNetworkIds, EksCluster, EksClusterArgs
from gpuplatform.errors import Refusal

ADDON = "aws:eks/addon:Addon"
S3, FSX = "aws-mountpoint-s3-csi-driver", "aws-fsx-csi-driver"


@pytest.fixture
def cluster(run, tags):
    def make(*mounts):
        args = EksClusterArgs(
            name="vision-prod",
            region="us-east-1",
            kubernetes_version="1.35",
            network=AwsNetworkIds(id="vpc-1", subnet_by_zone={"use1-az4": "a", "use1-az6": "b"}),
            admins=("arn:aws:iam::123456789012:role/admins",),
            system_sku="m6i.xlarge",
            system_min=2,
            system_max=2,
            tags=tags,
            mounts=mounts,
        )
        return run(lambda: EksCluster("cluster", args))

    return make


@pytest.mark.parametrize(
    ("mounts", "drivers"),
    [((), set()), (("object",), {S3}), (("lustre",), {FSX}), (("object", "lustre"), {S3, FSX})],
)
def test_a_driver_is_there_where_pods_mount_with_it_and_nowhere_else(cluster, mounts, drivers):
    names = {addon.inputs["addonName"] for addon in cluster(*mounts).of_type(ADDON)}
    assert names & {S3, FSX} == drivers
    assert "aws-ebs-csi-driver" in names


def test_the_order_of_mounts_registers_the_same(cluster):
    assert {r.urn for r in cluster("lustre", "object").resources} == {
        r.urn for r in cluster("object", "lustre").resources
    }


def test_nfs_is_refused(cluster):
    with pytest.raises(Refusal) as caught:
        cluster("object", "nfs")
    assert caught.value.where == "cluster.mounts"
    assert "lustre" in caught.value.way_out


def test_a_driver_comes_after_the_nodes_that_its_controller_runs_on(cluster):
    recorded = cluster("object", "lustre")
    nodes = recorded.named_type("aws:eks/nodeGroup:NodeGroup", "cluster-system").urn
    for name in (S3, FSX):
        assert nodes in recorded.named_type(ADDON, f"cluster-{name}").dependencies


def test_drv_5_the_s3_driver_runs_on_tainted_nodes(cluster):
    addon = cluster("object").named_type(ADDON, f"cluster-{S3}")
    assert json.loads(addon.inputs["configurationValues"]) == {"node": {"tolerateAllTaints": True}}


def test_the_s3_driver_has_no_rights_of_its_own(cluster):
    recorded = cluster("object")
    addon = recorded.named_type(ADDON, f"cluster-{S3}")
    assert not {"podIdentityAssociations", "serviceAccountRoleArn"} & set(addon.inputs)
    assert not [r.name for r in recorded.of_type("aws:iam/role:Role") if S3 in r.name]


def test_sto_6_the_fsx_driver_has_a_role_that_only_looks_and_only_its_service_account_gets(cluster):
    recorded = cluster("lustre")
    addon = recorded.named_type(ADDON, f"cluster-{FSX}")
    [association] = addon.inputs["podIdentityAssociations"]
    assert association["serviceAccount"] == "fsx-csi-controller-sa"
    policy = recorded.named_type("aws:iam/rolePolicy:RolePolicy", f"cluster-{FSX}")
    assert policy.urn in addon.dependencies
    [statement] = json.loads(policy.inputs["policy"])["Statement"]
    assert statement["Action"] == "fsx:DescribeFileSystems"
    role = recorded.named_type("aws:iam/role:Role", f"cluster-{FSX}")
    [trusted] = json.loads(role.inputs["assumeRolePolicy"])["Statement"]
    tags = trusted["Condition"]["StringEquals"]
    assert tags["aws:RequestTag/kubernetes-service-account"] == "fsx-csi-controller-sa"
    assert tags["aws:RequestTag/kubernetes-namespace"] == "kube-system"


def test_sto_6_no_driver_falls_back_on_the_nodes_role(cluster):
    recorded = cluster("object", "lustre")
    attached = {
        r.inputs["policyArn"].rpartition("/")[2]
        for r in recorded.of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
        if r.name.startswith("cluster-nodes-")
    }
    assert attached == {"AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly"}
