"""Service accounts, grants and keys; grants are stored, never evaluated."""

from __future__ import annotations

from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.gcp.common import (
    ACCOUNT,
    NOT_FOUND,
    RING,
    member_id,
    normal,
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


RULES = (
    Rule(
        ACCOUNT,
        name="accountId",
        names=NameRule(r"[a-z]([-a-z0-9]{4,28}[a-z0-9])", "6 to 30 of lower-case letters, digits and -"),
        replace=("project",),
        id=lambda call: f"projects/{project_of(call)}/serviceAccounts/{_email(call)}",
        outputs=_account_outputs,
        handles=lambda _call, outputs: [(ACCOUNT, outputs["email"])],
    ),
    Rule(
        "gcp:projects/iAMMember:IAMMember",
        name="",
        replace=("project", "role", "member", "condition"),
        id=member_id("project", "role", "member"),
    ),
    Rule(
        "gcp:serviceaccount/iAMMember:IAMMember",
        name="",
        replace=("serviceAccountId", "role", "member", "condition"),
        references=(Reference("serviceAccountId", ACCOUNT, NOT_FOUND, cascades=True),),
        id=member_id("serviceAccountId", "role", "member"),
    ),
    Rule(
        "gcp:projects/service:Service",
        name="",
        replace=("service", "project"),
        id=member_id("project", "service"),
    ),
    Rule(RING, replace=("location", "project")),
    Rule(
        "gcp:kms/cryptoKey:CryptoKey",
        replace=(
            "cryptoKeyBackend",
            "destroyScheduledDuration",
            "importOnly",
            "keyRing",
            "purpose",
            "versionTemplate.protectionLevel",
        ),
        references=(Reference("keyRing", RING, NOT_FOUND),),
        id=lambda call: f"{normal(str(call.get('keyRing')))}/cryptoKeys/{call.name}",
    ),
    Rule(
        "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
        name="",
        replace=("cryptoKeyId", "role", "member"),
        references=(Reference("cryptoKeyId", "gcp:kms/cryptoKey:CryptoKey", NOT_FOUND),),
        id=member_id("cryptoKeyId", "role", "member"),
    ),
)
