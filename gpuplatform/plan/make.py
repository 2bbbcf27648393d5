"""`make`: a configuration becomes a plan, offline."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date

from gpuplatform.catalog import Catalog, load
from gpuplatform.config import Project, from_file
from gpuplatform.platform import Decision, decide

__all__ = ["Gpus", "Plan", "ResourceCount", "make"]


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
    """

    stack: str
    today: date
    decision: Decision
    gpus: tuple[Gpus, ...]
    resources: tuple[ResourceCount, ...]
    blocked: bool


def make(project: Project, stack: str, today: date) -> Plan:
    """The plan of `stack`.

    Raises:
        ConfigError: The stack's file is wrong, its SDK is not installed, or a pool cannot be built as asked.
    """
    config = from_file(project, stack)
    decision = decide(config, _catalogue(project, config.prices), today)
    blocked = bool(decision.failures)
    return Plan(
        stack=stack,
        today=today,
        decision=decision,
        gpus=_gpus(decision),
        resources=() if blocked else _resources(decision, stack),
        blocked=blocked,
    )


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


def _resources(decision: Decision, stack: str) -> tuple[ResourceCount, ...]:
    # Imported here: a blocked plan, and one of a configuration that is wrong, need no SDK.
    from gpuplatform.plan.recorder import record
    from gpuplatform.plan.sdk import build_of

    build = build_of(decision.config.cloud.provider)
    recording = record(lambda: build(decision), stack=stack)
    counts = Counter((resource.type, not resource.custom) for resource in recording.resources)
    return tuple(
        ResourceCount(type=type_, count=count, component=component)
        for (type_, component), count in counts.items()
        if not type_.startswith("pulumi:providers:")
    )
