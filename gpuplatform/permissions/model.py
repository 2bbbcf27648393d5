"""What a resource type asks of whoever creates, reads, changes and deletes it, on every cloud."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from gpuplatform.errors import Refusal

__all__ = ["ROLES", "Role", "Row", "Table", "rows_of"]

Role = Literal["preview", "deploy"]
"""Who acts: a pull request's job, which looks, and a job of a named environment, which changes."""

ROLES: Final[tuple[Role, ...]] = ("preview", "deploy")

_FREE: Final = ("gpuplatform:", "pulumi:pulumi:")
"""Components and the stack itself exist in Pulumi's state alone; so do providers, but they call something."""

_CLUSTER: Final = "kubernetes:"
"""Objects in a cluster: its own RBAC decides, once the cloud lets somebody in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What the provider calls for one resource type, in its cloud's own names.

    Attributes:
        type: The type's token; `kubernetes:` stands for all types in a cluster.
        source: Where the calls are listed.
        read: To look at it: a preview's refresh, and before and after each change.
        create: To make it, without `read`.
        update: To change it in place, likewise.
        delete: To remove it, likewise.
        bootstrap: Why only a person may manage it, by `gpuplatform bootstrap`; empty where a pipeline may.
    """

    type: str
    source: str
    read: tuple[str, ...] = ()
    create: tuple[str, ...] = ()
    update: tuple[str, ...] = ()
    delete: tuple[str, ...] = ()
    bootstrap: str = ""

    @property
    def writes(self) -> tuple[str, ...]:
        """What only the deploying role may do."""
        return tuple(dict.fromkeys((*self.create, *self.update, *self.delete)))

    def granted(self, role: Role) -> tuple[str, ...]:
        """What `role` needs for resources of this type."""
        return self.read if role == "preview" else (*self.read, *self.writes)


Table = Mapping[str, Row]
"""A cloud's rows by type token."""


def rows_of(table: Table, types: Collection[str], cloud: str) -> tuple[Row, ...]:
    """The rows that `types` need, each once, in the order of their tokens.

    Args:
        table: The cloud's rows.
        types: Type tokens, as a stack's plan registers them.
        cloud: The cloud's name, for the refusal.

    Raises:
        Refusal: There is no row for a type: neither silently less nor `*` is granted in its place. Or a type
            is none that a pipeline may manage.
    """
    wanted = {_CLUSTER if token.startswith(_CLUSTER) else token for token in types}
    wanted = {token for token in wanted if not token.startswith(_FREE)}
    if unknown := sorted(wanted - table.keys()):
        raise Refusal(
            f"nobody has written down what {', '.join(unknown)} needs on {cloud}",
            where=f"gpuplatform.permissions.{cloud}",
            rule="the roles of a pipeline may do what the stack's resources need, and nothing else",
            way_out=f"add a row with its source to gpuplatform/permissions/{cloud}_rows.py",
        )
    rows = tuple(table[token] for token in sorted(wanted))
    if kept := [row for row in rows if row.bootstrap]:
        raise Refusal(
            f"{', '.join(row.type for row in kept)} is nothing for a pipeline: {kept[0].bootstrap}",
            where=f"gpuplatform.permissions.{cloud}",
            rule="who manages their own rights can widen them",
            way_out="leave it to `gpuplatform bootstrap`, which a person runs with rights of their own",
        )
    return rows
