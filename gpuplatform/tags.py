"""Who pays for a resource and who owns it: the same eight keys on every cloud.

AWS and Azure take the values as they are. GCP labels take only lower-case letters, digits, `_` and `-`, at
most 63 characters (https://cloud.google.com/resource-manager/docs/labels-overview), so a value is rewritten
there; `@` becomes `_at_`, so an owner's address stays readable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

__all__ = ["KEYS", "Tags"]

_GCP_LIMIT: Final = 63


@dataclass(frozen=True, slots=True, kw_only=True)
class Tags:
    """The tags of one environment.

    Attributes:
        environment: Such as `dev` or `prod`.
        project: What the money is spent for; the platform's name by default.
        team: Who uses it.
        cost_center: The account in the company's books.
        owner: Whom to write to.
        managed_by: Always this library, so that a stray resource leads back to its program.
        expires: ISO date after which the environment may be torn down.
        experiment: Free name of the experiment that it serves.
    """

    environment: str
    project: str
    team: str
    cost_center: str
    owner: str
    managed_by: str = "gpuplatform"
    expires: str | None = None
    experiment: str | None = None

    def aws(self, **more: str) -> dict[str, str]:
        """As AWS tags; `more` adds a resource's own, such as `Name`."""
        return {**self._set(), **more}

    def azure(self) -> dict[str, str]:
        """As Azure tags."""
        return self._set()

    def gcp(self) -> dict[str, str]:
        """As GCP labels, each value rewritten to the label alphabet."""
        return {key: _label(value) for key, value in self._set().items()}

    def _set(self) -> dict[str, str]:
        values: Mapping[str, str | None] = {
            field.name.replace("_", "-"): getattr(self, field.name) for field in fields(self)
        }
        return {key: value for key, value in values.items() if value is not None}


KEYS: Final = tuple(field.name.replace("_", "-") for field in fields(Tags))


def _label(value: str) -> str:
    lowered = value.lower().replace("@", "_at_")
    return re.sub(r"[^a-z0-9_-]", "_", lowered)[:_GCP_LIMIT].rstrip("_-")
