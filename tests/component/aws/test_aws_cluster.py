from __future__ import annotations

import json

import pytest

from gpuplatform.aws import AwsNetworkIds, EksCluster, EksClusterArgs
from gpuplatform.aws.kubeconfig import kubeconfig
from gpuplatform.aws.policies import managed_policy, partition, pod_identity_trust
from gpuplatform.errors import Refusal

ADMINS = ("arn:aws:iam::123456789012:role/platform-admins", "arn:aws:iam::123456789012:user/ops/jo")
ADDON = "aws:eks/addon:Addon"
ARN = "arn:aws:eks:us-east-1:123456789012:cluster/vision-prod"


@pytest.fixture
def cluster(run, tags):
    def make(**changed):
        values = {
            "name": "vision-prod",
            "region": "us-east-1",
            "kubernetes_version": "1.35",
            "network": AwsNetworkIds(
                id="vpc-1",
                subnet_by_zone={"use1-az4": "subnet-4", "use1-az3": "subnet-3", "use1-az6": "subnet-6"},
            ),
            "admins": ADMINS,
            "system_sku": "m6i.xlarge",
            "system_min": 2,
            "system_max": 4,
            "tags": tags,
        }
        args = EksClusterArgs(**(values | changed))
        return run(lambda: EksCluster("cluster", args))

    return make


def after(recorded, resource):
    """Names of everything that `resource` waits for, directly or through others."""
    by_urn = {r.urn: r for r in recorded.resources}
    seen, open_ = set(), list(resource.dependencies)
    while open_:
        urn = open_.pop()
        if urn not in seen:
            seen.add(urn)
            open_.extend(by_urn[urn].dependencies)
    return {by_urn[urn].name for urn in seen}


def test_access_is_by_entries_only_and_the_creator_has_none(cluster):
    recorded = cluster()
    config = recorded.named("cluster-eks").inputs["accessConfig"]
    assert config == {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False}
    granted = recorded.of_type("aws:eks/accessPolicyAssociation:AccessPolicyAssociation")
    assert {r.inputs["principalArn"] for r in granted} == set(ADMINS)
    assert {r.inputs["policyArn"] for r in granted} == {
        "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
    }
    assert all(r.inputs["accessScope"] == {"type": "cluster"} for r in granted)


def test_who_looks_at_the_cluster_has_an_entry_and_reads_no_secrets(cluster):
    viewer = "arn:aws:iam::123456789012:role/gpuplatform-ci/vision-prod-preview"
    recorded = cluster(viewers=(viewer, viewer))
    granted = {
        r.inputs["principalArn"]: r.inputs["policyArn"].rpartition("/")[2]
        for r in recorded.of_type("aws:eks/accessPolicyAssociation:AccessPolicyAssociation")
    }
    assert granted == dict.fromkeys(ADMINS, "AmazonEKSClusterAdminPolicy") | {viewer: "AmazonEKSViewPolicy"}
    assert {r.urn for r in cluster().resources} <= {r.urn for r in recorded.resources}


def test_admins_in_another_order_are_the_same_entries(cluster):
    names = {r.urn for r in cluster().resources}
    assert {r.urn for r in cluster(admins=tuple(reversed(ADMINS))).resources} == names


def test_an_admin_named_twice_has_one_entry(cluster):
    assert len(cluster(admins=(*ADMINS, ADMINS[0])).of_type("aws:eks/accessEntry:AccessEntry")) == 2


def test_admins_whose_names_would_be_one_have_entries_of_their_own_in_any_order(cluster):
    alike = tuple(f"arn:aws:iam::123456789012:role/{name}" for name in ("a/b/c", "a-b-c", "a/b-c", "a-b/c"))

    def entries(recorded):
        return {r.urn: r.inputs["principalArn"] for r in recorded.of_type("aws:eks/accessEntry:AccessEntry")}

    there = entries(cluster(admins=(*ADMINS, *alike)))

    assert sorted(there.values()) == sorted((*ADMINS, *alike))
    assert entries(cluster(admins=(*reversed(alike), *ADMINS))) == there
    # The names of all others stay what they are without the collision.
    alone = entries(cluster(admins=(*ADMINS, alike[1])))
    assert alone.items() <= there.items()


def test_without_public_addresses_the_api_is_private(cluster):
    vpc = cluster().named("cluster-eks").inputs["vpcConfig"]
    assert vpc["endpointPrivateAccess"] is True
    assert vpc["endpointPublicAccess"] is False
    assert "publicAccessCidrs" not in vpc


def test_the_public_api_answers_listed_addresses_only(cluster):
    vpc = cluster(api_public_cidrs=("198.51.100.0/24",)).named("cluster-eks").inputs["vpcConfig"]
    assert vpc["endpointPublicAccess"] is True
    assert vpc["publicAccessCidrs"] == ["198.51.100.0/24"]


def test_the_control_plane_attaches_only_where_eks_can_while_nodes_run_everywhere(cluster):
    recorded = cluster()
    attached = recorded.named("cluster-eks").inputs["vpcConfig"]["subnetIds"]
    nodes = recorded.named_type("aws:eks/nodeGroup:NodeGroup", "cluster-system").inputs["subnetIds"]
    assert attached == ["subnet-4", "subnet-6"]
    assert nodes == ["subnet-4", "subnet-3", "subnet-6"]


def test_secrets_are_encrypted_with_a_rotating_key_of_the_cluster(cluster):
    recorded = cluster()
    key = recorded.named("cluster-secrets")
    encryption = recorded.named("cluster-eks").inputs["encryptionConfig"]
    assert key.inputs["enableKeyRotation"] is True
    assert encryption["resources"] == ["secrets"]
    assert encryption["provider"]["keyArn"].endswith("/cluster-secrets")


def test_the_log_group_is_there_before_eks_would_make_its_own(cluster):
    recorded = cluster()
    logs, eks = recorded.named("cluster-logs"), recorded.named("cluster-eks")
    assert logs.inputs["name"] == "/aws/eks/vision-prod/cluster"
    assert logs.inputs["retentionInDays"] == 90
    assert logs.urn in eks.dependencies
    assert "audit" in eks.inputs["enabledClusterLogTypes"]


@pytest.mark.parametrize(("support", "spelled"), [("standard", "STANDARD"), ("extended", "EXTENDED")])
def test_extended_support_is_a_choice_and_never_the_default(cluster, support, spelled):
    policy = cluster(support=support).named("cluster-eks").inputs["upgradePolicy"]
    assert policy == {"supportType": spelled}


@pytest.mark.parametrize("protect", [True, False])
def test_deletion_protection_goes_with_protect(cluster, protect):
    eks = cluster(protect=protect).named("cluster-eks")
    assert eks.inputs["deletionProtection"] is protect
    assert eks.protect is protect


def test_addons_that_nodes_need_come_before_them_and_the_others_after(cluster):
    recorded = cluster()
    nodes = recorded.named_type("aws:eks/nodeGroup:NodeGroup", "cluster-system")
    before = after(recorded, nodes)
    assert {"cluster-vpc-cni", "cluster-kube-proxy", "cluster-eks-pod-identity-agent"} <= before
    for addon in ("coredns", "aws-ebs-csi-driver", "eks-node-monitoring-agent"):
        installed = recorded.named_type(ADDON, f"cluster-{addon}")
        assert installed.name not in before
        assert nodes.urn in installed.dependencies
    assert recorded.named("cluster-eks").inputs["bootstrapSelfManagedAddons"] is False


def test_the_cni_hands_out_prefixes_as_the_subnets_are_sized_for(cluster):
    values = json.loads(cluster().named_type(ADDON, "cluster-vpc-cni").inputs["configurationValues"])
    assert values["env"]["ENABLE_PREFIX_DELEGATION"] == "true"


def test_drv_5_the_agent_that_sees_gpu_faults_tolerates_gpu_taints(cluster):
    agent = cluster().named("cluster-eks-node-monitoring-agent")
    values = json.loads(agent.inputs["configurationValues"])
    assert values["dcgmAgent"]["tolerations"] == [{"operator": "Exists"}]


def test_sto_6_the_ebs_driver_has_a_role_that_only_its_service_account_gets(cluster):
    recorded = cluster()
    addon = recorded.named_type(ADDON, "cluster-aws-ebs-csi-driver")
    role = recorded.named_type("aws:iam/role:Role", "cluster-aws-ebs-csi-driver")
    attachment = recorded.named("cluster-aws-ebs-csi-driver-AmazonEBSCSIDriverPolicy")
    [association] = addon.inputs["podIdentityAssociations"]
    assert association["serviceAccount"] == "ebs-csi-controller-sa"
    assert association["roleArn"].endswith("Role/cluster-aws-ebs-csi-driver")
    assert attachment.urn in addon.dependencies
    assert attachment.inputs["policyArn"] == "arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"
    assert json.loads(role.inputs["assumeRolePolicy"]) == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": "pods.eks.amazonaws.com"},
                "Action": ["sts:AssumeRole", "sts:TagSession"],
                "Condition": {
                    "StringEquals": {
                        "aws:RequestTag/eks-cluster-arn": ARN,
                        "aws:RequestTag/kubernetes-namespace": "kube-system",
                        "aws:RequestTag/kubernetes-service-account": "ebs-csi-controller-sa",
                    }
                },
            }
        ],
    }


def test_sto_6_pods_do_not_reach_the_nodes_role_through_the_metadata_service(cluster):
    [template] = cluster().of_type("aws:ec2/launchTemplate:LaunchTemplate")
    metadata = template.inputs["metadataOptions"]
    assert metadata["httpTokens"] == "required"
    assert metadata["httpPutResponseHopLimit"] == 1


def test_nodes_have_no_permission_beyond_joining_and_pulling(cluster):
    recorded = cluster()
    attached = {
        r.inputs["policyArn"].rpartition("/")[2]
        for r in recorded.of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
        if r.name.startswith("cluster-nodes-")
    }
    assert attached == {"AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly"}


def test_pul_1_only_another_cluster_replaces_what_is_in_it(cluster):
    provider = cluster().named("cluster-kubernetes")
    assert provider.inputs["clusterIdentifier"] == ARN
    assert "kubeconfig" in provider.secrets


def test_the_kubeconfig_asks_the_aws_cli_and_holds_no_token(cluster):
    text = cluster().named("cluster-kubernetes").inputs["kubeconfig"]
    [user] = json.loads(text)["users"]
    assert user["user"]["exec"]["command"] == "aws"
    assert user["user"]["exec"]["args"] == [
        "--region", "us-east-1", "eks", "get-token", "--cluster-name", "vision-prod", "--output", "json",
    ]  # fmt: skip
    assert user["user"].keys() == {"exec"}


def test_the_kubeconfig_output_is_a_secret(run, tags):
    import pulumi

    secret = []

    def program():
        network = AwsNetworkIds(id="vpc-1", subnet_by_zone={"use1-az4": "subnet-4", "use1-az6": "subnet-6"})
        made = EksCluster(
            "cluster",
            EksClusterArgs(
                name="vision-prod",
                region="us-east-1",
                kubernetes_version="1.35",
                network=network,
                admins=ADMINS,
                system_sku="m6i.xlarge",
                system_min=2,
                system_max=4,
                tags=tags,
            ),
        )
        pulumi.export("probe", made.handle.kubeconfig)

        async def look():
            secret.append(await made.handle.kubeconfig.is_secret())

        import asyncio

        asyncio.ensure_future(look())  # noqa: RUF006 - the recorder drives the loop to its end

    run(program)
    assert secret == [True]


def test_pul_5_the_autoscaler_owns_the_system_pools_size_unless_it_is_fixed(cluster):
    scaled = cluster().named_type("aws:eks/nodeGroup:NodeGroup", "cluster-system")
    fixed = cluster(system_min=3, system_max=3)
    assert scaled.ignore_changes == ("scalingConfig.desiredSize",)
    assert fixed.named_type("aws:eks/nodeGroup:NodeGroup", "cluster-system").ignore_changes == ()


def test_system_nodes_take_every_pod_and_another_machine_type_comes_before_the_old_goes(cluster):
    nodes = cluster().named_type("aws:eks/nodeGroup:NodeGroup", "cluster-system")
    assert "taints" not in nodes.inputs
    assert nodes.inputs["labels"] == {"gpuplatform.io/pool": "system"}
    assert nodes.delete_before_replace is False
    assert "nodeGroupName" not in nodes.inputs


def test_the_oidc_provider_needs_no_thumbprint(cluster):
    provider = cluster().named("cluster-oidc").inputs
    assert provider["url"] == "https://oidc.eks.us-east-1.amazonaws.com/id/ABC"
    assert provider["clientIdLists"] == ["sts.amazonaws.com"]
    assert "thumbprintLists" not in provider


def test_role_names_differ_by_region_and_fit_the_limit(cluster):
    here = {r.inputs["name"] for r in cluster(name="a" * 100).of_type("aws:iam/role:Role")}
    there = {
        r.inputs["name"] for r in cluster(name="a" * 100, region="eu-west-1").of_type("aws:iam/role:Role")
    }
    assert not here & there
    assert all(len(name) <= 64 for name in here | there)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"admins": ()}, "no administrator"),
        ({"admins": ("platform-admins",)}, "is not an IAM role or user"),
        ({"admins": ("arn:aws:sts::123456789012:assumed-role/a/b",)}, "is not an IAM role or user"),
        ({"name": "a" * 101}, "1 to 100 characters"),
        ({"api_private": False}, "neither a private nor a public endpoint"),
        ({"network": AwsNetworkIds(id="v", subnet_by_zone={"use1-az4": "s"})}, "1 zone"),
    ],
)
def test_what_cannot_become_a_cluster_is_refused(cluster, changed, message):
    with pytest.raises(Refusal, match=message):
        cluster(**changed)


def test_arns_name_the_partition_of_their_region():
    assert managed_policy("us-gov-west-1", "X") == "arn:aws-us-gov:iam::aws:policy/X"
    assert [partition(r) for r in ("cn-north-1", "us-gov-west-1", "eu-west-1")] == [
        "aws-cn",
        "aws-us-gov",
        "aws",
    ]


def test_a_trust_names_one_cluster_namespace_and_service_account():
    [statement] = pod_identity_trust("arn:c", "team", "job")["Statement"]
    assert set(statement["Condition"]) == {"StringEquals"}
    assert set(statement["Condition"]["StringEquals"].values()) == {"arn:c", "team", "job"}


def test_the_kubeconfig_is_the_same_for_the_same_cluster():
    values = {"name": "c", "region": "r", "endpoint": "https://e", "authority": "Q0E="}
    assert kubeconfig(**values) == kubeconfig(**values)
    assert json.loads(kubeconfig(**values))["clusters"][0]["cluster"] == {
        "server": "https://e",
        "certificate-authority-data": "Q0E=",
    }
