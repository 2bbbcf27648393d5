"""`make`: a configuration becomes a plan, offline."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from gpuplatform.catalog import Catalog, load
from gpuplatform.config import Project, from_file
from gpuplatform.plan.changes import Changes
from gpuplatform.platform import Decision, decide

if TYPE_CHECKING:
    from gpuplatform.plan.recorder import Recording

__all__ = ["Gpus", "Plan", "ResourceCount", "decided", "make"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpus:
    """GPUs of one model at the autoscaler's bounds, in whole GPUs as nodes advertise them."""

    model: str
    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceCount:
    """How many resources of one type would exist, components apart from what the cloud sees."""

    type: str
    count: int
    component: bool


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What `pulumi up` would do for one stack.

    Attributes:
        stack: The stack's name.
        today: The day it was judged at.
        decision: Profiles, verdicts and cost.
        gpus: GPUs by model.
        resources: Counts by type, in the order of their first registration; empty where `blocked`.
        blocked: Whether a mandatory verdict fails, so that nothing would be registered.
        changes: What an update of the given state would do; None without a state, and where `blocked`.
    """

    stack: str
    today: date
    decision: Decision
    gpus: tuple[Gpus, ...]
    resources: tuple[ResourceCount, ...]
    blocked: bool
    changes: Changes | None = None


def make(project: Project, stack: str, today: date, state: Path | None = None) -> Plan:
    """The plan of `stack`, against an exported state where one is given.

    Raises:
        ConfigError: The stack's file or the state's is wrong, the cloud's SDK is not installed, or a pool
            cannot be built as asked.
    """
    decision = decided(project, stack, today)
    blocked = bool(decision.failures)
    recording, changes = (None, None) if blocked else _recorded(decision, stack, state)
    return Plan(
        stack=stack,
        today=today,
        decision=decision,
        gpus=_gpus(decision),
        resources=() if recording is None else _resources(recording),
        blocked=blocked,
        changes=changes,
    )


def decided(project: Project, stack: str, today: date) -> Decision:
    """Profiles, verdicts and cost of `stack`, without its resources.

    Raises:
        ConfigError: The stack's file is wrong, or a pool cannot be built as asked.
    """
    config = from_file(project, stack)
    return decide(config, _catalogue(project, config.prices), today)


def _catalogue(project: Project, prices: str | None) -> Catalog:
    return load() if prices is None else load().with_prices(project.config_dir / prices)


def _gpus(decision: Decision) -> tuple[Gpus, ...]:
    minimum: Counter[str] = Counter()
    maximum: Counter[str] = Counter()
    pools = {pool.name: pool for pool in decision.config.node_pools}
    for profile in decision.profiles:
        nodes = pools[profile.pool].nodes
        minimum[profile.gpu_model] += profile.gpus * nodes.min
        maximum[profile.gpu_model] += profile.gpus * nodes.max
    return tuple(Gpus(model=model, minimum=minimum[model], maximum=maximum[model]) for model in maximum)


def _recorded(decision: Decision, stack: str, state: Path | None) -> tuple[Recording, Changes | None]:
    # Imported here: a blocked plan, and one of a configuration that is wrong, need no SDK.
    from gpuplatform.plan.recorder import record
    from gpuplatform.plan.sdk import build_of

    build = build_of(decision.config.cloud.provider)
    if state is None:
        return record(lambda: build(decision), stack=stack), None
    from gpuplatform.plan.against import against
    from gpuplatform.plan.state import read_state

    changes, recording = against(read_state(state, stack), lambda: build(decision), stack=stack)
    return recording, changes


def _resources(recording: Recording) -> tuple[ResourceCount, ...]:
    counts = Counter((resource.type, not resource.custom) for resource in recording.resources)
    return tuple(
        ResourceCount(type=type_, count=count, component=component)
        for (type_, component), count in counts.items()
        if not type_.startswith("pulumi:providers:")
    )
