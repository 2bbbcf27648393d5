"""Google Cloud: the permissions of a custom role for each role, and the condition on its binding."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from gpuplatform.config import Platform
from gpuplatform.errors import Refusal
from gpuplatform.permissions.buckets import own_buckets
from gpuplatform.permissions.gcp_rows import GRANTABLE, TABLE
from gpuplatform.permissions.model import Role, rows_of

__all__ = ["WILDCARDS", "GcpScope", "condition", "permissions", "scope_of"]

WILDCARDS: Final[dict[str, str]] = {}
"""Permissions with a `*` that a role may have, with the reason; there is none: custom roles take none."""

_EMPTYING: Final = ("storage.objects.delete", "storage.objects.list")
_OTHER_POLICIES: Final = ("cloudkms.googleapis.com/CryptoKey", "storage.googleapis.com/Bucket")
"""What has a policy of its own that the stack's resources write, with other roles than the project's."""

_MOST_BUCKETS: Final = 3
"""Named one by one in a condition, which has at most 12 logical operators
(https://cloud.google.com/iam/quotas)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GcpScope:
    """What a stack's buckets are named: of them alone does Google Cloud tell a condition the name.

    Attributes:
        name: Prefix of every physical name, such as `vision-prod`.
        buckets: Buckets whose names do not begin with `name`.
        emptied: Buckets that a teardown takes with all their objects; the beginning of a name where it ends
            in a hyphen.
    """

    name: str
    buckets: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()


def scope_of(config: Platform) -> GcpScope:
    """What a stack's buckets are named.

    Args:
        config: The stack's configuration.
    """
    buckets = own_buckets(config)
    return GcpScope(name=config.physical_name, buckets=buckets.named, emptied=buckets.emptied)


def permissions(role: Role, types: Collection[str], scope: GcpScope | None = None) -> tuple[str, ...]:
    """What `role` may do, for a custom role of the project.

    Args:
        role: Who acts.
        types: Type tokens that the stack's offline plan registers.
        scope: What its buckets are named; without, no bucket with objects in it can be deleted.

    Raises:
        Refusal: A type has no row, or is none that a pipeline may manage.
    """
    granted = {one for row in rows_of(TABLE, types, "gcp") for one in row.granted(role)}
    if role == "deploy" and scope is not None and scope.emptied:
        granted |= set(_EMPTYING)
    return tuple(sorted(granted))


def condition(role: Role, types: Collection[str], scope: GcpScope) -> str | None:
    """What the binding of the custom role says beside it; None for nothing.

    Whoever may write a project's policy may make themselves its owner, unless a condition lists the roles
    that may be granted (https://cloud.google.com/iam/docs/setting-limits-on-granting-roles); of a request
    that grants nothing the list is empty. And of buckets, the policy and the objects of the stack's alone are
    in reach (https://cloud.google.com/iam/docs/conditions-resource-attributes).

    Args:
        role: Who acts.
        types: Type tokens that the stack's offline plan registers.
        scope: What its buckets are named.

    Raises:
        Refusal: A type has no row or is none that a pipeline may manage, or a condition cannot name all of
            the buckets.
    """
    if role == "preview":
        return None
    granted = permissions(role, types, scope)
    parts = []
    if "resourcemanager.projects.setIamPolicy" in granted:
        roles = ", ".join(f"'{one}'" for one in sorted(GRANTABLE))
        attribute = "api.getAttribute('iam.googleapis.com/modifiedGrantsByRole', [])"
        others = (f"resource.type == '{kind}'" for kind in _OTHER_POLICIES)
        parts.append(f"({' || '.join((f'{attribute}.hasOnly([{roles}])', *others))})")
    if any(one.startswith("storage.buckets.") for one in granted):
        _check_count(scope)
        prefixes = [f"{scope.name}-", *scope.buckets]
        parts.append(_only("Bucket", prefixes))
        if scope.emptied:
            parts.append(
                _only(
                    "Object", [bucket if bucket.endswith("-") else f"{bucket}/" for bucket in scope.emptied]
                )
            )
    return " && ".join(parts) or None


def _only(kind: str, prefixes: Iterable[str]) -> str:
    other = f"resource.type != 'storage.googleapis.com/{kind}'"
    named = (f"resource.name.startsWith('projects/_/buckets/{prefix}')" for prefix in prefixes)
    return f"({' || '.join((other, *named))})"


def _check_count(scope: GcpScope) -> None:
    for what, buckets in (("with names of their own", scope.buckets), ("to be emptied", scope.emptied)):
        if len(buckets) > _MOST_BUCKETS:
            raise Refusal(
                f"{len(buckets)} buckets {what}",
                where="storage",
                rule=f"a condition of Google Cloud's names {_MOST_BUCKETS} of them one by one",
                way_out="leave `bucket` out of some, or keep some: teardown: keep",
            )
