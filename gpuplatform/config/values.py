"""What a value of the configuration is read from and written as: networks, days, amounts of money."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from ipaddress import IPv4Network
from typing import Annotated, Any, Final

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

__all__ = ["EMAIL", "Cidr", "Day", "Usd"]

EMAIL: Final = r"^[\w.+-]+@[\w-]+(\.[\w-]+)+$"
"""An address as people have them; RFC 5322 takes more."""


def _cidr(value: Any) -> IPv4Network:
    if isinstance(value, IPv4Network):
        return value
    if not isinstance(value, str):
        raise ValueError("a CIDR such as 10.0.0.0/16 is text")  # noqa: TRY004 - pydantic takes ValueError only
    try:
        return IPv4Network(value)
    except ValueError as error:
        raise ValueError(f"{error}; a CIDR is written like 10.0.0.0/16") from None


def _date(value: Any) -> date:
    if isinstance(value, date):
        return value
    # An unquoted YAML date reaches the program as the engine prints Go's time of it.
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}( 00:00:00 \+0000 UTC)?", value):
        try:
            return date.fromisoformat(value[:10])
        except ValueError:
            raise ValueError(f"{value} is no day of the calendar") from None
    raise ValueError("a date is written like 2027-01-31")


def _money(value: Any) -> Decimal:
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d+(\.\d*)?[eE][+-]?\d+", value):
        raise ValueError(f"YAML reads {value} as text; write the amount in full, such as 25000")
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError("an amount is a plain number of US dollars, without quotes")  # noqa: TRY004 - as above
    amount = Decimal(str(value))
    if not amount.is_finite():
        raise ValueError("an amount is a finite number; a stack without a limit has no `budget`")
    if amount <= 0:
        raise ValueError("an amount is above zero")
    if amount < _CENT:
        raise ValueError(f"{value} is below one cent, 0.01")
    return amount


_CENT: Final = Decimal("0.01")

Cidr = Annotated[
    IPv4Network,
    PlainValidator(_cidr),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "pattern": r"^\d{1,3}(\.\d{1,3}){3}/\d{1,2}$"}),
]
Day = Annotated[date, PlainValidator(_date), WithJsonSchema({"type": "string", "format": "date"})]
Usd = Annotated[
    Decimal,
    PlainValidator(_money),
    PlainSerializer(float),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0}),
]
