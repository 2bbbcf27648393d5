"""What a guardrail says about one subject."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, Protocol

__all__ = ["STACK", "Rule", "Status", "Subject", "Verdict", "fail", "not_evaluated", "passed", "warn"]

Rule = Literal[
    "machine",
    "gpu-pool",
    "gpu-model",
    "retired",
    "offered",
    "zone",
    "region",
    "fabric",
    "kubernetes-version",
    "price-age",
    "budget",
    "expires",
]


class Status(StrEnum):
    """The outcome of one rule on one subject."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    WARN = "warn"
    FAIL = "fail"
    NOT_EVALUATED = "not evaluated"
    """Something needed is not known. Never read as a pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One rule's outcome.

    Attributes:
        rule: Which rule.
        status: The outcome.
        subject: Pool, cluster, or `stack` for what concerns all of it.
        where: Path in the configuration, or URN; empty for the stack.
        message: One sentence without a full stop.
        way_out: What to do about it; empty for a pass.
        mandatory: Whether a FAIL or NOT_EVALUATED of this verdict stops a deployment.
    """

    rule: Rule
    status: Status
    subject: str
    where: str
    message: str
    way_out: str = ""
    mandatory: bool

    @property
    def blocks(self) -> bool:
        """Whether it stops the deployment."""
        return self.mandatory and self.status in {Status.FAIL, Status.NOT_EVALUATED}

    @property
    def sentence(self) -> str:
        """All of it in one line: `[rule] subject: message. Way out`."""
        text = f"[{self.rule}] {self.subject}: {self.message}"
        return f"{text}. {self.way_out[:1].upper()}{self.way_out[1:]}" if self.way_out else text


class Subject(Protocol):
    """What a verdict is about."""

    @property
    def name(self) -> str:
        """What its owner calls it."""

    @property
    def where(self) -> str:
        """Path in the configuration, or URN."""


@dataclass(frozen=True, slots=True)
class _Stack:
    name: str = "stack"
    where: str = ""


STACK: Final[Subject] = _Stack()
"""The deployment as a whole."""


def passed(rule: Rule, subject: Subject, message: str) -> Verdict:
    """The rule holds."""
    return _verdict(Status.PASS, rule, subject, message, "")


def warn(rule: Rule, subject: Subject, message: str, way_out: str = "") -> Verdict:
    """The rule holds, with something to know."""
    return _verdict(Status.WARN, rule, subject, message, way_out)


def fail(rule: Rule, subject: Subject, message: str, way_out: str = "") -> Verdict:
    """The rule is broken."""
    return _verdict(Status.FAIL, rule, subject, message, way_out)


def not_evaluated(rule: Rule, subject: Subject, message: str, way_out: str = "") -> Verdict:
    """Something is not known. `judge` decides whether that stops a deployment."""
    return _verdict(Status.NOT_EVALUATED, rule, subject, message, way_out)


def _verdict(status: Status, rule: Rule, subject: Subject, message: str, way_out: str) -> Verdict:
    return Verdict(
        rule=rule,
        status=status,
        subject=subject.name,
        where=subject.where,
        message=message,
        way_out=way_out,
        mandatory=status is Status.FAIL,
    )
