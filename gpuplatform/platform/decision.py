"""Everything that is decided before the first resource: profiles, verdicts, cost; pure, no Pulumi."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from gpuplatform.catalog import Catalog
from gpuplatform.config import Platform
from gpuplatform.errors import GuardrailError
from gpuplatform.guardrails import Cost, Verdict, cost, footprint_of_config, judge, limits_of_config
from gpuplatform.platform.preconditions import preconditions_of
from gpuplatform.profile import NodeProfile, node_profile, operator_values
from gpuplatform.profile.queues import Queue, queues_of
from gpuplatform.storage import StoragePlan, storage_plans

__all__ = ["Decision", "decide"]


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What a configuration means.

    Attributes:
        config: The configuration itself.
        profiles: One a pool, in the configuration's order; a pool on a machine that does not exist or has no
            GPU has none, and a failing verdict says so.
        queues: What jobs wait in: one a workload class; empty where there is none.
        storage: One a storage tier, in the configuration's order.
        verdicts: What the guardrails say.
        cost: What a month costs at the autoscaler's minimum and maximum.
    """

    config: Platform
    profiles: tuple[NodeProfile, ...]
    queues: tuple[Queue, ...] = ()
    storage: tuple[StoragePlan, ...] = ()
    verdicts: tuple[Verdict, ...]
    cost: Cost

    @property
    def preconditions(self) -> tuple[tuple[str, str], ...]:
        """What a person must have done before, each with what it is for."""
        return preconditions_of(self.config, self.profiles, self.storage)

    @property
    def failures(self) -> tuple[Verdict, ...]:
        """The verdicts that forbid the deployment."""
        return tuple(verdict for verdict in self.verdicts if verdict.blocks)

    def check(self) -> None:
        """Refuses a deployment that a mandatory verdict forbids.

        Raises:
            GuardrailError: At least one does; each is named with its way out.
        """
        if self.failures:
            lines = [
                f"{verdict.rule}: {verdict.message}"
                + (f"\n  way out: {verdict.way_out}" if verdict.way_out else "")
                for verdict in self.failures
            ]
            raise GuardrailError("\n".join(lines), rule="nothing is created while a mandatory verdict fails")


def decide(config: Platform, catalog: Catalog, today: date) -> Decision:
    """What `config` means on the day `today`.

    Raises:
        Refusal: A pool or a tier cannot be built as asked; the sentence says why and what to use instead.
    """
    footprint = footprint_of_config(config)
    skus = ((pool, catalog.sku(config.cloud.provider, pool.sku)) for pool in config.node_pools)
    profiles = tuple(node_profile(pool, sku) for pool, sku in skus if sku is not None)
    if profiles:
        operator_values(profiles)  # refuses pools that no one operator can serve
    return Decision(
        config=config,
        profiles=profiles,
        queues=queues_of(config.workload_classes, profiles),
        storage=storage_plans(config, profiles),
        verdicts=judge(footprint, limits_of_config(config), catalog, today),
        cost=cost(footprint, catalog, today),
    )
