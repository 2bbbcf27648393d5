"""Who acts without being a person: pods of a team, a repository's workflows; and where the state is kept."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pulumi
import pytest

from gpuplatform.config import Github
from gpuplatform.errors import Refusal
from gpuplatform.gcp import (
    GcpCiIdentity,
    GcpCiIdentityArgs,
    GcpNetwork,
    GcpObjectStore,
    GcpObjectStoreArgs,
    GcpStateStore,
    GcpStateStoreArgs,
    GcpWorkloadIdentity,
    GcpWorkloadIdentityArgs,
    GkeCluster,
    GkeClusterArgs,
)
from gpuplatform.sandbox.sdk_types import check
from gpuplatform.storage import ObjectPlan
from gpuplatform.trust import trust

MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"
POOL = "projects/123456789012/locations/global/workloadIdentityPools/github-vision-prod"
ISSUER = "https://token.actions.githubusercontent.com"
PERMISSIONS = {
    "preview": ("compute.networks.get", "container.clusters.get"),
    "deploy": ("compute.networks.create", "compute.networks.get", "container.clusters.create"),
}


def github(**changes):
    asked = {"repository": "octo-org/octo-repo", "environments": ["prod"], **changes}
    return Github.model_validate_json(json.dumps(asked))


@pytest.fixture
def state_args(tags):
    return GcpStateStoreArgs(name="vision-prod", region="us-east4", tags=tags, project="example-ml")


@pytest.fixture
def ci(update, state_args, tags):
    """Records state and CI identities of a repository."""

    def recorded(permissions=None, conditions=None, **changes):
        def build(opts):
            made = GcpCiIdentity(
                "ci",
                GcpCiIdentityArgs(
                    name="vision-prod",
                    region="us-east4",
                    tags=tags,
                    trust=trust(github(**changes)),
                    project="example-ml",
                    permissions=permissions or PERMISSIONS,
                    conditions=conditions or {},
                    state=GcpStateStore("state", state_args, opts),
                ),
                opts,
            )
            pulumi.export("variables", made.variables)

        return update(build)

    return recorded


@pytest.fixture
def team(update, tags, network_args):
    """Records a cluster, two buckets and the identity of a team that has one of them, or none."""

    def recorded(*tiers):
        def build(opts):
            network = GcpNetwork("network", network_args, opts)
            cluster = GkeCluster(
                "cluster",
                GkeClusterArgs(
                    name="vision-prod",
                    project="example-ml",
                    region="us-east4",
                    kubernetes_version="1.35",
                    network=network,
                    admins=("group:admins@example.com",),
                    system_sku="e2-standard-4",
                    system_min=1,
                    system_max=1,
                    tags=tags,
                    mounts=("object",),
                ),
                opts,
            )
            stores = {
                tier: GcpObjectStore(
                    f"storage-{tier}",
                    GcpObjectStoreArgs(
                        plan=ObjectPlan(tier=tier, bucket=f"vision-{tier}"),
                        name="vision-prod",
                        region="us-east4",
                        tags=tags,
                        project="example-ml",
                    ),
                    opts,
                )
                for tier in ("data", "models")
            }
            made = GcpWorkloadIdentity(
                "identity-research",
                GcpWorkloadIdentityArgs(
                    name="vision-prod",
                    region="us-east4",
                    namespace="research",
                    service_account="team",
                    tags=tags,
                    project="example-ml",
                    cluster=cluster,
                    stores=tuple(stores[tier] for tier in tiers),
                ),
                opts,
            )
            pulumi.export("principal", made.principal)
            pulumi.export("annotations", made.handle.annotations)

        return update(build)

    return recorded


def test_sto_7_a_bucket_is_used_by_the_pods_own_principal_and_never_by_the_nodes_account(team):
    recording = team("data")
    principal = (
        "principal://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/"
        "example-ml.svc.id.goog/subject/ns/research/sa/team"
    )

    (grant,) = recording.of_type(MEMBER)
    assert grant.inputs == {
        "bucket": "vision-data",
        "role": "roles/storage.objectUser",
        "member": principal,
    }
    assert recording.stack_outputs == {"principal": principal, "annotations": {}}
    nodes = "vision-prod-nodes@example-ml.iam.gserviceaccount.com"
    granted = [r for r in recording.resources if nodes in str(r.inputs.get("member"))]
    assert {r.inputs["role"] for r in granted} == {"roles/container.defaultNodeServiceAccount"}


def test_sto_7_the_cluster_s_first_identity_pool_exists_before_the_grant(team):
    recording = team("data", "models")

    cluster = recording.named("cluster-gke")
    for grant in recording.of_type(MEMBER):
        assert cluster.urn in grant.dependencies
    (bucket, _) = recording.of_type("gcp:storage/bucket:Bucket")
    assert cluster.urn not in bucket.dependencies


def test_a_team_without_buckets_is_somebody_with_no_grant(team):
    recording = team()

    assert recording.of_type(MEMBER) == ()
    assert recording.stack_outputs["principal"].endswith("/subject/ns/research/sa/team")


def test_nobody_has_a_key(team, ci):
    for recording in (team("data"), ci()):
        assert not [r for r in recording.resources if r.type.startswith("gcp:serviceaccount/key")]


@pytest.mark.parametrize(
    ("changes", "subjects"),
    [
        ({}, ["repo:octo-org/octo-repo"]),
        (
            {"owner_id": "583231", "repository_id": "1296269"},
            ["repo:octo-org@583231/octo-repo@1296269"],
        ),
        (
            {"owner_id": "583231", "repository_id": "1296269", "subjects": "both"},
            ["repo:octo-org/octo-repo", "repo:octo-org@583231/octo-repo@1296269"],
        ),
    ],
)
def test_oidc_1_subjects_are_exact_in_the_classic_and_in_the_immutable_form(ci, changes, subjects):
    inputs = ci(**changes).named("ci-provider").inputs

    found = re.findall(r"'(repo:[^']+)'", inputs["attributeCondition"])
    wanted = [
        f"{prefix}:{context}" for prefix in subjects for context in ("pull_request", "environment:prod")
    ]
    assert sorted(found) == sorted(wanted)
    assert "*" not in inputs["attributeCondition"]


def test_oidc_3_an_environment_stands_in_the_place_of_a_branch(ci):
    inputs = ci(environments=["prod", "staging"]).named("ci-provider").inputs

    assert ":environment:prod'" in inputs["attributeMapping"]["attribute.ci_role"]
    assert ":environment:staging'" in inputs["attributeMapping"]["attribute.ci_role"]
    assert "ref:" not in inputs["attributeCondition"]


def test_oidc_4_no_member_is_wider_than_one_role_of_the_pool(ci):
    members = {r.inputs["member"] for r in ci().resources if "member" in r.inputs}
    federated = {member for member in members if member.startswith("principal")}

    assert federated == {
        f"principalSet://iam.googleapis.com/{POOL}/attribute.ci_role/{role}" for role in ("preview", "deploy")
    }
    assert not [member for member in members if "*" in member or member.startswith("all")]


def test_oidc_5_the_provider_has_a_condition_on_claims_and_the_member_is_exact_by_number(ci):
    recording = ci()
    provider = recording.named("ci-provider").inputs

    assert provider["oidc"] == {"issuerUri": ISSUER}
    assert "assertion.repository == 'octo-org/octo-repo'" in provider["attributeCondition"]
    for role in ("preview", "deploy"):
        member = recording.named(f"ci-{role}-trust").inputs["member"]
        found = re.fullmatch(
            r"principalSet://iam\.googleapis\.com/projects/\d+/locations/global/workloadIdentityPools/"
            r"[a-z0-9-]+/(attribute\.[a-z_]+)/[a-z]+",
            member,
        )
        assert found, member
        assert found[1] in provider["attributeMapping"]  # an attribute that is not mapped cannot be bound


def test_oidc_6_the_subject_stays_within_127_bytes_for_the_longest_names(ci):
    longest = {
        "repository": f"{'o' * 39}/{'r' * 100}",
        "environments": ["e" * 100],
        "owner_id": "9" * 19,
        "repository_id": "9" * 19,
    }
    mapping = ci(**longest).named("ci-provider").inputs["attributeMapping"]

    assert "assertion.sub " in mapping["google.subject"]  # decides the role, and is no part of the value
    assert mapping["google.subject"].startswith("assertion.repository_id + ':' + (")
    assert len(f"{'9' * 19}:preview") <= 127
    assert ci().named("ci-provider").inputs["attributeMapping"]["google.subject"] == "assertion.sub"


def test_oidc_8_jobs_act_as_a_service_account_whose_token_is_fetched_anew(ci):
    recording = ci(session_minutes=720)

    for resource in recording.resources:
        if str(resource.inputs.get("member")).startswith("principal"):
            # Not a grant to the federated identity itself, whose token ends after five minutes.
            assert resource.type == "gcp:serviceaccount/iAMMember:IAMMember"
            assert resource.inputs["role"] == "roles/iam.workloadIdentityUser"
    assert recording.stack_outputs["variables"] == {
        "IDENTITY_PROVIDER": f"{POOL}/providers/github",
        "PREVIEW_SERVICE_ACCOUNT": "vision-prod-preview@example-ml.iam.gserviceaccount.com",
        "DEPLOY_SERVICE_ACCOUNT": "vision-prod-deploy@example-ml.iam.gserviceaccount.com",
    }


def test_each_role_may_do_what_it_was_given_and_nothing_else(ci):
    recording = ci()

    for role in ("preview", "deploy"):
        custom = recording.named(f"ci-{role}-role").inputs
        assert custom["permissions"] == list(PERMISSIONS[role])
        project = recording.named(f"ci-{role}-project").inputs
        assert project["role"] == f"projects/example-ml/roles/{custom['roleId']}"
    projects = recording.of_type("gcp:projects/iAMMember:IAMMember")
    assert {r.name for r in projects} == {"ci-preview-project", "ci-deploy-project"}


def test_a_role_with_a_condition_is_bound_on_that_condition_alone(ci):
    recording = ci(conditions={"preview": None, "deploy": "api.getAttribute('x', []).hasOnly([])"})

    bound = {role: recording.named(f"ci-{role}-project").inputs for role in ("preview", "deploy")}
    assert bound["deploy"]["condition"]["expression"] == "api.getAttribute('x', []).hasOnly([])"
    assert bound["deploy"]["condition"]["title"] == "stack"
    assert len(bound["deploy"]["condition"]["description"]) <= 256
    assert "condition" not in bound["preview"]
    assert not check("gcp:projects/iAMMember:IAMMember", bound["deploy"])


def test_previews_read_the_state_and_deployments_write_it(ci):
    recording = ci()

    roles = {
        name: recording.named(f"ci-{name}").inputs["role"]
        for name in ("preview-state", "preview-state-key", "deploy-state", "deploy-state-key")
    }
    assert roles == {
        "preview-state": "roles/storage.objectViewer",
        "preview-state-key": "roles/cloudkms.cryptoKeyDecrypter",
        "deploy-state": "roles/storage.objectUser",
        "deploy-state-key": "roles/cloudkms.cryptoKeyEncrypterDecrypter",
    }


def test_the_pool_whose_id_stays_taken_for_30_days_is_protected(ci):
    protected = {r.name for r in ci().resources if r.protect}

    assert {"ci-pool", "ci-provider"} <= protected
    assert not [name for name in protected if name.startswith(("ci-preview", "ci-deploy"))]


@pytest.mark.parametrize("count", [0, 3001])
def test_a_role_that_no_custom_role_can_hold_is_refused(ci, count):
    many = tuple(f"compute.networks.get{index}" for index in range(count))
    with pytest.raises(Refusal) as refused:
        ci(permissions={**PERMISSIONS, "preview": many})
    assert refused.value.where == "permissions.preview"


def test_more_environments_than_a_condition_holds_are_refused_before_the_first_resource(
    update, state_args, tags
):
    made = []

    def build(opts):
        many = [f"environment-{index:03d}" for index in range(200)]
        args = GcpCiIdentityArgs(
            name="vision-prod",
            region="us-east4",
            tags=tags,
            trust=trust(github(environments=many)),
            project="example-ml",
            permissions=PERMISSIONS,
            state=GcpStateStore("state", state_args, opts),
        )
        with pytest.raises(Refusal) as refused:
            GcpCiIdentity("ci", args, opts)
        made.append(refused.value)

    recording = update(build)
    assert made[0].where == "identity.github.environments"
    assert not [r for r in recording.resources if r.name.startswith("ci")]


def test_the_state_is_kept_in_a_protected_bucket_whose_key_encrypts_secrets_too(update, state_args):
    def build(opts):
        made = GcpStateStore("state", state_args, opts)
        pulumi.export("backend", made.backend_url)
        pulumi.export("secrets", made.secrets_provider)

    recording = update(build)
    (bucket,) = recording.of_type("gcp:storage/bucket:Bucket")

    assert bucket.inputs["name"].startswith("vision-prod-state-")
    assert bucket.inputs["forceDestroy"] is False
    assert {
        r.name for r in recording.resources if r.custom and r.type.startswith("gcp:") and not r.protect
    } == set()
    assert recording.stack_outputs["backend"] == f"gs://{bucket.inputs['name']}"
    assert (
        recording.stack_outputs["secrets"] == f"gcpkms://{bucket.inputs['encryption']['defaultKmsKeyName']}"
    )


def test_two_projects_states_have_buckets_of_different_names(state_args):
    others = (replace(state_args, project="example-ml-2"), replace(state_args, region="us-central1"))

    assert len({state_args.bucket, *(other.bucket for other in others)}) == 3
    assert len(replace(state_args, name="n" * 40).bucket) <= 63


@pytest.mark.parametrize("name", ["google-prod", "goog-prod", "my-google"])
def test_a_name_that_no_bucket_may_have_is_refused(state_args, name):
    with pytest.raises(Refusal, match="no bucket is named"):
        replace(state_args, name=name)


def test_every_input_is_one_that_the_sdk_knows_with_its_type(ci, team):
    for recording in (ci(), team("data")):
        for resource in recording.resources:
            if resource.custom and resource.type.startswith("gcp:"):
                assert check(resource.type, resource.inputs) == (), resource.name
