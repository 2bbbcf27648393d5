"""The pack of security rules, `policies/security`: what is judged, and how, is `gpuplatform.security`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)

from gpuplatform import security
from gpuplatform.errors import ConfigError
from gpuplatform.policy import schema, serving
from gpuplatform.policy.operation import Operation, StackConfig
from gpuplatform.policy.plain import of_args
from gpuplatform.security import Finding, Settings, Survey

__all__ = [
    "NAME",
    "NOTES",
    "PACK",
    "POLICY_NAMES",
    "SCHEMA",
    "SECURITY",
    "SecurityOperation",
    "policies",
    "run",
]

NAME: Final = "gpuplatform-security"
SECURITY: Final = "security"
NOTES: Final = "security-notes"
POLICY_NAMES: Final = (SECURITY, NOTES)

_CHOICE: Final = {"type": "string", "enum": ["accept", "refuse"]}
_RULES: Final = {"type": "string", "enum": list(security.RULES)}

SCHEMA: Final[dict[str, dict[str, Any]]] = {
    "githubOwners": {
        **schema.NAMES,
        "description": "Owners on GitHub whose repositories may be trusted; if left out, any that is named.",
    },
    "githubIssuers": {
        **schema.NAMES,
        "description": "Issuers of GitHub Enterprise Servers of your own, judged like GitHub's.",
    },
    "wholeRepository": {
        **_CHOICE,
        "description": "accept: a subject may leave branch and environment open, such as repo:ORG/REPO:*.",
    },
    "ownerByName": {
        **_CHOICE,
        "description": "accept: a pool's provider may tell the owner by name alone, not by number.",
    },
    "customerKeys": {
        "type": "string",
        "enum": ["warn", "fail"],
        "description": "fail: encryption with the cloud's own key is not enough.",
    },
    "ebsEncryptedByDefault": {
        "type": "boolean",
        "description": "The accounts encrypt EBS volumes by themselves.",
    },
    "disposable": {
        "type": "array",
        "items": {"type": "string", "minLength": 1},
        "description": "Environments whose data may go, by tag or by the last word of the stack's name.",
    },
    "advisory": {
        "type": "array",
        "items": _RULES,
        "description": "Rules that never stop a deployment.",
    },
    "exceptions": {
        "type": "array",
        "items": {"type": "string", "pattern": "^[a-z-]+:.+$"},
        "description": "What is known and accepted: RULE:NAME, a resource's logical name; it stays a note.",
    },
    "notEvaluated": {
        "type": "string",
        "enum": ["warn", "fail"],
        "description": "Whether a rule that could not be evaluated blocks the deployment.",
    },
}
"""The configuration of each policy of the pack; what is set on one of them holds for both."""

PACK: Final = serving.Pack(
    name=NAME,
    display_name="Security",
    description="Trust, exposure, encryption, keys and protection of data, before anything is created.",
    watcher=SECURITY,
    concerns=security.concerns,
    reads_outputs=False,
)


class SecurityOperation(Operation[Settings]):
    """What the engine said so far, and what blocks nothing but is to be said at the end."""

    def _begin(self) -> None:
        super()._begin()
        self.notes: list[Finding] = []

    def _forget(self) -> None:
        super()._forget()
        self._survey: Survey | None = None

    def _load(self, pack: Mapping[str, Mapping[str, Any]], stack: StackConfig | None) -> Settings:
        del stack
        schema.check(pack, POLICY_NAMES, SCHEMA)
        return _settings(_merged(pack.values()))

    def see(self, args: ResourceValidationArgs) -> tuple[Finding, ...]:
        """What blocks, of one resource's inputs; the rest is kept for the end."""
        if self._survey is None:
            self._survey = Survey(self.settings)
        found = self._survey.judge(of_args(args), protected=bool(args.opts.protect))
        self.notes += [finding for finding in found if not finding.blocks]
        return tuple(finding for finding in found if finding.blocks)


def policies(operation: SecurityOperation) -> list[Policy]:
    """Two: every rule in one, as the SDK reads all properties anew for each, and what blocks nothing."""
    return [
        ResourceValidationPolicy(
            name=SECURITY,
            description="Trust, exposure, encryption, keys and protection of data.",
            validate=lambda args, report: _security(operation, args, report),
            enforcement_level=EnforcementLevel.MANDATORY,
            config_schema=PolicyConfigSchema(SCHEMA),
            severity=Severity.HIGH,
        ),
        StackValidationPolicy(
            name=NOTES,
            description="What could not be evaluated, is accepted as an exception, or could be better.",
            validate=lambda args, report: _notes(operation, args, report),
            enforcement_level=EnforcementLevel.ADVISORY,
            config_schema=PolicyConfigSchema(SCHEMA),
            severity=Severity.LOW,
        ),
    ]


def run() -> None:
    """Serves the pack to the engine that started this process; returns when the engine ends it."""
    operation = SecurityOperation()
    serving.serve(PACK, operation, policies(operation))


def _security(operation: SecurityOperation, args: ResourceValidationArgs, report: ReportViolation) -> None:
    found = operation.see(args)
    if not operation.silent:
        serving.tell(report, found)


def _notes(operation: SecurityOperation, args: StackValidationArgs, report: ReportViolation) -> None:
    del args
    serving.tell(report, operation.notes)


def _merged(configs: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """One configuration of the policies' own: no key may mean two things."""
    merged: dict[str, Any] = {}
    for config in configs:
        for key, value in config.items():
            if merged.setdefault(key, value) != value:
                what = f"{key} is set twice, to {merged[key]!r} and to {value!r}"
                raise ConfigError(what, where=schema.WHERE, way_out=f"set it on {SECURITY}")
    return merged


def _settings(config: Mapping[str, Any]) -> Settings:
    for one in config.get("exceptions", ()):
        rule, colon, name = one.partition(":")
        if rule not in security.RULES or not (colon and name):
            what = f"{one!r} is no exception"
            rules = f"RULE:NAME; the rules are {', '.join(security.RULES)}"
            raise ConfigError(what, where=f"{schema.WHERE}: {SECURITY}.exceptions", rule=rules)
    plain = Settings()
    return Settings(
        github_owners=tuple(config["githubOwners"]) if "githubOwners" in config else None,
        github_issuers=tuple(config.get("githubIssuers", ())),
        whole_repository=config.get("wholeRepository") == "accept",
        owner_by_name=config.get("ownerByName") == "accept",
        customer_keys=config.get("customerKeys") == "fail",
        ebs_encrypted_by_default=config.get("ebsEncryptedByDefault", False),
        disposable=tuple(name.casefold() for name in config.get("disposable", plain.disposable)),
        advisory=tuple(config.get("advisory", ())),
        exceptions=tuple(config.get("exceptions", ())),
        not_evaluated_fails=config.get("notEvaluated") == "fail",
    )
