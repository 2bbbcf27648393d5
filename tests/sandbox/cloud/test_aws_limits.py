"""IAM's and KMS' limits, and budgets."""

import json

import pytest

ROLE = "aws:iam/role:Role"
POLICY = "aws:iam/policy:Policy"
INLINE = "aws:iam/rolePolicy:RolePolicy"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
PROVIDER = "aws:iam/openIdConnectProvider:OpenIdConnectProvider"
KEY = "aws:kms/key:Key"
BUDGET = "aws:budgets/budget:Budget"
TRUST = json.dumps({"Version": "2012-10-17", "Statement": []})


@pytest.fixture
def aws(client):
    return client("aws", region="us-east-1")


@pytest.fixture
def role(aws):
    return aws.up(ROLE, "deploy", {"name": "deploy", "path": "/ci/", "assumeRolePolicy": TRUST})


def text(length):
    """A policy of so many characters, white space apart."""
    empty = json.dumps({"a": ""}).replace(" ", "")
    return json.dumps({"a": "x" * (length - len(empty))}, indent=4)


def test_a_role_s_path_is_in_its_arn(role):
    assert role.outputs["arn"] == "arn:aws:iam::123456789012:role/ci/deploy"


def test_a_managed_policy_has_6144_characters_without_white_space(aws, refusal):
    assert aws.up(POLICY, "fits", {"policy": text(6144)}).id
    with refusal("PolicySize: 6144"):
        aws.up(POLICY, "too-long", {"policy": text(6145)})


def test_a_role_s_own_policies_share_one_limit(aws, role, refusal):
    aws.up(INLINE, "one", {"role": role.id, "policy": text(6000)})
    with refusal("10240"):
        aws.up(INLINE, "two", {"role": role.id, "policy": text(4241)})
    assert aws.up(INLINE, "three", {"role": role.id, "policy": text(4240)}).id


def test_a_role_takes_ten_managed_policies(aws, role, refusal):
    def attach(number):
        policy = aws.up(POLICY, f"p{number}", {"policy": TRUST})
        return aws.up(ATTACHMENT, f"a{number}", {"role": role.id, "policyArn": policy.outputs["arn"]})

    for number in range(10):
        attach(number)
    with refusal("PoliciesPerRole: 10"):
        attach(10)


def test_an_account_trusts_an_issuer_once(aws, refusal):
    inputs = {"url": "https://token.actions.githubusercontent.com", "clientIdLists": ["sts.amazonaws.com"]}
    made = aws.up(PROVIDER, "github", inputs)
    assert made.outputs["arn"].endswith(":oidc-provider/token.actions.githubusercontent.com")
    with refusal("already exists"):
        aws.up(PROVIDER, "again", inputs)


@pytest.mark.parametrize(("days", "refused"), [(6.0, True), (7.0, False), (30.0, False), (31.0, True)])
def test_a_key_can_be_called_back_for_7_to_30_days(aws, days, refused):
    failures = aws.check(KEY, "key", {"deletionWindowInDays": days}).failures
    assert ("deletionWindowInDays" in failures) == refused


def test_a_key_s_policy_is_json(aws):
    assert "policy" in aws.check(KEY, "key", {"policy": "{"}).failures


def notice(percent=50.0, **changes):
    return {
        "notificationType": "ACTUAL",
        "comparisonOperator": "GREATER_THAN",
        "threshold": percent,
        "thresholdType": "PERCENTAGE",
        "subscriberEmailAddresses": ["ml@example.com"],
    } | changes


def budget(**changes):
    given = {
        "name": "vision-prod",
        "budgetType": "COST",
        "timeUnit": "MONTHLY",
        "limitAmount": "1000",
        "limitUnit": "USD",
        "filterExpression": {"tags": {"key": "project", "values": ["vision"]}},
        "metrics": "UnblendedCost",
        "notifications": [notice()],
    }
    return {key: value for key, value in (given | changes).items() if value is not None}


def test_pol_6_a_budget_belongs_to_the_account_and_its_name_is_one_there(aws, refusal):
    made = aws.up(BUDGET, "budget", budget())
    assert made.id == "123456789012:vision-prod"
    assert made.outputs["arn"] == "arn:aws:budgets::123456789012:budget/vision-prod"
    with refusal("already exists"):
        aws.up(BUDGET, "again", budget())


def test_another_name_is_another_budget_and_another_amount_is_not(aws):
    made = aws.up(BUDGET, "budget", budget())
    assert aws.diff(made, name="vision-dev").replaces == ["name"]
    assert not aws.diff(made, limitAmount="2000").replaces


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"limitUnit": "EUR"}, "limitUnit"),
        ({"metrics": None}, "filterExpression"),
        ({"costFilters": [{"name": "TagKeyValue", "values": ["user:project$vision"]}]}, "filterExpression"),
        ({"notifications": [notice(subscriberEmailAddresses=[])]}, "notifications[0]"),
        ({"notifications": [notice(float(i)) for i in range(1, 12)]}, "notifications"),
        ({"name": "a:b"}, "name"),
    ],
)
def test_pol_6_what_aws_budgets_refuse_is_refused_in_preview(aws, changes, path):
    assert path in aws.check(BUDGET, "budget", budget(**changes)).failures
