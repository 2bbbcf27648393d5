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
    if scope.reach is Reach.ANYONE:
        yield case.fail("oidc-subject", f"trusts workflows of repositories that are not named{why}", WAY_OUT)
    elif scope.reach is Reach.OWNER:
        whose = scope.owner or "an owner"
        message = f"trusts repositories of {whose} that are not named{why}: those of tomorrow as well"
        yield case.fail("oidc-subject", message, WAY_OUT)
    elif (foreign := _foreign(scope, case)) is not None:
        yield foreign
    elif scope.pull_ref:
        yield case.fail(
            "oidc-subject",
            f"trusts the ref of a pull request{why}, whose author may be anybody",
            "name an environment or a branch; for previews repo:ORG/REPO:pull_request, which forks do not get",
        )
    elif not scope.narrowed and not case.settings.whole_repository:
        message = f"trusts every branch, tag, environment and pull request of the repository{why}"
        yield case.fail("oidc-subject", message, f"{WAY_OUT}; or set wholeRepository to accept")


def _foreign(scope: Scope, case: Case) -> Finding | None:
    allowed = case.settings.github_owners
    if allowed is not None:
        known = {owner.casefold() for owner in allowed}
        if scope.owner and scope.owner.casefold() not in known:
            return case.fail(
                "oidc-subject",
                f"trusts a repository of {scope.owner} ({scope.why}); allowed owners: {', '.join(allowed) or 'none'}",
                "name a repository of one of these, or add the owner to githubOwners",
            )
        if not scope.owner:
            return case.undecided(
                "oidc-subject",
                f"which owner the repository has is not spelled ({scope.why}), and githubOwners is set",
            )
    other = scope.workflow_owner.casefold()
    own = {scope.owner.casefold()} | {owner.casefold() for owner in allowed or ()}
    if other and scope.owner and other not in own:
        return case.fail(
            "oidc-subject",
            f"trusts a workflow file of {scope.workflow_owner} ({scope.why}), which the repository's owner does not control",
            "call a workflow of the repository's own owner, or add the other one to githubOwners",
        )
    return None


def imitation(issuer: str, case: Case) -> Finding:
    """An issuer that only looks like GitHub's."""
    return case.fail(
        "oidc-issuer",
        f"trusts the issuer {issuer}, which is not GitHub's but looks like it",
        f"it is exactly https://{GITHUB}; a server of your own goes into githubIssuers",
    )
