"""Which changes replace a resource: tables by type, and the difference of two sets of inputs; pure.

The simulated clouds answer from them, and so does a plan against a stack's state: one truth for both.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

from gpuplatform.replacement import aws, azure, gcp, kubernetes
from gpuplatform.replacement.diff import Change, changes, covers
from gpuplatform.replacement.rule import Replacement
from gpuplatform.replacement.size import across, smaller

__all__ = [
    "Change",
    "Replacement",
    "always",
    "changes",
    "covers",
    "refuses",
    "replacement",
    "replaces",
    "without_version",
]

_ALWAYS: Final[dict[str, tuple[str, ...]]] = {
    "aws": aws.ALWAYS,
    "azure-native": azure.ALWAYS,
    "gcp": gcp.ALWAYS,
    "kubernetes": kubernetes.ALWAYS,
}


def replacement(token: str) -> Replacement:
    """What changes do to resources of this type, of any API version; an empty row where nothing is known."""
    bare = without_version(token)
    return _table().get(bare) or Replacement(bare)


def always(token: str) -> tuple[str, ...]:
    """Inputs that force a replacement on every type of the token's provider."""
    return _ALWAYS.get(token.partition(":")[0], ())


def name_input(token: str, inputs: Iterable[str]) -> str:
    """The input that is a type's physical name, which the provider makes up where the program gives none.

    Args:
        token: The resource's type.
        inputs: Inputs that it has; on Azure the name is the last parameter of the resource's path, and called
            differently on each type.

    Returns:
        The path; empty where the type has no name.
    """
    known = replacement(token).name
    if known is not None:
        return known
    match token.partition(":")[0]:
        case "azure-native":
            return _azure_name(token, inputs)
        case "kubernetes":
            return "metadata.name"
        case _:
            return "name"


def _azure_name(token: str, inputs: Iterable[str]) -> str:
    kind = token.rpartition(":")[2].lower()
    names = {name.lower(): name for name in inputs if name.endswith("Name")}
    wanted = (f"{kind}name", f"{kind}resourcename", "resourcename", "configname")
    return next((names[name] for name in wanted if name in names), "")


def replaces(token: str, change: Change, name: str = "") -> bool:
    """Whether the provider answers this change with a replacement.

    Args:
        token: The resource's type.
        change: One changed input.
        name: The input that is the type's physical name; empty where it has none.
    """
    row = replacement(token)
    forcing = (*row.replace, *always(token), *((name,) if name else ()))
    return covers(forcing, change.path) or (
        covers(row.smaller_replaces, change.path) and smaller(change.old, change.new)
    )


def refuses(token: str, change: Change) -> bool:
    """Whether the provider asks for this change as an update, and the cloud refuses it."""
    row = replacement(token)
    return (
        covers(row.immutable, change.path)
        or (covers(row.smaller_refused, change.path) and smaller(change.old, change.new))
        or any(
            covers((path,), change.path) and across(change.old, change.new, limit)
            for path, limit in row.never_across
        )
    )


def without_version(token: str) -> str:
    """`azure-native:containerservice/v20240101:AgentPool` -> `azure-native:containerservice:AgentPool`."""
    package, _, rest = token.partition(":")
    module, _, kind = rest.partition(":")
    return f"{package}:{module.partition('/')[0]}:{kind}" if package == "azure-native" else token


@cache
def _table() -> dict[str, Replacement]:
    table: dict[str, Replacement] = {}
    for row in (*aws.REPLACEMENTS, *azure.REPLACEMENTS, *gcp.REPLACEMENTS, *kubernetes.REPLACEMENTS):
        if row.token in table:
            raise ValueError(f"two rows for {row.token}")
        table[row.token] = row
    return table
