"""Whose tokens are trusted: GitHub's issuer, an audience, and exact subjects."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gpuplatform.errors import Refusal

__all__ = ["ISSUER", "Trust"]

ISSUER: Final = "https://token.actions.githubusercontent.com"
"""Issuer of the tokens of GitHub Actions
(https://docs.github.com/actions/reference/security/oidc). A GitHub Enterprise Server has its own."""

# What stands before the context is the repository, with both numbers or with none; a `:` within the name of
# an environment would be written %3A (https://docs.github.com/actions/reference/security/oidc).
_EXACT: Final = re.compile(
    r"repo:[A-Za-z0-9_-]+(?P<ids>@\d+)?/[A-Za-z0-9._-]+(?(ids)@\d+):(pull_request|environment:[A-Za-z0-9._-]+)"
)


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

    Raises:
        Refusal: A subject is not exact, so more than one repository's or environment's jobs would match it.
    """

    repository: str
    owner_id: str = ""
    repository_id: str = ""
    environments: tuple[str, ...]
    preview_subjects: tuple[str, ...]
    deploy_subjects: tuple[str, ...]
    session_minutes: int
    create_provider: bool = True

    def __post_init__(self) -> None:
        for subject in (*self.preview_subjects, *self.deploy_subjects):
            if not _EXACT.fullmatch(subject):
                raise Refusal(
                    f"{subject!r} is no exact subject of a pull request's or an environment's job",
                    where="identity.github",
                    rule="repo:OWNER/REPOSITORY or repo:OWNER@ID/REPOSITORY@ID, then :pull_request or "
                    ":environment:NAME; no wildcard anywhere",
                    way_out="let gpuplatform.trust.trust write the subjects",
                )
