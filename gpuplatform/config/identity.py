"""Who deploys: GitHub Actions by OpenID Connect, without a key that could be stolen."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from gpuplatform.config.base import At, Model

__all__ = ["Github", "Identity"]

_ID: Final = r"^[1-9]\d{0,18}$"
_ID_RULE: Final = 'a quoted number, such as "9919"'


class Github(Model):
    """A repository's workflows: pull requests may preview, jobs of a named environment may deploy."""

    repository: Annotated[
        str,
        Field(
            # The owner's underscore stands in the names of enterprise-managed users.
            pattern=r"^[A-Za-z0-9]([A-Za-z0-9_-]{0,37}[A-Za-z0-9])?/[A-Za-z0-9._-]{1,100}$",
            description="owner/repository, as GitHub spells them: no wildcard, no URL.",
        ),
    ]
    environments: Annotated[
        tuple[
            Annotated[
                str,
                Field(
                    # GitHub takes more; a colon would let a name imitate the rest of a subject, and a `*` is
                    # a wildcard to everybody who compares it by pattern.
                    pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
                    description="An environment of the repository: 1 to 100 letters, digits and . _ -",
                ),
            ],
            ...,
        ],
        Field(min_length=1, description="Environments of the repository whose jobs may deploy."),
    ]
    owner_id: Annotated[
        str | None, Field(pattern=_ID, description=f"The owner's number, for immutable subjects: {_ID_RULE}.")
    ] = None
    repository_id: Annotated[
        str | None,
        Field(pattern=_ID, description=f"The repository's number, for immutable subjects: {_ID_RULE}."),
    ] = None
    subjects: Annotated[
        Literal["classic", "immutable", "both"] | None,
        Field(
            description="Which form of subject is trusted: classic (repo:o/r:...), immutable "
            "(repo:o@1/r@2:...), or both for the time of a move; immutable where the numbers are given, "
            "classic where they are not."
        ),
    ] = None
    session_minutes: Annotated[
        int,
        Field(
            ge=60,
            le=720,
            description="How long a deployment may take: 60 to 720 minutes; 720 is what AWS allows.",
        ),
    ] = 120
    create_provider: Annotated[
        bool,
        Field(description="AWS: an account trusts GitHub's issuer once; false where it does already."),
    ] = True

    @model_validator(mode="after")
    def _numbers_together(self) -> Self:
        if (self.owner_id is None) != (self.repository_id is None):
            missing = "owner_id" if self.owner_id is None else "repository_id"
            raise At(missing, f"{missing} is missing: an immutable subject names both numbers")
        if self.subjects in {"immutable", "both"} and self.owner_id is None:
            raise At(
                "subjects",
                f"{self.subjects} needs owner_id and repository_id; "
                "`gh api repos/OWNER/REPOSITORY --jq '.owner.id, .id'` prints them",
            )
        return self

    @model_validator(mode="after")
    def _repository_exists(self) -> Self:
        name = self.repository.rpartition("/")[2]
        if set(name) == {"."} or name.endswith(".git"):
            raise At("repository", f"GitHub has no repository named {name!r}; leave .git out")
        return self

    @model_validator(mode="after")
    def _once(self) -> Self:
        lowered = [name.casefold() for name in self.environments]
        if len(set(lowered)) < len(lowered):
            raise At("environments", "an environment is named twice; GitHub takes no notice of case")
        return self


class Identity(Model):
    """Who else than people acts on the environment."""

    github: Github
