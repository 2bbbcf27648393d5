"""What Google Cloud's workload identity federation reads from GitHub's tokens, as CEL expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gpuplatform.errors import Refusal
from gpuplatform.trust.model import Trust

__all__ = ["ROLE_ATTRIBUTE", "attribute_condition", "attribute_mapping"]

# All limits: https://cloud.google.com/iam/docs/reference/rest/v1/projects.locations.workloadIdentityPools.providers
_CONDITION_LIMIT: Final = 4096
_EXPRESSION_LIMIT: Final = 2048
_SUBJECT_BYTES: Final = 127

ROLE_ATTRIBUTE: Final = "attribute.ci_role"
"""The mapped attribute that a service account's grant names: `preview` or `deploy`, decided from the exact
subject. Grants by subject would have to name `google.subject`, which is bounded, and may be no subject."""


def attribute_condition(trust: Trust) -> str:
    """Which tokens the provider takes at all: the repository's, and of these the exact subjects only.

    The repository counts by its numbers where they are known. For GitHub's issuer, Google Cloud demands a
    condition that names a claim.

    Raises:
        Refusal: It is longer than Google Cloud takes.
    """
    parts = [f"assertion.repository == {_text(trust.repository)}"]
    if trust.repository_id:
        parts = [
            f"assertion.repository_owner_id == {_text(trust.owner_id)}",
            f"assertion.repository_id == {_text(trust.repository_id)}",
        ]
    parts.append(_one_of((*trust.preview_subjects, *trust.deploy_subjects)))
    return _within(_CONDITION_LIMIT, " && ".join(parts))


def attribute_mapping(trust: Trust) -> dict[str, str]:
    """What of a token becomes an attribute that a grant may name, by the attribute's name.

    `google.subject` has at most 127 bytes, and a longer one fails when a job runs. Since the condition takes
    the exact subjects only, the longest is known: where it is too long, the repository's number and the role
    stand in its place.

    Raises:
        Refusal: An expression is longer than Google Cloud takes.
    """
    role = f"{_one_of(trust.deploy_subjects)} ? 'deploy' : 'preview'"
    longest = max(len(subject.encode()) for subject in (*trust.preview_subjects, *trust.deploy_subjects))
    bounded = f"assertion.repository_id + ':' + ({role})"
    return {
        "google.subject": "assertion.sub"
        if longest <= _SUBJECT_BYTES
        else _within(_EXPRESSION_LIMIT, bounded),
        # For those who read the audit log; no grant names them.
        "attribute.repository": "assertion.repository",
        "attribute.repository_id": "assertion.repository_id",
        ROLE_ATTRIBUTE: _within(_EXPRESSION_LIMIT, role),
    }


def _one_of(subjects: Sequence[str]) -> str:
    return f"assertion.sub in [{', '.join(_text(subject) for subject in subjects)}]"


def _text(value: str) -> str:
    """`value` as a CEL literal; a `Trust` holds neither quotes nor backslashes."""
    return f"'{value}'"


def _within(limit: int, expression: str) -> str:
    if len(expression) > limit:
        raise Refusal(
            f"the environments' subjects make an expression of {len(expression)} characters",
            where="identity.github.environments",
            rule=f"Google Cloud takes {limit} at most",
            way_out="name fewer environments, or one form of subject once the repository has moved",
        )
    return expression
