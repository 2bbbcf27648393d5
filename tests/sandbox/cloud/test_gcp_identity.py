"""Federation, custom roles and budgets of the simulated Google Cloud."""

import pytest

POOL = "gcp:iam/workloadIdentityPool:WorkloadIdentityPool"
PROVIDER = "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider"
ROLE = "gcp:projects/iAMCustomRole:IAMCustomRole"
MEMBER = "gcp:projects/iAMMember:IAMMember"
CHANNEL = "gcp:monitoring/notificationChannel:NotificationChannel"
BUDGET = "gcp:billing/budget:Budget"
CONDITION = "assertion.repository == 'octo-org/octo-repo'"


@pytest.fixture
def gcp(client):
    return client("gcp", project="ml", region="us-central1")


@pytest.fixture
def number(gcp):
    return gcp.invoke("gcp:organizations/getProject:getProject")["number"]


@pytest.fixture
def pool(gcp):
    return gcp.up(POOL, "pool", {"workloadIdentityPoolId": "github"})


def provider(**changes):
    return {
        "workloadIdentityPoolId": "github",
        "workloadIdentityPoolProviderId": "actions",
        "oidc": {"issuerUri": "https://token.actions.githubusercontent.com"},
        "attributeMapping": {"google.subject": "assertion.sub"},
        "attributeCondition": CONDITION,
        **changes,
    }


@pytest.mark.usefixtures("pool")
def test_pools_and_providers_are_named_by_the_project_s_number(gcp, pool, number):
    made = gcp.up(PROVIDER, "p", provider())

    assert pool.outputs["name"] == f"projects/{number}/locations/global/workloadIdentityPools/github"
    assert made.outputs["name"] == f"{pool.outputs['name']}/providers/actions"


def test_oidc_5_github_s_issuer_needs_a_condition_on_a_claim(gcp):
    for wrong in ({"attributeCondition": "true"}, {"attributeCondition": ""}):
        failures = gcp.check(PROVIDER, "p", provider(**wrong)).failures
        assert "must reference one of the provider's claims" in failures["attributeCondition"]
    missing = provider()
    del missing["attributeCondition"]
    assert "attributeCondition" in gcp.check(PROVIDER, "p", missing).failures
    assert not gcp.check(PROVIDER, "p", provider()).failures


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"attributeMapping": {"attribute.repository": "assertion.repository"}}, "attributeMapping"),
        ({"attributeCondition": f"{CONDITION} || {'x' * 4096}"}, "attributeCondition"),
        ({"attributeMapping": {"google.subject": "a" * 2049}}, "attributeMapping.google.subject"),
        ({"workloadIdentityPoolProviderId": "gcp-mine"}, "workloadIdentityPoolProviderId"),
        ({"workloadIdentityPoolProviderId": "abc"}, "workloadIdentityPoolProviderId"),
    ],
)
def test_what_google_does_not_take_of_a_provider_is_refused_in_preview(gcp, changes, path):
    assert path in gcp.check(PROVIDER, "p", provider(**changes)).failures


def test_a_provider_needs_its_pool_and_goes_with_it(gcp, pool, refusal):
    with refusal("Error 404", "'other'"):
        gcp.up(PROVIDER, "p", provider(workloadIdentityPoolId="other"))
    made = gcp.up(PROVIDER, "p", provider())

    gcp.delete(pool)
    assert gcp.read(made).id == ""


def test_the_id_of_a_deleted_pool_stays_taken(gcp, pool, refusal):
    gcp.delete(pool)

    with refusal("Error 409", "already exists"):
        gcp.up(POOL, "pool", {"workloadIdentityPoolId": "github"})


def test_a_custom_role_that_was_deleted_comes_back(gcp):
    inputs = {"roleId": "deployer", "title": "Deployer", "permissions": ["compute.networks.get"]}
    first = gcp.up(ROLE, "r", inputs)
    gcp.delete(first)

    assert gcp.up(ROLE, "r", inputs).id == "projects/ml/roles/deployer"


def test_a_custom_role_that_is_not_there_is_granted_to_nobody(gcp, refusal):
    grant = {"project": "ml", "member": "user:a@example.com"}
    with refusal("projects/ml/roles/nope", "does not exist"):
        gcp.up(MEMBER, "m", {**grant, "role": "projects/ml/roles/nope"})

    inputs = {"roleId": "deployer", "title": "Deployer", "permissions": ["compute.networks.get"]}
    role = gcp.up(ROLE, "r", inputs)
    assert gcp.up(MEMBER, "a", {**grant, "role": role.outputs["name"]}).id
    assert gcp.up(MEMBER, "b", {**grant, "role": "roles/viewer"}).id


def test_cloud_storage_s_account_is_that_of_the_project(gcp, number):
    found = gcp.invoke("gcp:storage/getProjectServiceAccount:getProjectServiceAccount", project="ml")

    assert found["emailAddress"] == f"service-{number}@gs-project-accounts.iam.gserviceaccount.com"


def budget(number, **changes):
    return {
        "billingAccount": "012345-6789AB-CDEF01",
        "amount": {"specifiedAmount": {"currencyCode": "USD", "units": "1000", "nanos": 500000000.0}},
        "budgetFilter": {"projects": [f"projects/{number}"], "labels": {"environment": "prod"}},
        **changes,
    }


@pytest.fixture
def billing(client):
    return client("gcp", project="ml", billingProject="ml", userProjectOverride=True)


def test_pol_6_a_budget_needs_a_quota_project(gcp, billing, number, refusal):
    with refusal("requires a quota project"):
        gcp.up(BUDGET, "b", budget(number))

    made = billing.up(BUDGET, "b", budget(number))
    assert made.id.startswith("billingAccounts/012345-6789AB-CDEF01/budgets/")


def test_pol_6_a_budget_names_projects_by_number(billing, number, refusal):
    with refusal("invalid argument", "projects/ml"):
        billing.up(BUDGET, "b", budget(number, budgetFilter={"projects": ["projects/ml"]}))


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"amount": {"specifiedAmount": {"units": "1000.5"}}}, "amount.specifiedAmount.units"),
        ({"budgetFilter": {"labels": {"a": "b", "c": "d"}}}, "budgetFilter.labels"),
        (
            {"allUpdatesRule": {"monitoringNotificationChannels": [f"c{index}" for index in range(6)]}},
            "allUpdatesRule.monitoringNotificationChannels",
        ),
    ],
)
def test_pol_6_what_cloud_billing_does_not_take_is_refused_in_preview(billing, number, changes, path):
    assert path in billing.check(BUDGET, "b", budget(number, **changes)).failures


def test_a_budget_tells_channels_that_exist(billing, number, refusal):
    wanted = {"monitoringNotificationChannels": ["projects/ml/notificationChannels/1"]}
    with refusal("Error 404"):
        billing.up(BUDGET, "b", budget(number, allUpdatesRule=wanted))

    channel = billing.up(CHANNEL, "c", {"type": "email", "labels": {"email_address": "a@example.com"}})
    assert channel.outputs["name"] == channel.id
    told = {"monitoringNotificationChannels": [channel.id]}
    assert billing.up(BUDGET, "b", budget(number, allUpdatesRule=told)).id


def test_a_budget_moves_to_another_account_by_replacement(billing, number):
    made = billing.up(BUDGET, "b", budget(number))

    assert list(billing.diff(made, billingAccount="012345-6789AB-CDEF02").replaces) == ["billingAccount"]
    grown = {"specifiedAmount": {"currencyCode": "USD", "units": "2000"}}
    assert not billing.diff(made, amount=grown).replaces
