"""Service accounts, custom roles and grants; grants are stored, never evaluated."""

from __future__ import annotations

from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.gcp.common import (
    ACCOUNT,
    NOT_FOUND,
    member_id,
    project_of,
)
from gpuplatform.sandbox.cloud.rule import (
    Call,
    NameRule,
    Reference,
    Rule,
)

__all__ = ["RULES"]


def _email(call: Call) -> str:
    return f"{call.get('accountId')}@{project_of(call)}.iam.gserviceaccount.com"


def _account_outputs(call: Call) -> dict[str, Any]:
    email = _email(call)
    return {
        "email": email,
        "member": f"serviceAccount:{email}",
        "name": f"projects/{project_of(call)}/serviceAccounts/{email}",
        "uniqueId": str(int(wire.digest(call.id, length=15), 16)),
    }


ROLE = "gcp:projects/iAMCustomRole:IAMCustomRole"


def _role_outputs(call: Call) -> dict[str, Any]:
    return {"name": call.id, "deleted": False}


RULES = (
    Rule(
        ACCOUNT,
        names=NameRule(r"[a-z]([-a-z0-9]{4,28}[a-z0-9])", "6 to 30 of lower-case letters, digits and -"),
        id=lambda call: f"projects/{project_of(call)}/serviceAccounts/{_email(call)}",
        outputs=_account_outputs,
        handles=lambda _call, outputs: [(ACCOUNT, outputs["email"])],
    ),
    Rule(
        # A role that was deleted comes back with its ID: the provider restores it
        # (terraform-provider-google, resourcemanager/resource_google_project_iam_custom_role.go).
        ROLE,
        names=NameRule(r"[a-zA-Z0-9_.]{3,64}", "3 to 64 of letters, digits, _ and ."),
        id=lambda call: f"projects/{project_of(call)}/roles/{call.name}",
        outputs=_role_outputs,
    ),
    Rule(
        "gcp:projects/iAMMember:IAMMember",
        references=(
            Reference(
                "role",
                ROLE,
                "googleapi: Error 400: Role ({value}) does not exist in the resource's hierarchy.",
                unless=r"^(roles|organizations)/",
            ),
        ),
        id=member_id("project", "role", "member"),
    ),
    Rule(
        "gcp:serviceaccount/iAMMember:IAMMember",
        references=(Reference("serviceAccountId", ACCOUNT, NOT_FOUND, cascades=True),),
        id=member_id("serviceAccountId", "role", "member"),
    ),
    Rule(
        "gcp:projects/service:Service",
        id=member_id("project", "service"),
    ),
)
