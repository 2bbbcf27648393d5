"""From what a stack says of its repository to the exact subjects of its workflows' tokens."""

from __future__ import annotations

from typing import Final

from gpuplatform.config import Github
from gpuplatform.trust.model import Trust

__all__ = ["trust"]

# A job that names an environment has that in its subject in place of everything else, and only a job without
# one has `pull_request` (https://docs.github.com/actions/reference/security/oidc#example-subject-claims).
_PULL_REQUEST: Final = "pull_request"
_ENVIRONMENT: Final = "environment:"


def trust(github: Github) -> Trust:
    """The trust in a repository's workflows: pull requests' jobs look, jobs of its environments deploy.

    A subject is built from the declared environments only, and in the forms that `github.subjects` names:
    classic, immutable, or both as exact values of their own while a repository moves. Repositories that are
    made, renamed or transferred after 2026-07-15 send the immutable form
    (https://docs.github.com/actions/reference/security/oidc#immutable-subject-claims).
    """
    prefixes = _prefixes(github)
    return Trust(
        repository=github.repository,
        owner_id=github.owner_id or "",
        repository_id=github.repository_id or "",
        environments=github.environments,
        preview_subjects=tuple(f"{prefix}:{_PULL_REQUEST}" for prefix in prefixes),
        deploy_subjects=tuple(
            f"{prefix}:{_ENVIRONMENT}{name}" for name in github.environments for prefix in prefixes
        ),
        session_minutes=github.session_minutes,
        create_provider=github.create_provider,
    )


def _prefixes(github: Github) -> tuple[str, ...]:
    owner, _, repository = github.repository.partition("/")
    classic = f"repo:{owner}/{repository}"
    immutable = f"repo:{owner}@{github.owner_id}/{repository}@{github.repository_id}"
    form = github.subjects or ("classic" if github.owner_id is None else "immutable")
    return {"classic": (classic,), "immutable": (immutable,), "both": (classic, immutable)}[form]
