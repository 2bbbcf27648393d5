"""All rules over one deployment's resources, each type's own rules only."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from gpuplatform.guardrails import RawResource, Status
from gpuplatform.guardrails.inventory import token
from gpuplatform.security.finding import Case, Check, Finding, Settings
from gpuplatform.security.rules import (
    api_server,
    encryption,
    exposure,
    keys,
    ports,
    protection,
    trust_aws,
    trust_azure,
    trust_gcp,
)
from gpuplatform.security.scope import Scope

__all__ = ["Survey", "concerns"]

_SUBJECTS: Final = (
    trust_aws,
    trust_azure,
    trust_gcp,
    exposure,
    ports,
    api_server,
    encryption,
    keys,
    protection,
)
# Every service of Google's has these three: gcp:storage/bucketIAMMember:BucketIAMMember.
_GRANTS: Final = re.compile(r"gcp:.*(iam|IAM|Iam)(Member|Binding|Policy)")


@lru_cache(maxsize=4096)
def _checks(type_: str) -> tuple[Check, ...]:
    kind = token(type_)
    found = tuple(check for subject in _SUBJECTS for check in subject.READERS.get(kind, ()))
    return (*found, trust_gcp.grants) if _GRANTS.fullmatch(kind) else found


def concerns(type_: str) -> bool:
    """Whether a rule looks at resources of this type. Cheap: to be asked before any property is read."""
    return bool(_checks(type_))


class Survey:
    """One deployment, resource by resource; it remembers what later ones are judged by.

    Args:
        settings: What the organisation decided.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pools: dict[str, Scope] = {}
        self._mapped: dict[str, dict[str, str]] = {}

    def judge(self, raw: RawResource, *, protected: bool = False) -> tuple[Finding, ...]:
        """What the rules say of one resource; nothing where all of them hold.

        Args:
            raw: The resource's inputs.
            protected: Pulumi's `protect` option.
        """
        case = Case(
            raw=raw,
            settings=self._settings,
            protected=protected,
            pools=self._pools,
            mapped=self._mapped,
        )
        found = (finding for check in _checks(raw.type) for finding in check(case))
        return tuple(dict.fromkeys(self._weigh(finding) for finding in found))

    def _weigh(self, finding: Finding) -> Finding:
        settings = self._settings
        if finding.rule in settings.advisory:
            return finding
        if finding.status is Status.NOT_EVALUATED:
            return replace(finding, blocks=settings.not_evaluated_fails)
        if f"{finding.rule}:{finding.subject}" in settings.exceptions:
            return replace(
                finding, status=Status.WARN, message=f"{finding.message} (accepted as an exception)"
            )
        return replace(finding, blocks=finding.status is Status.FAIL)
