"""What a budget in the cloud itself is made of, on every cloud."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from gpuplatform.errors import Refusal
from gpuplatform.tags import Tags

__all__ = ["BudgetArgs"]


@dataclass(frozen=True, kw_only=True)
class BudgetArgs:
    """What a budget is made of, on every cloud. It reports; it stops nothing.

    Attributes:
        name: Prefix of its physical name, such as `vision-prod`.
        amount: What a month may cost, in `currency`.
        currency: What the account is billed in.
        alert_percent: Parts of the amount that are reported once they are billed, per cent.
        forecast: Whether a month that is forecast to exceed the amount is reported as well.
        contacts: E-mail addresses that hear of it.
        tags: The environment's tags: what the budget counts is what carries them.

    Raises:
        Refusal: Nobody would hear of it.
    """

    name: str
    amount: Decimal
    currency: str = "USD"
    alert_percent: tuple[int, ...] = (50, 75, 90)
    forecast: bool = True
    contacts: tuple[str, ...]
    tags: Tags

    def __post_init__(self) -> None:
        if not self.contacts:
            raise Refusal(
                "the budget has no contact",
                where="budget.contacts",
                rule="a budget that nobody hears of limits nothing",
                way_out="name an address, or leave the cloud's own budget out",
            )
