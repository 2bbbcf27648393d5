"""What a security rule says about one resource, and what it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from gpuplatform.guardrails import RawResource, Status, Unknown
from gpuplatform.security.scope import Scope

__all__ = ["RULES", "Case", "Check", "Finding", "Rule", "Settings"]

Rule = Literal[
    "oidc-issuer",
    "oidc-subject",
    "oidc-audience",
    "trust-principal",
    "public-access",
    "open-port",
    "open-api-server",
    "encryption",
    "long-lived-key",
    "unprotected",
]

RULES: Final[tuple[str, ...]] = get_args(Rule)
"""The rules' names, in the order of docs/security.md."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an organisation may decide for itself.

    Attributes:
        github_owners: Owners whose repositories may be trusted; None: any that is named exactly.
        github_issuers: Own GitHub Enterprise Servers' issuers, judged like GitHub's.
        whole_repository: Whether a subject may leave branch and environment open (`repo:o/r:*`).
        owner_by_name: Whether a pool's provider may tell an owner by its name, which others can take over
            once it is given up, where the owner's number exists.
        customer_keys: Whether encryption with the cloud's own key breaks a rule; else it is a warning.
        ebs_encrypted_by_default: Whether the accounts encrypt EBS volumes by themselves.
        disposable: Environments whose data may go.
        advisory: Rules that never stop a deployment.
        exceptions: `RULE:NAME` of what is known and accepted; NAME is a resource's logical name.
        not_evaluated_fails: Whether a rule that could not be evaluated stops the deployment.
    """

    github_owners: tuple[str, ...] | None = None
    github_issuers: tuple[str, ...] = ()
    whole_repository: bool = False
    owner_by_name: bool = False
    customer_keys: bool = False
    ebs_encrypted_by_default: bool = False
    disposable: tuple[str, ...] = ("dev", "development", "test", "testing", "sandbox", "preview", "ci")
    advisory: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    not_evaluated_fails: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One rule's word on one resource; a rule that holds says nothing.

    Attributes:
        rule: Which rule.
        status: FAIL, WARN or NOT_EVALUATED.
        subject: The resource's logical name.
        where: Its URN.
        message: One sentence without a full stop.
        way_out: What to do about it.
        blocks: Whether it stops the deployment.
    """

    rule: Rule
    status: Status
    subject: str
    where: str
    message: str
    way_out: str = ""
    blocks: bool = False

    @property
    def sentence(self) -> str:
        """All of it in one line: `[rule] subject: message. Way out`."""
        text = f"[{self.rule}] {self.subject}: {self.message}"
        return f"{text}. {self.way_out[:1].upper()}{self.way_out[1:]}" if self.way_out else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One resource before its rules.

    Attributes:
        raw: The resource.
        settings: What the organisation decided.
        protected: Pulumi's own `protect` option.
        pools: Google workload identity pools seen so far, by ID, and whom their providers let in.
        mapped: What those providers put into each attribute, by pool.
    """

    raw: RawResource
    settings: Settings
    protected: bool = False
    pools: dict[str, Scope] = field(default_factory=dict)
    mapped: dict[str, dict[str, str]] = field(default_factory=dict)

    def fail(self, rule: Rule, message: str, way_out: str) -> Finding:
        """The rule is broken."""
        return self._finding(Status.FAIL, rule, message, way_out)

    def warn(self, rule: Rule, message: str, way_out: str) -> Finding:
        """The rule holds, with something to know."""
        return self._finding(Status.WARN, rule, message, way_out)

    def undecided(self, rule: Rule, unknown: Unknown | str) -> Finding:
        """Something needed is not known, so the rule says neither yes nor no."""
        return self._finding(Status.NOT_EVALUATED, rule, str(unknown), "")

    def _finding(self, status: Status, rule: Rule, message: str, way_out: str) -> Finding:
        return Finding(
            rule=rule,
            status=status,
            subject=self.raw.name,
            where=self.raw.urn,
            message=message,
            way_out=way_out,
        )


Check = Callable[[Case], Iterator[Finding]]
"""A rule over one resource."""
