"""What every cloud's trust in GitHub is judged by."""

from __future__ import annotations

from collections.abc import Iterator

from gpuplatform.security.finding import Case, Finding
from gpuplatform.security.issuer import GITHUB
from gpuplatform.security.scope import Reach, Scope

__all__ = ["WAY_OUT", "imitation", "judge_scope", "scope_is_narrow"]

WAY_OUT = (
    "name repository and environment or branch exactly, such as repo:ORG/REPO:environment:prod "
    "or repo:ORG@ID/REPO@ID:environment:prod"
)


def scope_is_narrow(scope: Scope, case: Case) -> bool:
    """Whether the scope breaks no rule."""
    return next(judge_scope(scope, case), None) is None


def judge_scope(scope: Scope, case: Case) -> Iterator[Finding]:
    """The first rule that whom a condition lets in breaks."""
    why = f" ({scope.why})" if scope.why else ""
    named = ", ".join(sorted(scope.owners - {""})) or "an owner"
    if scope.reach is Reach.ANYONE:
        yield case.fail("oidc-subject", f"trusts workflows of repositories that are not named{why}", WAY_OUT)
    elif scope.reach is Reach.OWNER:
        message = f"trusts repositories of {named} that are not named{why}: those of tomorrow as well"
        yield case.fail("oidc-subject", message, WAY_OUT)
    elif (foreign := _foreign(scope, case)) is not None:
        yield foreign
    elif scope.pull_ref:
        yield case.fail(
            "oidc-subject",
            f"trusts the ref of a pull request{why}, whose author may be anybody",
            "name an environment or a branch; previews: repo:ORG/REPO:pull_request, which forks do not get",
        )
    elif not scope.narrowed and not case.settings.whole_repository:
        message = f"trusts every branch, tag, environment and pull request of the repository{why}"
        yield case.fail("oidc-subject", message, f"{WAY_OUT}; or set wholeRepository to accept")


def _foreign(scope: Scope, case: Case) -> Finding | None:
    """A repository or a workflow file of somebody else."""
    allowed = case.settings.github_owners
    known = {owner.casefold() for owner in allowed or ()}
    strangers = sorted(owner for owner in scope.owners if owner and owner.casefold() not in known)
    if allowed is not None and strangers:
        listed = ", ".join(allowed)
        message = f"trusts a repository of {strangers[0]} ({scope.why}); allowed owners: {listed}"
        return case.fail("oidc-subject", message, "name one of theirs, or add the owner to githubOwners")
    if allowed is not None and "" in scope.owners:
        message = f"whose repository it is is not spelled ({scope.why}), and githubOwners is set"
        return case.undecided("oidc-subject", message)
    other = scope.workflow_owner
    if (
        other
        and scope.owners - {""}
        and other.casefold() not in known | {one.casefold() for one in scope.owners}
    ):
        message = (
            f"trusts a workflow file of {other} ({scope.why}), which the repository's owner does not control"
        )
        return case.fail(
            "oidc-subject", message, "call one of the same owner, or add the other to githubOwners"
        )
    return None


def imitation(issuer: str, case: Case) -> Finding:
    """An issuer that only looks like GitHub's."""
    return case.fail(
        "oidc-issuer",
        f"trusts the issuer {issuer}, which is not GitHub's but looks like it",
        f"it is exactly https://{GITHUB}; a server of your own goes into githubIssuers",
    )
