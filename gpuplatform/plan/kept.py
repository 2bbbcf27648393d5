"""What a stack's file keeps from a teardown, so that a state that does not can be told."""

from __future__ import annotations

from datetime import date

from gpuplatform.config import Project
from gpuplatform.plan.make import decided

__all__ = ["kept"]


def kept(project: Project, stack: str, today: date, *, name: str) -> frozenset[str]:
    """URNs of the resources that the stack's program would protect, as its file stands now.

    Args:
        project: The stack's project.
        stack: Its name.
        today: The day it is judged at.
        name: The project's name, which is part of every URN.

    Raises:
        ConfigError: The file is wrong, or the cloud's SDK is not installed.
        GuardrailError: A mandatory verdict forbids the stack.
    """
    from gpuplatform.plan.recorder import record
    from gpuplatform.plan.sdk import build_of

    decision = decided(project, stack, today)
    build = build_of(decision.config.cloud.provider)
    recording = record(lambda: build(decision), project=name, stack=stack)
    return frozenset(resource.urn for resource in recording.resources if resource.protect)
