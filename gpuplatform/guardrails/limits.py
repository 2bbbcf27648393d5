"""Operations' limits, and how two sets of them become one: the stricter wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from gpuplatform.config import Platform

__all__ = ["Limits", "limits_of_config", "strictest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a deployment must keep to. None: no limit.

    Attributes:
        regions: Regions that may be used; an empty tuple allows none.
        monthly_usd: US dollars a month of 730 hours, at the autoscaler's maximum.
        gpu_models: GPU models that may be used, such as `H100`; compared without regard to case.
        max_price_age_days: A price older than this is not used.
        not_evaluated_fails: Whether a mandatory rule that could not be evaluated stops the deployment.
        expires: The environment's last day.
    """

    regions: tuple[str, ...] | None = None
    monthly_usd: Decimal | None = None
    gpu_models: tuple[str, ...] | None = None
    max_price_age_days: int | None = None
    not_evaluated_fails: bool = False
    expires: date | None = None


def limits_of_config(config: Platform) -> Limits:
    """The limits that a stack sets itself."""
    own = config.guardrails
    return Limits(
        regions=own.regions,
        monthly_usd=config.budget.monthly_usd if config.budget else None,
        gpu_models=own.gpu_models,
        max_price_age_days=own.max_price_age_days,
        not_evaluated_fails=own.not_evaluated == "fail",
        expires=config.expires,
    )


def strictest(limits: Sequence[Limits]) -> Limits:
    """The limits that satisfy all of `limits` at once: lists intersect, the lower number counts."""
    return Limits(
        regions=_common([one.regions for one in limits]),
        monthly_usd=min((one.monthly_usd for one in limits if one.monthly_usd is not None), default=None),
        gpu_models=_common([one.gpu_models for one in limits]),
        max_price_age_days=min(
            (one.max_price_age_days for one in limits if one.max_price_age_days is not None), default=None
        ),
        not_evaluated_fails=any(one.not_evaluated_fails for one in limits),
        expires=min((one.expires for one in limits if one.expires is not None), default=None),
    )


def _common(lists: list[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    given = [one for one in lists if one is not None]
    if not given:
        return None
    rest = [{name.casefold() for name in one} for one in given[1:]]
    return tuple(name for name in given[0] if all(name.casefold() in one for one in rest))
