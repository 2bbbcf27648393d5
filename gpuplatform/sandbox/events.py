"""What an operation did, read from the engine's event log: one JSON object a line.

The shape is apitype.EngineEvent in the engine's sdk/go/common/apitype/events.go. The log is written by the
engine itself, so it says the same whichever display the user chose.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Diagnostic", "Result", "Violation", "read"]

STACK_TYPE = "pulumi:pulumi:Stack"
SECRET_KEY = "4dabf18193072939515e22adb298388d"  # noqa: S105 - Pulumi's mark of a special value, no password
SECRET = "[secret]"  # noqa: S105 - what stands in a secret's place


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnostic:
    """A line that the engine, a provider or the program gave out."""

    severity: str
    """`error`, `warning` or `info`."""
    message: str
    urn: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Violation:
    """What a policy of a pack found."""

    pack: str
    policy: str
    message: str
    mandatory: bool
    urn: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """The end of an operation."""

    exit_code: int
    counts: Mapping[str, int]
    """Resources by what was done: create, update, delete, replace, same. The stack itself counts as one."""
    outputs: Mapping[str, Any]
    """The stack's outputs; a secret one is the text `[secret]`."""
    diagnostics: tuple[Diagnostic, ...]
    violations: tuple[Violation, ...]
    types: Mapping[str, int]
    """Resources that the program registered, by type token; without the stack and its default providers."""
    duration_seconds: float

    @property
    def changes(self) -> int:
        """Resources that did not stay the same."""
        return sum(count for operation, count in self.counts.items() if operation not in ("same", "read"))


def read(log: Path, exit_code: int, duration_seconds: float) -> Result:
    """Reads a log; one that does not exist belongs to a call that never reached the engine."""
    counts: dict[str, int] = {}
    outputs: dict[str, Any] = {}
    diagnostics: list[Diagnostic] = []
    violations: list[Violation] = []
    types: dict[str, str] = {}
    for event in _events(log):
        match event:
            case {"summaryEvent": summary}:
                counts = dict(summary.get("resourceChanges") or {})
            case {"resOutputsEvent": {"metadata": {"type": type_, "urn": urn, "new": {**new}}}}:
                if type_ == STACK_TYPE:
                    outputs = _plain(new.get("outputs") or {})
                elif not type_.startswith("pulumi:providers:"):
                    types[urn] = type_
            case {"diagnosticEvent": diagnostic} if diagnostic["severity"] != "debug":
                diagnostics.append(_diagnostic(diagnostic))
            case {"policyEvent": policy}:
                violations.append(_violation(policy))
    return Result(
        exit_code=exit_code,
        counts=counts,
        outputs=outputs,
        diagnostics=tuple(diagnostics),
        violations=tuple(violations),
        types=_tally(types.values()),
        duration_seconds=duration_seconds,
    )


def _events(log: Path) -> Iterator[dict[str, Any]]:
    if not log.is_file():
        return
    with log.open(encoding="utf-8") as lines:
        for line in lines:
            try:
                yield json.loads(line)
            except ValueError:
                return  # the last line of an engine that was killed while it wrote


def _diagnostic(event: Mapping[str, str]) -> Diagnostic:
    return Diagnostic(
        severity=event["severity"].removesuffix("#err"),
        message=event["message"].strip(),
        urn=event.get("urn", ""),
    )


def _violation(event: Mapping[str, Any]) -> Violation:
    return Violation(
        pack=event["policyPackName"],
        policy=event["policyName"],
        message=event["message"].strip(),
        mandatory=event["enforcementLevel"] == "mandatory",
        urn=event.get("resourceUrn", ""),
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return SECRET if SECRET_KEY in value else {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value


def _tally(types: Iterable[str]) -> dict[str, int]:
    tally: dict[str, int] = {}
    for type_ in types:
        tally[type_] = tally.get(type_, 0) + 1
    return dict(sorted(tally.items()))
