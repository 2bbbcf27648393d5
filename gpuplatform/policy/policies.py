"""The pack's policies: few, each dispatching on the type, as the SDK reads all properties anew for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

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

from gpuplatform.guardrails import Footprint, Inventory, Status, Verdict, judge, judge_money, judge_parts
from gpuplatform.policy.plain import of_args
from gpuplatform.policy.serving import tell
from gpuplatform.policy.session import Session
from gpuplatform.policy.settings import SCHEMA, Settings

__all__ = ["BUDGET", "MACHINE", "NOTES", "PLACEMENT", "policies"]

MACHINE: Final = "gpu-machine"
PLACEMENT: Final = "gpu-placement"
BUDGET: Final = "gpu-budget"
NOTES: Final = "gpu-notes"

Judge = Callable[[Footprint, Settings], Iterable[Verdict]]


def policies(session: Session) -> list[Policy]:
    """The policies, sharing what the engine told `session`."""
    return [
        ResourceValidationPolicy(
            name=MACHINE,
            description="Machine types exist, fit their pool, still live, are sold and allowed there.",
            validate=lambda args, report: _machine(session, args, report),
            enforcement_level=EnforcementLevel.MANDATORY,
            config_schema=PolicyConfigSchema(SCHEMA),
            severity=Severity.HIGH,
        ),
        StackValidationPolicy(
            name=PLACEMENT,
            description="The same across resources: launch templates, subnets, a cluster's region.",
            validate=lambda args, report: _stack(session, args, report, _placement(session)),
            enforcement_level=EnforcementLevel.MANDATORY,
            config_schema=PolicyConfigSchema(SCHEMA),
            severity=Severity.HIGH,
        ),
        StackValidationPolicy(
            name=BUDGET,
            description="A month at the autoscaler's maximum stays within the budget.",
            validate=lambda args, report: _stack(session, args, report, _judge_money),
            enforcement_level=EnforcementLevel.MANDATORY,
            config_schema=PolicyConfigSchema(SCHEMA),
            severity=Severity.HIGH,
        ),
        StackValidationPolicy(
            name=NOTES,
            description="What could not be evaluated, and what is about to become a problem.",
            validate=lambda args, report: _notes(session, args, report),
            enforcement_level=EnforcementLevel.ADVISORY,
            config_schema=PolicyConfigSchema(SCHEMA),
            severity=Severity.LOW,
        ),
    ]


def _machine(session: Session, args: ResourceValidationArgs, report: ReportViolation) -> None:
    """One resource by its inputs; in an update also the budget so far, since stack policies run after it."""
    if not Inventory.concerns(args.resource_type):
        return
    footprint, settings = session.see(of_args(args)), session.settings
    if session.silent:
        return
    verdicts = _judge_parts(footprint, settings)
    if not session.previewing and footprint != Footprint():
        verdicts += _judge_money(session.so_far(), settings)
    # What is not evaluated here may be once all resources are known: `gpu-placement` and `gpu-budget` say.
    tell(report, (verdict for verdict in verdicts if verdict.status is Status.FAIL and verdict.blocks))


def _stack(session: Session, args: StackValidationArgs, report: ReportViolation, judge_: Judge) -> None:
    verdicts = judge_(session.whole(args.resources), session.settings)
    tell(report, (verdict for verdict in verdicts if verdict.blocks))


def _placement(session: Session) -> Judge:
    def judge_(footprint: Footprint, settings: Settings) -> Iterable[Verdict]:
        for verdict in _judge_parts(footprint, settings):
            # `gpu-machine` reports what fails by itself; what it could not evaluate is left to this policy.
            if verdict.status is Status.FAIL:
                told = _judge_parts(session.alone(verdict.where), settings)
                if any((one.rule, one.message) == (verdict.rule, verdict.message) for one in told):
                    continue
            yield verdict

    return judge_


def _judge_parts(footprint: Footprint, settings: Settings) -> tuple[Verdict, ...]:
    return judge_parts(footprint, settings.limits, settings.catalog, settings.today)


def _judge_money(footprint: Footprint, settings: Settings) -> tuple[Verdict, ...]:
    return judge_money(footprint, settings.limits, settings.catalog, settings.today)


def _notes(session: Session, args: StackValidationArgs, report: ReportViolation) -> None:
    settings = session.settings
    verdicts = judge(session.whole(args.resources), settings.limits, settings.catalog, settings.today)
    tell(
        report,
        (
            verdict
            for verdict in verdicts
            if verdict.status in {Status.WARN, Status.NOT_EVALUATED} and not verdict.blocks
        ),
    )
