"""Whom a condition on GitHub's claims lets in: as a value that AND and OR work on.

A token's claims and who decides them: https://docs.github.com/actions/reference/security/oidc. Of all claims
only those of repository and owner tell whose workflow runs. Anybody's workflow has an actor, an event, a
branch and an environment of any name it likes, and may call a public reusable workflow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

__all__ = ["ANYONE", "Reach", "Scope", "claim_scope", "has_wildcard"]


class Reach(IntEnum):
    """Whose workflows get in."""

    ANYONE = 0
    OWNER = 1
    REPOSITORY = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whom one condition lets in.

    Attributes:
        reach: Whose workflows.
        narrowed: Whether a branch, tag, environment, workflow file or pull requests alone are named as well.
        by_name: Whether owner or repository are told by name, and not by number.
        owners: The owners' names; an empty one where only a number is spelled.
        workflow_owner: Whose reusable workflow must run, where that is spelled.
        pull_ref: Whether it names the ref of a pull request, whose author may be anybody.
        why: The words that decide it.
    """

    reach: Reach = Reach.ANYONE
    narrowed: bool = False
    by_name: bool = False
    owners: frozenset[str] = frozenset()
    workflow_owner: str = ""
    pull_ref: bool = False
    why: str = ""

    def __and__(self, other: Scope) -> Scope:
        first, second = (self, other) if self.reach >= other.reach else (other, self)
        equal = first.reach == second.reach
        return Scope(
            reach=first.reach,
            narrowed=first.narrowed or second.narrowed,
            by_name=first.by_name and (second.by_name or not equal),
            owners=first.owners or second.owners,
            workflow_owner=first.workflow_owner or second.workflow_owner,
            pull_ref=(first.pull_ref or second.pull_ref)
            and not any(one.narrowed and not one.pull_ref for one in (first, second)),
            why=first.why or second.why,
        )

    def __or__(self, other: Scope) -> Scope:
        first, second = (self, other) if self.reach <= other.reach else (other, self)
        narrowed = first.narrowed and second.narrowed
        blamed = first if first.reach < second.reach or not first.narrowed or first.pull_ref else second
        return Scope(
            reach=first.reach,
            narrowed=narrowed,
            by_name=first.by_name or second.by_name,
            owners=first.owners | second.owners,
            workflow_owner=first.workflow_owner or second.workflow_owner,
            pull_ref=first.pull_ref or second.pull_ref,
            why=blamed.why,
        )


ANYONE: Final = Scope()
"""A condition that keeps nobody out."""

_NARROWED: Final = Scope(narrowed=True)
_UNSPELLED: Final = frozenset({""})

_OWNER: Final = r"[A-Za-z0-9_-]+"
_REPOSITORY: Final = r"[A-Za-z0-9._-]+"
# Classic, or with the numbers that GitHub never gives twice: both or none
# (https://github.com/github/docs/pull/45221).
_NAMES: Final = re.compile(rf"(?P<owner>{_OWNER})/{_REPOSITORY}")
_NUMBERED: Final = re.compile(rf"(?P<owner>{_OWNER})@\d+/{_REPOSITORY}@\d+")
_ALL_OF_OWNER: Final = re.compile(rf"(?P<owner>{_OWNER}(@\d+)?)/.*")
_WORKFLOW: Final = re.compile(rf"(?P<owner>{_OWNER})/{_REPOSITORY}/\.github/workflows/[^@*?]+@(?P<ref>.+)")
_SOME_REFS: Final = re.compile(r"refs/(heads|tags)/[^*?]+.*")

# A token's subject is made of these; what workflows name as they like ends what a pattern can rely on.
_FREE_TEXT: Final = frozenset(
    {"workflow", "environment", "ref", "head_ref", "base_ref", "context", "actor", "event_name"}
)


def has_wildcard(value: str) -> bool:
    """Whether IAM would read a part of `value` as anything: `*`, `?` or a policy variable."""
    return any(mark in value for mark in ("*", "?", "${"))


def claim_scope(claim: str, value: str) -> Scope:
    """Whom `claim` being like `value` lets in; `*` and `?` stand for anything."""
    read = _CLAIMS.get(claim)
    return read(value, f"{claim} {value!r}") if read else Scope(why=f"{claim} {value!r}")


def _number(reach: Reach) -> Callable[[str, str], Scope]:
    def read(value: str, said: str) -> Scope:
        return Scope(reach=reach, owners=_UNSPELLED, why=said) if value.isdigit() else Scope(why=said)

    return read


def _owner(value: str, said: str) -> Scope:
    if has_wildcard(value):
        return Scope(why=said)
    return Scope(reach=Reach.OWNER, by_name=True, owners=frozenset({value}), why=said)


def _workflow(value: str, said: str) -> Scope:
    """The workflow that runs, a file of the repository itself."""
    found = _WORKFLOW.fullmatch(value)
    if found is None or has_wildcard(found["ref"]):
        return Scope(why=said)
    owners = frozenset({found["owner"]})
    return Scope(reach=Reach.REPOSITORY, narrowed=True, by_name=True, owners=owners, why=said)


def _reusable_workflow(value: str, said: str) -> Scope:
    """The workflow that is called: of any repository, and called by any where it is public."""
    found = _WORKFLOW.fullmatch(value)
    if found is None:
        return Scope(why=said)
    return Scope(narrowed=not has_wildcard(found["ref"]), workflow_owner=found["owner"], why=said)


def _ref(value: str, said: str) -> Scope:
    # Whoever may push can make a branch or a tag, but not below a prefix that a ruleset guards.
    narrowed = _SOME_REFS.fullmatch(value) is not None
    return Scope(narrowed=narrowed, pull_ref=value.startswith("refs/pull/"), why=said)


def _environment(value: str, said: str) -> Scope:
    # A workflow that names an environment which does not exist creates it, without protection rules
    # (https://docs.github.com/actions/how-tos/deploy/configure-and-manage-deployments/manage-environments).
    return Scope(narrowed=value != "" and not has_wildcard(value), why=said)


def _repository(value: str, said: str) -> Scope:
    if found := _NUMBERED.fullmatch(value):
        return Scope(reach=Reach.REPOSITORY, owners=frozenset({found["owner"]}), why=said)
    if found := _NAMES.fullmatch(value):
        owners = frozenset({found["owner"]})
        return Scope(reach=Reach.REPOSITORY, by_name=True, owners=owners, why=said)
    if has_wildcard(value) and (found := _ALL_OF_OWNER.fullmatch(value)):
        owner, _, number = found["owner"].partition("@")
        return Scope(reach=Reach.OWNER, by_name=not number, owners=frozenset({owner}), why=said)
    return Scope(why=said)


def _subject(value: str, said: str) -> Scope:
    """A subject is `claim:value` pairs; by default `repo:` and one of ref, environment, pull_request."""
    parts = value.split(":")
    scope = ANYONE
    anchored = True
    index = 0
    while index < len(parts):
        name = parts[index]
        if name == "pull_request":
            scope &= _NARROWED
            index += 1
        elif has_wildcard(name) or index + 1 == len(parts):
            break  # a * spans colons: nothing that follows has a fixed place
        else:
            one = claim_scope(name, parts[index + 1])
            # After free text a pair may be part of that text: a workflow can be called "x:repo:owner/name".
            scope &= one if anchored else Scope(narrowed=one.narrowed)
            anchored = anchored and name not in _FREE_TEXT and not has_wildcard(parts[index + 1])
            index += 2
    return replace(scope, why=said)


_CLAIMS: Final[Mapping[str, Callable[[str, str], Scope]]] = {
    "sub": _subject,
    "repo": _repository,
    "repository": _repository,
    "repository_id": _number(Reach.REPOSITORY),
    "repository_owner": _owner,
    "repository_owner_id": _number(Reach.OWNER),
    "enterprise": _owner,
    "enterprise_id": _number(Reach.OWNER),
    "workflow_ref": _workflow,
    "job_workflow_ref": _reusable_workflow,
    "ref": _ref,
    "environment": _environment,
    "event_name": lambda value, said: Scope(narrowed=value == "pull_request", why=said),
    "ref_protected": lambda value, said: Scope(narrowed=value == "true", why=said),
}
