"""What a bootstrap leaves to be written down: in the project's files, in the stack's, and on GitHub."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpuplatform.config import Azure, Platform
from gpuplatform.trust import VARIABLES, github_of, variable

__all__ = ["Outcome", "Variable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable of the repository's, which is no secret."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a bootstrap did, and what is left to do.

    Attributes:
        stack: The stack's name.
        record: The file to commit; empty after a preview and in the sandbox.
        changes: How many resources are by what was done, such as `create` or `same`.
        backend_url: For `backend: {url: ...}` in Pulumi.yaml.
        secrets_provider: For `secretsprovider:` in the stack's file, where `pulumi stack init` writes it.
        admin: Whom `cluster.admins` must name, or on Azure who must join a group that it names.
        admin_missing: Whether `cluster.admins` does not name it yet; None where nobody here can know.
        viewer: Whom `cluster.viewers` must name, likewise.
        viewer_missing: Whether it does not name it yet, likewise.
        repository: owner/repository.
        variables: The repository's variables.
        environments: Environments to be made in the repository.
    """

    stack: str
    record: str = ""
    changes: Mapping[str, int] = field(default_factory=dict)
    backend_url: str = ""
    secrets_provider: str = ""
    admin: str = ""
    admin_missing: bool | None = None
    viewer: str = ""
    viewer_missing: bool | None = None
    repository: str
    variables: tuple[Variable, ...] = ()
    environments: tuple[str, ...]

    @classmethod
    def of(
        cls,
        stack: str,
        config: Platform,
        outputs: Mapping[str, Any],
        changes: Mapping[str, int],
        record: str = "",
    ) -> Outcome:
        """From the outputs of the program; before the first run of all, a preview has none."""
        github = github_of(config)
        admin = str(outputs.get("admin") or "")
        values = outputs.get("variables") or {}
        viewer = str(outputs.get("viewer") or "")
        # Groups are named there, and who is in one is not seen.
        groups = isinstance(config.cloud, Azure)
        return cls(
            stack=stack,
            record=record,
            changes=dict(changes),
            backend_url=str(outputs.get("backend_url") or ""),
            secrets_provider=str(outputs.get("secrets_provider") or ""),
            admin=admin,
            admin_missing=None if groups or not admin else admin not in config.cluster.admins,
            viewer=viewer,
            viewer_missing=None if groups or not viewer else viewer not in config.cluster.viewers,
            repository=github.repository,
            variables=tuple(
                Variable(name=variable(stack, key), value=str(values[key]))
                for key in VARIABLES[config.cloud.provider]
                if key in values
            ),
            environments=github.environments,
        )

    def document(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "stack": self.stack,
            "record": self.record,
            "changes": dict(self.changes),
            "backend": {"url": self.backend_url},
            "secretsprovider": self.secrets_provider,
            "admin": self.admin,
            "admin_missing": self.admin_missing,
            "viewer": self.viewer,
            "viewer_missing": self.viewer_missing,
            "github": {
                "repository": self.repository,
                "environments": list(self.environments),
                "variables": {one.name: one.value for one in self.variables},
            },
        }
