"""Google Cloud: the permissions of a custom role for each role, and the condition on its binding."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from gpuplatform.config import Gcp, Platform
from gpuplatform.errors import Refusal
from gpuplatform.permissions.buckets import own_buckets, state_bucket
from gpuplatform.permissions.gcp_rows import GRANTABLE, TABLE
from gpuplatform.permissions.model import Role, rows_of

__all__ = ["KEY_RINGS", "WILDCARDS", "GcpScope", "condition", "permissions", "scope_of"]

WILDCARDS: Final[dict[str, str]] = {}
"""Permissions with a `*` that a role may have, with the reason; there is none: custom roles take none."""

_EMPTYING: Final = ("storage.objects.delete", "storage.objects.list")
_OTHER_POLICIES: Final = ("cloudkms.googleapis.com/CryptoKey", "storage.googleapis.com/Bucket")
"""What has a policy of its own that the stack's resources write, with other roles than the project's."""

_MOST_OPERATORS: Final = 12
"""Of a condition (https://cloud.google.com/iam/quotas); `!` is counted as one here."""

KEY_RINGS: Final = "storage-"
"""How the key rings of a stack's tiers begin, by their names in its program; the state's begins otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GcpScope:
    """What a stack's buckets are named: of them alone does Google Cloud tell a condition the name.

    Attributes:
        name: Prefix of every physical name, such as `vision-prod`.
        buckets: Buckets whose names do not begin with `name`.
        emptied: Buckets that a teardown takes with all their objects.
        state: The bucket of Pulumi's state; where left out, all that are named like one.
    """

    name: str
    buckets: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()
    state: str = ""


def scope_of(config: Platform) -> GcpScope:
    """What a stack's buckets are named.

    Args:
        config: The stack's configuration.

    Raises:
        TypeError: The configuration is of another cloud.
    """
    if not isinstance(config.cloud, Gcp):
        raise TypeError(f"{config.cloud.provider} has no project")
    buckets = own_buckets(config)
    name = config.physical_name
    return GcpScope(
        name=name,
        buckets=buckets.named,
        emptied=buckets.emptied,
        state=state_bucket("GCS bucket", name, of=(config.cloud.project, config.cloud.region, name)),
    )


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
    in reach (https://cloud.google.com/iam/docs/conditions-resource-attributes), and of keys, those in rings
    of storage tiers (https://cloud.google.com/iam/docs/conditions-attribute-reference): neither bucket nor
    key of the state is among them.

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
        prefixes = [f"{scope.name}-", *scope.buckets]
        parts.append(_only("Bucket", prefixes))
        # Named like them, and none of them: its policy, its settings and its objects are another binding's.
        parts.append(
            f"!resource.name.startsWith('projects/_/buckets/{scope.state or f'{scope.name}-state-'}')"
        )
        if scope.emptied:
            parts.append(_only("Object", [f"{bucket}/" for bucket in scope.emptied]))
    if any(one.startswith("cloudkms.") for one in granted):
        # Empty where it is no ring and no key: to make a ring is asked for on its location.
        ring = "resource.name.extract('/keyRings/{ring}')"
        parts.append(f"({ring} == '' || {ring}.startsWith('{KEY_RINGS}'))")
    return _checked(" && ".join(parts), scope) or None


def _only(kind: str, prefixes: Iterable[str]) -> str:
    other = f"resource.type != 'storage.googleapis.com/{kind}'"
    named = (f"resource.name.startsWith('projects/_/buckets/{prefix}')" for prefix in prefixes)
    return f"({' || '.join((other, *named))})"


def _operators(condition: str) -> int:
    return sum(condition.count(operator) for operator in ("&&", "||", "!")) - condition.count("!=")


def _checked(condition: str, scope: GcpScope) -> str:
    if _operators(condition) > _MOST_OPERATORS:
        raise Refusal(
            f"{len(scope.buckets) + len(scope.emptied)} buckets with names of their own or to be emptied",
            where="storage",
            rule=f"a condition of Google Cloud's has at most {_MOST_OPERATORS} operators, one for each",
            way_out="leave `bucket` out of some, or keep some: teardown: keep",
        )
    return condition
