"""Workload identity federation: pools and providers, whose IDs stay taken for 30 days."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.gcp.common import NOT_FOUND, keep_name, project_of, refuse_kept
from gpuplatform.sandbox.cloud.gcp.functions import project_number
from gpuplatform.sandbox.cloud.rule import Call, NameRule, Reference, Rule
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES"]

POOL = "gcp:iam/workloadIdentityPool:WorkloadIdentityPool"

_NAME = NameRule(
    r"(?!gcp-)[a-z0-9-]{4,32}", "4 to 32 of lower-case letters, digits and -, and gcp- is Google's"
)
_GITHUB = "https://token.actions.githubusercontent.com"
_CONDITION = 4096
_EXPRESSION = 2048


def _check_provider(call: Call) -> Iterator[Problem]:
    mapping = call.get("attributeMapping")
    if isinstance(mapping, dict):
        if "google.subject" not in mapping:
            yield Problem("attributeMapping", "google.subject must be mapped")
        for key, expression in mapping.items():
            if isinstance(expression, str) and len(expression) > _EXPRESSION:
                yield Problem(
                    f"attributeMapping.{key}", f"an expression has at most {_EXPRESSION} characters"
                )
    condition = call.get("attributeCondition")
    if isinstance(condition, str) and len(condition) > _CONDITION:
        yield Problem("attributeCondition", f"a condition has at most {_CONDITION} characters")
    # terraform-google-modules/terraform-google-github-actions-runners#261
    known = condition is None or (isinstance(condition, str) and condition != wire.UNKNOWN)
    if call.get("oidc.issuerUri") == _GITHUB and known and "assertion." not in str(condition):
        yield Problem(
            "attributeCondition",
            "Error 400: The attribute condition must reference one of the provider's claims",
        )


def _pool_id(call: Call) -> str:
    return f"projects/{project_of(call)}/locations/global/workloadIdentityPools/{call.name}"


def _provider_id(call: Call) -> str:
    pool = str(call.get("workloadIdentityPoolId"))
    return f"projects/{project_of(call)}/locations/global/workloadIdentityPools/{pool}/providers/{call.name}"


def _outputs(call: Call) -> dict[str, Any]:
    project = project_of(call)
    numbered = call.id.replace(f"projects/{project}/", f"projects/{project_number(project)}/", 1)
    return {"name": numbered, "state": "ACTIVE"}


RULES = (
    # hashicorp/terraform-provider-google#14191
    Rule(
        POOL,
        names=_NAME,
        id=_pool_id,
        create=lambda call: refuse_kept(call, _pool_id(call)),
        delete=keep_name,
        outputs=_outputs,
    ),
    Rule(
        "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
        names=_NAME,
        references=(Reference("workloadIdentityPoolId", POOL, NOT_FOUND, cascades=True),),
        check=_check_provider,
        create=lambda call: refuse_kept(call, _provider_id(call)),
        delete=keep_name,
        id=_provider_id,
        outputs=_outputs,
    ),
)
