"""Where an environment runs: one account, subscription or project, in one region."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import Field

from gpuplatform.config.base import Model

__all__ = ["Aws", "Azure", "Cloud", "Gcp", "admin_problem"]


class Aws(Model):
    """An AWS account and region."""

    provider: Literal["aws"]
    region: Annotated[
        str, Field(description="The region's code, such as us-east-1.", pattern=r"^[a-z]{2}(-[a-z]+)+-\d$")
    ]
    account: Annotated[
        str,
        Field(
            description="The 12-digit account; the provider refuses to touch any other.", pattern=r"^\d{12}$"
        ),
    ]


class Azure(Model):
    """An Azure subscription and location."""

    provider: Literal["azure"]
    region: Annotated[
        str, Field(description="The location's short name, such as eastus.", pattern=r"^[a-z0-9]+$")
    ]
    subscription: Annotated[
        str,
        Field(
            description="The subscription's ID; the provider works in no other.",
            pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        ),
    ]


class Gcp(Model):
    """A Google Cloud project and region."""

    provider: Literal["gcp"]
    region: Annotated[
        str, Field(description="The region, such as us-central1; no zone.", pattern=r"^[a-z]+-[a-z]+\d+$")
    ]
    project: Annotated[
        str,
        Field(
            description="The project's ID (not its number): 6 to 30 lower-case letters, digits, hyphens.",
            pattern=r"^[a-z][a-z0-9-]{4,28}[a-z0-9]$",
        ),
    ]


Cloud = Annotated[Aws | Azure | Gcp, Field(discriminator="provider")]

_ADMIN_RULES: Final[dict[str, tuple[str, str]]] = {
    # No session either (arn:aws:sts::...:assumed-role/...): an access entry is for a role or user
    # (https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAccessEntry.html).
    "aws": (
        # A wildcard is a role of no name, and EKS would say so minutes into an update.
        r"arn:aws[a-z-]*:iam::\d{12}:(role|user)/[\w+=,.@/-]+",
        "an IAM role or user ARN (arn:aws:iam::123456789012:role/name)",
    ),
    "azure": (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "the object ID of an Entra group"),
    "gcp": (r"(group|user|serviceAccount):[^@\s]+@[^@\s]+", "an IAM member (group:platform@example.com)"),
}


def admin_problem(provider: str, admin: str) -> str | None:
    """Why `admin` can be given no access to a cluster on a cloud, or None where it can."""
    pattern, rule = _ADMIN_RULES[provider]
    return None if re.fullmatch(pattern, admin) else f"{admin!r} is not {rule}"
