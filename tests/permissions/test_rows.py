"""What the tables say, and that they say it of everything that is built."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from samples import ROOT, STACKS, config_of, recording_of

from gpuplatform.errors import Refusal
from gpuplatform.permissions import ROLES, aws, azure, gcp
from gpuplatform.permissions.aws_rows import TABLE as AWS
from gpuplatform.permissions.aws_scope import ATTACHABLE, grants
from gpuplatform.permissions.azure_rows import GRANTABLE as AZURE_GRANTABLE
from gpuplatform.permissions.azure_rows import TABLE as AZURE
from gpuplatform.permissions.gcp_rows import GRANTABLE as GCP_GRANTABLE
from gpuplatform.permissions.gcp_rows import TABLE as GCP
from gpuplatform.permissions.model import Row, rows_of

TABLES = {"aws": AWS, "azure": AZURE, "gcp": GCP}
ROWS = [pytest.param(cloud, row, id=row.type) for cloud, table in TABLES.items() for row in table.values()]
SCOPE = aws.AwsScope(account="123456789012", region="us-east-1", name="vision-prod")

READS = {
    "aws": re.compile(r"[a-z0-9-]+:(Describe|Get|List|View)\w+"),
    "azure": re.compile(r"Microsoft\.\w+/[\w/]+/read|Microsoft\.Resources/subscriptions/read"),
    "gcp": re.compile(r"[a-z]+\.\w+\.(get|list|getIamPolicy)"),
}
NO_READS = {
    # Bills a call to the project.
    "serviceusage.services.use": "gcp",
    "billing.resourcebudgets.read": "gcp",
}
"""What a preview may do though it is not named like a look, and on which cloud."""

DATA = re.compile(
    r"s3:GetObject\w*|secretsmanager:.*|ssm:GetParam.*|kms:(Decrypt|Generate\w*)|.*listKeys.*|.*/blobs/.*"
    r"|.*/secrets/.*|storage\.objects\..*|secretmanager\..*|cloudkms\.cryptoKeyVersions\.use\w+"
    r"|iam\.serviceAccounts\.(getAccessToken|sign\w+|implicitDelegation)|iam\.serviceAccountKeys\..*"
)
"""What reads data or secrets, or makes somebody else's credentials."""


def _types(stack: str) -> set[str]:
    return {resource.type for resource in recording_of(stack).resources}


@pytest.mark.parametrize("stack", STACKS)
def test_every_type_of_the_sample_stacks_has_a_row(stack: str) -> None:
    cloud = stack.partition("-")[0]
    rows = rows_of(TABLES[cloud], _types(stack), cloud)
    assert {"aws": AWS, "azure": AZURE, "gcp": GCP}[cloud].keys() >= {row.type for row in rows}
    assert len(rows) >= 10


def _tokens(cloud: str) -> Iterator[tuple[Path, str]]:
    """Type tokens that stand in a cloud's components as they are."""
    pattern = re.compile(r"(aws|azure-native|gcp):[\w./]+:[A-Z]\w+")
    for module in sorted((ROOT / "gpuplatform" / cloud).glob("*.py")):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and pattern.fullmatch(node.value)
            ):
                yield module, node.value


@pytest.mark.parametrize("cloud", TABLES)
def test_every_type_that_a_component_names_has_a_row(cloud: str) -> None:
    found = list(_tokens(cloud))
    assert found
    assert [(module.name, token) for module, token in found if token not in TABLES[cloud]] == []


@pytest.mark.parametrize("cloud", TABLES)
def test_what_stage_5_builds_has_a_row(cloud: str) -> None:
    wanted = {
        "aws": {
            "aws:budgets/budget:Budget",
            "aws:eks/podIdentityAssociation:PodIdentityAssociation",
            "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
            "aws:fsx/lustreFileSystem:LustreFileSystem",
            "aws:kms/alias:Alias",
            "aws:kms/key:Key",
            "aws:s3/bucket:Bucket",
            "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
            "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
            "aws:s3/bucketPolicy:BucketPolicy",
            "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
            "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
            "aws:s3/bucketVersioning:BucketVersioning",
        },
        "azure": {
            "azure-native:consumption:Budget",
            "azure-native:keyvault:Key",
            "azure-native:keyvault:Vault",
            "azure-native:managedidentity:FederatedIdentityCredential",
            "azure-native:storage:BlobContainer",
            "azure-native:storage:FileShare",
            "azure-native:storage:ManagementPolicy",
            "azure-native:storage:StorageAccount",
            "azure-native:storagecache:AmlFilesystem",
        },
        "gcp": {
            "gcp:billing/budget:Budget",
            "gcp:compute/globalAddress:GlobalAddress",
            "gcp:filestore/instance:Instance",
            "gcp:kms/cryptoKey:CryptoKey",
            "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
            "gcp:lustre/instance:Instance",
            "gcp:monitoring/notificationChannel:NotificationChannel",
            "gcp:servicenetworking/connection:Connection",
            "gcp:storage/bucket:Bucket",
            "gcp:storage/bucketIAMMember:BucketIAMMember",
        },
    }
    assert wanted[cloud] <= TABLES[cloud].keys()


@pytest.mark.parametrize(("cloud", "row"), ROWS)
def test_a_row_names_its_source_and_reads_before_it_writes(cloud: str, row: Row) -> None:
    assert row.source.startswith(("https://", "internal/")) or row.source.endswith(".json")
    assert row.bootstrap or row.read
    assert not (row.bootstrap and row.writes)
    assert not set(row.read) & set(row.create) - {"kms:DescribeKey"} or cloud == "aws"


@pytest.mark.parametrize(("cloud", "row"), ROWS)
def test_a_preview_only_looks(cloud: str, row: Row) -> None:
    for action in row.granted("preview"):
        looks = READS[cloud].fullmatch(action) or NO_READS.get(action) == cloud
        assert looks, f"{row.type}: {action} is no look"


@pytest.mark.parametrize(("cloud", "row"), ROWS)
def test_nobody_reads_data_secrets_or_others_credentials(cloud: str, row: Row) -> None:
    assert [action for action in row.granted("deploy") if DATA.fullmatch(action)] == []
    assert cloud in TABLES


@pytest.mark.parametrize(("cloud", "row"), ROWS)
def test_no_action_is_a_wildcard(cloud: str, row: Row) -> None:
    assert cloud in TABLES
    assert [action for action in row.granted("deploy") if "*" in action] == []


@pytest.mark.parametrize("row", [pytest.param(row, id=row.type) for row in AWS.values()])
def test_somebody_wrote_down_how_narrow_each_action_of_aws_is(row: Row) -> None:
    emptied = aws.AwsScope(account="1", region="us-east-1", name="x", emptied=("x-scratch-*",))
    for action in row.granted("deploy"):
        assert list(grants(action, emptied)), action


@pytest.mark.parametrize("stack", STACKS)
def test_the_deploying_role_may_all_that_the_previewing_one_may(stack: str) -> None:
    types = _types(stack)
    match stack.partition("-")[0]:
        case "aws":
            scope = aws.scope_of(config_of(stack))
            looks, acts = (_allowed(aws.policies(role, types, scope)) for role in ROLES)
        case "azure":
            looks, acts = (set(azure.actions(role, types).actions) for role in ROLES)
        case _:
            looks, acts = (set(gcp.permissions(role, types)) for role in ROLES)
    assert looks
    assert looks < acts


def _allowed(documents: tuple[dict[str, object], ...]) -> set[str]:
    return {
        action
        for document in documents
        for statement in document["Statement"]  # type: ignore[attr-defined]
        if statement["Effect"] == "Allow"
        for action in statement["Action"]
    }


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("cloud", TABLES)
def test_a_type_that_nobody_knows_is_refused_by_name(cloud: str, role: str) -> None:
    types = {"random:index/randomId:RandomId", *TABLES[cloud]}
    types -= {row.type for row in TABLES[cloud].values() if row.bootstrap}
    ask = {
        "aws": lambda: aws.policies(role, types, SCOPE),
        "azure": lambda: azure.actions(role, types),
        "gcp": lambda: gcp.permissions(role, types),
    }[cloud]
    with pytest.raises(Refusal) as refused:
        ask()
    assert "random:index/randomId:RandomId" in refused.value.what
    assert cloud in refused.value.where
    assert refused.value.way_out


@pytest.mark.parametrize("cloud", TABLES)
def test_another_cloud_s_type_is_refused(cloud: str) -> None:
    other = {"aws": AZURE, "azure": GCP, "gcp": AWS}[cloud]
    foreign = next(token for token in sorted(other) if token.startswith(("aws:", "azure-native:", "gcp:")))
    with pytest.raises(Refusal, match=foreign):
        rows_of(TABLES[cloud], {foreign}, cloud)


@pytest.mark.parametrize(
    ("cloud", "row"),
    [param for param in ROWS if isinstance(param.values[1], Row) and param.values[1].bootstrap],
)
def test_what_gives_rights_is_left_to_a_person(cloud: str, row: Row) -> None:
    with pytest.raises(Refusal) as refused:
        rows_of(TABLES[cloud], {row.type}, cloud)
    assert row.type in refused.value.what
    assert "bootstrap" in refused.value.way_out


def test_components_and_the_stack_need_nothing() -> None:
    assert rows_of(AWS, {"gpuplatform:index:EksCluster", "pulumi:pulumi:Stack"}, "aws") == ()


@pytest.mark.parametrize("cloud", TABLES)
def test_all_objects_of_a_cluster_need_what_lets_somebody_in(cloud: str) -> None:
    types = {"kubernetes:core/v1:Namespace", "kubernetes:helm.sh/v3:Release", "kubernetes:x.io/v1:Anything"}
    (row,) = rows_of(TABLES[cloud], types, cloud)
    assert row.type == "kubernetes:"
    assert row.read
    assert not row.writes


@pytest.mark.parametrize("stack", [stack for stack in STACKS if stack.startswith("aws")])
def test_every_policy_that_a_sample_stack_attaches_may_be_attached(stack: str) -> None:
    attached = [
        resource.inputs["policyArn"]
        for resource in recording_of(stack).resources
        if resource.type == "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
    ]
    assert attached
    assert {arn.partition(":policy/")[2] for arn in attached} <= set(ATTACHABLE)


@pytest.mark.parametrize("stack", [stack for stack in STACKS if stack.startswith("gcp")])
def test_every_role_that_a_sample_stack_grants_on_its_project_may_be_granted(stack: str) -> None:
    granted = {
        resource.inputs["role"]
        for resource in recording_of(stack).resources
        if resource.type == "gcp:projects/iAMMember:IAMMember"
    }
    assert granted
    assert granted <= GCP_GRANTABLE.keys()


def test_every_role_that_azure_s_components_grant_may_be_granted() -> None:
    guid = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
    named = {}
    for module in (ROOT / "gpuplatform" / "azure").glob("*.py"):
        if module.name in {"ci_identity.py", "kubeconfig.py", "state_store.py"}:
            continue  # what a person's bootstrap grants; and the ID of an application
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and guid.fullmatch(node.value):
                named[node.value] = module.name
    from gpuplatform.permissions.azure_rows import ON_RESERVATIONS, TO_GROUPS

    assert named
    assert {
        role: file
        for role, file in named.items()
        if role not in {**AZURE_GRANTABLE, **ON_RESERVATIONS, **TO_GROUPS}
    } == {}
