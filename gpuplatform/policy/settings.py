"""What the pack is told: its own configuration, and the limits that the stack sets itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from gpuplatform import catalog
from gpuplatform.catalog import Catalog
from gpuplatform.config import find_project, from_engine
from gpuplatform.errors import ConfigError
from gpuplatform.guardrails import Limits, limits_of_config, strictest
from gpuplatform.policy import schema
from gpuplatform.policy.operation import StackConfig

__all__ = ["SCHEMA", "Settings", "settings"]

SCHEMA: Final[dict[str, dict[str, Any]]] = {
    "regions": {**schema.NAMES, "description": "Regions that may be used; all if left out."},
    "gpuModels": {
        **schema.NAMES,
        "description": "GPU models that may be used, such as H100; all if left out.",
    },
    "monthlyUsd": {
        "type": "number",
        "exclusiveMinimum": 0,
        "description": "US dollars a month of 730 hours, at the autoscaler's maximum.",
    },
    "maxPriceAgeDays": {
        "type": "integer",
        "minimum": 1,
        "description": "A price older than this makes the budget 'not evaluated'.",
    },
    "notEvaluated": {
        "type": "string",
        "enum": ["warn", "fail"],
        "description": "Whether a rule that could not be evaluated blocks the deployment.",
    },
    "prices": {
        "type": "string",
        "description": "A file of prices and offerings of your own, relative to the folder of Pulumi.yaml.",
    },
}
"""The configuration of each policy of the pack: a limit set on one of them holds for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What to judge by."""

    limits: Limits
    catalog: Catalog
    today: date


def settings(
    pack: Mapping[str, Mapping[str, Any]],
    policies: Collection[str],
    stack: StackConfig,
    *,
    folder: Path,
    today: date,
) -> Settings:
    """The strictest of all limits, and the catalogue with the price files laid over it.

    Args:
        pack: The pack's configuration by policy.
        policies: The names of the pack's policies.
        stack: The stack's own configuration.
        folder: Where the program runs; its project is looked for here and above.
        today: The day to judge by.

    Raises:
        ConfigError: The pack's or the stack's configuration is wrong, or a price file cannot be read.
    """
    schema.check(pack, policies, SCHEMA)
    prices = [_root(folder) / config["prices"] for config in pack.values() if "prices" in config]
    limits = [_limits(config) for config in pack.values()]
    if stack.platform is not None:
        platform = from_engine(stack.platform, secret=stack.secret, stack=stack.stack)
        limits.append(limits_of_config(platform))
        if platform.prices:
            # The stack's own file first: where both name a machine type, Operations' price counts.
            prices.insert(0, find_project(folder).config_dir / platform.prices)
    known = catalog.load()
    for path in prices:
        known = known.with_prices(path)
    return Settings(limits=strictest(limits), catalog=known, today=today)


def _limits(config: Mapping[str, Any]) -> Limits:
    money, age = config.get("monthlyUsd"), config.get("maxPriceAgeDays")
    return Limits(
        regions=tuple(config["regions"]) if "regions" in config else None,
        monthly_usd=None if money is None else Decimal(str(money)),
        gpu_models=tuple(config["gpuModels"]) if "gpuModels" in config else None,
        max_price_age_days=None if age is None else int(age),
        not_evaluated_fails=config.get("notEvaluated") == "fail",
    )


def _root(folder: Path) -> Path:
    try:
        return find_project(folder).root
    except ConfigError:
        return folder  # a saved state is analysed outside any project
