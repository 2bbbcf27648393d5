"""A plan as JSON, with a schema of its own and a version.

The version is raised when a field is removed or means something else; a new field leaves it as it is.
Amounts are US dollars, a month has 730 hours, and `null` means "not known", never zero.
"""

from __future__ import annotations

import datetime as dt
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from gpuplatform.guardrails import HOURS_A_MONTH, NOT_COUNTED, CostLine, Verdict
from gpuplatform.plan import Changes, Plan
from gpuplatform.profile import NodeProfile
from gpuplatform.report.tiers import tier_of
from gpuplatform.storage import StoragePlan

__all__ = ["VERSION", "PlanDocument", "document"]

VERSION: Literal[1] = 1


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BoundsPart(_Part):
    """The autoscaler's bounds."""

    minimum: int
    maximum: int


class PoolPart(_Part):
    """One GPU pool."""

    name: str
    sku: str
    gpu_model: str
    gpus_per_node: int
    nodes: BoundsPart
    capacity: str
    capacity_id: str = Field(description="The reservation or capacity block; empty where there is none.")
    fabric: str = Field(description="Efa, InfiniBand, Tcpx, Tcpxo, Roce, NvlinkDomain or NoFabric.")
    driver_owner: str = Field(description="AmiDriver, GkeDriver, AksDriver or OperatorDriver.")
    image: str
    local_disks: str = Field(description="ephemeral, raw or none.")
    advertised: dict[str, int] = Field(description="Extended resources of one node, as pods ask for them.")
    preconditions: tuple[str, ...] = Field(description="What a person must have done before.")


class TierPart(_Part):
    """One storage tier."""

    name: str
    tier: Literal["object", "shared-filesystem", "block"]
    what: str = Field(description="The bucket's name, the file system's service, or the StorageClasses.")
    capacity_gib: int | None = Field(description="Null where it grows by itself.")
    throughput_mbps_per_tib: int | None
    zone: str = Field(description="Where it stands; empty where it belongs to the region.")
    source: str = Field(description="The object tier that it is linked to; empty for none.")
    cache_gib: int | None = Field(description="Of each node's local disks; null without a cache.")
    cached_on: tuple[str, ...] = Field(description="Pools whose nodes cache it.")
    kept: bool = Field(description="Whether a teardown leaves it alone.")


class TeamPart(_Part):
    """One team."""

    name: str = Field(description="Its namespace too.")
    storage: tuple[str, ...] = Field(description="Tiers that it reads and writes.")


class PreconditionPart(_Part):
    """What a person must have done before a deployment."""

    subject: str = Field(description="A pool's or a tier's name, `budget` or `identity`.")
    sentence: str


class GpuPart(_Part):
    """GPUs of one model over all pools."""

    model: str
    minimum: int
    maximum: int


class CostLinePart(_Part):
    """One node pool or the control plane."""

    subject: str
    item: str
    usd_per_hour: float | None
    count_minimum: int | None
    count_maximum: int | None
    month_minimum_usd: float | None
    month_maximum_usd: float | None
    basis: str
    price_date: dt.date | None
    origin: str = Field(description="`catalogue`, or the file of the stack's own prices.")


class CostPart(_Part):
    """A month's cost."""

    hours_a_month: int
    minimum_usd: float | None
    maximum_usd: float | None
    priced_part_of_maximum_usd: float
    lines: tuple[CostLinePart, ...]
    unpriced: tuple[str, ...]
    not_counted: tuple[str, ...]


class VerdictPart(_Part):
    """One guardrail's verdict on one subject."""

    rule: str
    status: Literal["pass", "warn", "fail", "not evaluated"]
    subject: str
    where: str
    message: str
    way_out: str
    blocks: bool = Field(description="Whether it stops the deployment.")


class ResourcePart(_Part):
    """How many resources of one type."""

    type: str
    count: int
    component: bool


class StepPart(_Part):
    """What an update would do to one resource."""

    action: Literal["create", "update", "replace", "delete", "forget"] = Field(
        description="forget: it stays in the cloud and leaves the state."
    )
    type: str
    name: str
    component: str = Field(description="The component that it is part of; empty where it stands alone.")
    urn: str
    changed: tuple[str, ...] = Field(description="Inputs that change.")
    because: tuple[str, ...] = Field(description="Those that force the replacement.")
    refused: tuple[str, ...] = Field(
        description="Those that the cloud will not change: the update will fail."
    )
    protected: bool = Field(description="The engine refuses to replace or delete it.")


class ChangesPart(_Part):
    """What an update of the given state would do."""

    steps: tuple[StepPart, ...]
    same: int
    not_compared: tuple[str, ...] = Field(description="Inputs that are secret in the export.")
    interrupted: tuple[str, ...] = Field(description="Operations that an earlier update did not end.")


class PlanDocument(_Part):
    """What `gpuplatform plan STACK --json` prints."""

    version: Literal[1]
    stack: str
    platform: str
    environment: str
    cloud: Literal["aws", "azure", "gcp"]
    region: str
    kubernetes_version: str
    today: dt.date = Field(description="The day that prices, retirements and versions were judged at.")
    blocked: bool = Field(description="Whether a mandatory verdict fails; nothing would be created then.")
    pools: tuple[PoolPart, ...]
    gpus: tuple[GpuPart, ...]
    storage: tuple[TierPart, ...] = ()
    teams: tuple[TeamPart, ...] = ()
    expires: dt.date | None = Field(default=None, description="The last day of the environment.")
    uptime: str | None = Field(default=None, description="When it is up; null for always.")
    preconditions: tuple[PreconditionPart, ...] = Field(default=(), description="Those of the pools, too.")
    cost: CostPart
    verdicts: tuple[VerdictPart, ...]
    resources: tuple[ResourcePart, ...] = Field(description="Empty where the plan is blocked.")
    changes: ChangesPart | None = Field(
        default=None, description="With --against-state; null without, and where the plan is blocked."
    )


def document(plan: Plan) -> PlanDocument:
    """The plan as data."""
    config, cost = plan.decision.config, plan.decision.cost
    return PlanDocument(
        version=VERSION,
        stack=plan.stack,
        platform=config.name,
        environment=config.environment,
        cloud=config.cloud.provider,
        region=config.cloud.region,
        kubernetes_version=config.cluster.kubernetes_version,
        today=plan.today,
        blocked=plan.blocked,
        pools=tuple(_pool(plan, profile) for profile in plan.decision.profiles),
        gpus=tuple(GpuPart(model=g.model, minimum=g.minimum, maximum=g.maximum) for g in plan.gpus),
        storage=tuple(map(_tier, plan.decision.storage)),
        teams=tuple(TeamPart(name=team.name, storage=team.storage) for team in config.teams),
        expires=config.expires,
        uptime=None if config.uptime is None else str(config.uptime),
        preconditions=tuple(
            PreconditionPart(subject=subject, sentence=sentence)
            for subject, sentence in plan.decision.preconditions
        ),
        cost=CostPart(
            hours_a_month=HOURS_A_MONTH,
            minimum_usd=_number(cost.minimum),
            maximum_usd=_number(cost.maximum),
            priced_part_of_maximum_usd=round(float(cost.priced_maximum), 2),
            lines=tuple(map(_line, cost.lines)),
            unpriced=cost.unpriced,
            not_counted=NOT_COUNTED,
        ),
        verdicts=tuple(map(_verdict, plan.decision.verdicts)),
        resources=tuple(
            ResourcePart(type=part.type, count=part.count, component=part.component)
            for part in plan.resources
        ),
        changes=None if plan.changes is None else _changes(plan.changes),
    )


def _changes(changes: Changes) -> ChangesPart:
    return ChangesPart(
        steps=tuple(
            StepPart(
                action=step.action,
                type=step.type,
                name=step.name,
                component=step.component,
                urn=step.urn,
                changed=step.changed,
                because=step.because,
                refused=step.refused,
                protected=step.protected,
            )
            for step in changes.steps
        ),
        same=changes.same,
        not_compared=changes.not_compared,
        interrupted=changes.interrupted,
    )


def _pool(plan: Plan, profile: NodeProfile) -> PoolPart:
    pool = next(pool for pool in plan.decision.config.node_pools if pool.name == profile.pool)
    return PoolPart(
        name=profile.pool,
        sku=profile.sku,
        gpu_model=profile.gpu_model,
        gpus_per_node=profile.gpus,
        nodes=BoundsPart(minimum=pool.nodes.min, maximum=pool.nodes.max),
        capacity=pool.capacity.kind,
        capacity_id=profile.capacity.id,
        fabric=type(profile.fabric).__name__,
        driver_owner=type(profile.driver).__name__,
        image=profile.image,
        local_disks=profile.local_disks.mode,
        advertised=profile.advertised,
        preconditions=profile.preconditions,
    )


def _tier(plan: StoragePlan) -> TierPart:
    tier = tier_of(plan)
    return TierPart(
        name=tier.name,
        tier=tier.tier,
        what=tier.what,
        capacity_gib=tier.capacity_gib,
        throughput_mbps_per_tib=tier.throughput,
        zone=tier.zone,
        source=tier.source,
        cache_gib=tier.cache_gib,
        cached_on=tier.cached_on,
        kept=tier.kept,
    )


def _line(line: CostLine) -> CostLinePart:
    return CostLinePart(
        subject=line.subject,
        item=line.item,
        usd_per_hour=None if line.usd_per_hour is None else float(line.usd_per_hour),
        count_minimum=line.minimum_count,
        count_maximum=line.maximum_count,
        month_minimum_usd=_number(line.minimum),
        month_maximum_usd=_number(line.maximum),
        basis=line.basis,
        price_date=line.date,
        origin=line.origin,
    )


def _verdict(verdict: Verdict) -> VerdictPart:
    return VerdictPart(
        rule=verdict.rule,
        status=verdict.status.value,
        subject=verdict.subject,
        where=verdict.where,
        message=verdict.message,
        way_out=verdict.way_out,
        blocks=verdict.blocks,
    )


def _number(amount: object) -> float | None:
    return None if amount is None else round(float(str(amount)), 2)
