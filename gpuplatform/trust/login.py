"""How a job becomes its cloud's identity: GitHub's token is exchanged, no key is kept anywhere."""

from __future__ import annotations

from typing import Any, Final

from gpuplatform.config import Aws, Azure, Gcp, Platform
from gpuplatform.permissions import Role
from gpuplatform.trust.actions import uses
from gpuplatform.trust.variables import reference

__all__ = ["PREVIEW_MINUTES", "environ", "login"]

Step = dict[str, Any]

PREVIEW_MINUTES: Final = 60
"""How long a preview's session lasts; an AWS role's own default
(https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_update-role-settings.html)."""


def environ(stack: str, config: Platform, role: Role) -> dict[str, str]:
    """What every step of the job is told, beside what `login` leaves there."""
    if not isinstance(config.cloud, Azure):
        return {}
    client = reference(stack, f"{role.upper()}_CLIENT_ID")
    tenant = reference(stack, "TENANT_ID")
    return {
        # The provider asks GitHub for a token itself, as often as it needs one
        # (https://www.pulumi.com/registry/packages/azure-native/installation-configuration).
        "ARM_USE_OIDC": "true",
        "ARM_CLIENT_ID": client,
        "ARM_TENANT_ID": tenant,
        "ARM_SUBSCRIPTION_ID": config.cloud.subscription,
        # The state's bucket and the key of its secrets don't read ARM_*: they take a token's file
        # (https://github.com/pulumi/pulumi/issues/13476).
        "AZURE_CLIENT_ID": client,
        "AZURE_TENANT_ID": tenant,
        # So does kubelogin (https://azure.github.io/kubelogin/concepts/login-modes/workloadidentity.html).
        "AAD_LOGIN_METHOD": "workloadidentity",
        "AZURE_AUTHORITY_HOST": "https://login.microsoftonline.com/",
    }


def login(stack: str, config: Platform, role: Role, minutes: int) -> list[Step]:
    """The steps after which the job acts as `role`, and `kubectl`'s exec plugin of the cloud works."""
    match config.cloud:
        case Aws(region=region, account=account):
            return [_aws(stack, role, region, account, minutes)]
        case Azure():
            return [
                _TOKEN_FILE,
                {"uses": uses("azure/use-kubelogin"), "with": {"kubelogin-version": _KUBELOGIN}},
            ]
        case Gcp(project=project):
            return _gcp(stack, role, project)


def _aws(stack: str, role: Role, region: str, account: str, minutes: int) -> Step:
    return {
        "uses": uses("aws-actions/configure-aws-credentials"),
        "with": {
            "role-to-assume": reference(stack, f"{role.upper()}_ROLE"),
            "aws-region": region,
            "allowed-account-ids": account,
            # An hour unless asked for, and never more than the role's own maximum.
            "role-duration-seconds": minutes * 60,
        },
    }


_KUBELOGIN: Final = "v0.2.19"  # https://github.com/Azure/kubelogin/releases, 2026-09

# GitHub's token lives for five minutes and Azure's for about an hour, so the file is written anew as long as
# the job runs: whatever reads it later finds one that is good.
_TOKEN_FILE: Final[Step] = {
    "name": "Keep a token for Azure in a file",
    "run": """\
umask 077
export TOKEN="$RUNNER_TEMP/azure-token"
fetch() {
  curl --fail --silent --show-error --retry 5 --retry-all-errors \\
    --header "Authorization: bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" \\
    "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=api://AzureADTokenExchange" | jq -er .value > "$TOKEN.part"
  mv "$TOKEN.part" "$TOKEN"
}
fetch
(while sleep 200; do fetch || true; done) < /dev/null > /dev/null 2>&1 &
echo "AZURE_FEDERATED_TOKEN_FILE=$TOKEN" >> "$GITHUB_ENV"
""",
}


def _gcp(stack: str, role: Role, project: str) -> list[Step]:
    return [
        {
            "uses": uses("google-github-actions/auth"),
            "with": {
                "project_id": project,
                "workload_identity_provider": reference(stack, "IDENTITY_PROVIDER"),
                # Through a service account: a token of the federation's own lasts as long as GitHub's, for
                # five minutes, while with the file that this writes a client asks again and again
                # (https://github.com/google-github-actions/auth#inputs-workload-identity-federation).
                "service_account": reference(stack, f"{role.upper()}_SERVICE_ACCOUNT"),
            },
        },
        {
            "uses": uses("google-github-actions/setup-gcloud"),
            "with": {"install_components": "gke-gcloud-auth-plugin"},
        },
    ]
