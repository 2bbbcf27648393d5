"""Whose tokens are trusted: GitHub's issuer, an audience, and exact subjects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["ISSUER", "Trust"]

ISSUER: Final = "https://token.actions.githubusercontent.com"
"""Issuer of the tokens of GitHub Actions
(https://docs.github.com/actions/reference/security/oidc). A GitHub Enterprise Server has its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """A repository's workflows as a cloud recognises them.

    Attributes:
        repository: owner/repository.
        owner_id: The owner's number; empty where only classic subjects are trusted.
        repository_id: The repository's number, likewise.
        environments: Environments whose jobs may deploy.
        preview_subjects: Exact subjects of pull requests' jobs, one a form; never a wildcard.
        deploy_subjects: Exact subjects of the environments' jobs, one a form and environment.
        session_minutes: How long a deployment may take.
        create_provider: Whether the AWS account's provider for the issuer is made here; one a whole account.
    """

    repository: str
    owner_id: str = ""
    repository_id: str = ""
    environments: tuple[str, ...]
    preview_subjects: tuple[str, ...]
    deploy_subjects: tuple[str, ...]
    session_minutes: int
    create_provider: bool = True
