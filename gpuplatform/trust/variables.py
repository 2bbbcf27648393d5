"""What a workflow reads from the repository's variables: nothing that is a secret."""

from __future__ import annotations

import re
from typing import Final

from gpuplatform.errors import ConfigError

__all__ = ["VARIABLES", "reference", "variable"]

VARIABLES: Final[dict[str, tuple[str, ...]]] = {
    "aws": ("BACKEND_URL", "PREVIEW_ROLE", "DEPLOY_ROLE"),
    "azure": ("BACKEND_URL", "PREVIEW_CLIENT_ID", "DEPLOY_CLIENT_ID", "TENANT_ID"),
    "gcp": ("BACKEND_URL", "PREVIEW_SERVICE_ACCOUNT", "DEPLOY_SERVICE_ACCOUNT", "IDENTITY_PROVIDER"),
}
"""By cloud: what `gpuplatform bootstrap` finds out and a workflow needs. Each is the repository's variable,
not an environment's: a pull request's job names none."""

_STACK: Final = re.compile(r"[a-z][a-z0-9-]{0,99}")
"""One spelling, so that no two stacks have one variable: GitHub takes no notice of case, nor of . _ and -."""


def variable(stack: str, key: str) -> str:
    """The variable's name: `AWS_DEV_DEPLOY_ROLE` for the stack aws-dev, so a repository has room for many.

    Raises:
        ConfigError: The stack's name gives no name that GitHub takes
            (https://docs.github.com/actions/reference/workflows-and-actions/variables#naming-conventions).
    """
    prefix = stack.replace("-", "_").upper()
    if not _STACK.fullmatch(stack) or prefix.startswith("GITHUB_") or prefix == "GITHUB":
        raise ConfigError(
            f"the stack's name {stack!r} gives no name of a variable on GitHub",
            rule="lower-case letters, digits and hyphens after a letter; GITHUB_ is GitHub's own",
            way_out="give the stack's file another name",
        )
    return f"{prefix}_{key}"


def reference(stack: str, key: str) -> str:
    """The variable's value, as a workflow writes it; GitHub puts it in before a step begins."""
    return f"${{{{ vars.{variable(stack, key)} }}}}"
