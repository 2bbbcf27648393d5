"""The rule about the Kubernetes minor: known to the cloud, and within the support that is paid for."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

from gpuplatform.catalog import Catalog, KubernetesVersion
from gpuplatform.guardrails.footprint import ControlPlane, Unknown
from gpuplatform.guardrails.verdict import Verdict, fail, not_evaluated, passed, warn

__all__ = ["judge_version"]

_RULE: Final = "kubernetes-version"
NEAR_END: Final = timedelta(days=60)
"""Two months: enough to upgrade one minor at a time, with a maintenance window between."""


def judge_version(plane: ControlPlane, catalog: Catalog, today: date) -> Verdict:
    """The verdict of `kubernetes-version` on one control plane."""
    minor = plane.kubernetes_version
    if isinstance(minor, Unknown):
        return not_evaluated(_RULE, plane, str(minor))
    if not minor:
        return not_evaluated(_RULE, plane, "no version is given, the cloud would choose one", "name a minor")
    versions = catalog.kubernetes(plane.cloud)
    offered = [version.minor for version in versions if _supported(version, plane, today)]
    found = next((version for version in versions if version.minor == minor), None)
    if found is None or (found.available_from is not None and found.available_from > today):
        return fail(
            _RULE,
            plane,
            f"{plane.cloud} does not offer Kubernetes {minor}, as far as the catalogue knows",
            f"supported today: {', '.join(offered)}",
        )
    return _within_support(plane, found, offered, today)


def _within_support(
    plane: ControlPlane, version: KubernetesVersion, offered: list[str], today: date
) -> Verdict:
    minor, standard, extended = version.minor, version.standard_until, version.extended_until
    upgrade = f"supported today: {', '.join(offered)}"
    if standard is None:
        return not_evaluated(_RULE, plane, f"until when {plane.cloud} supports {minor} is not recorded")
    if today <= standard:
        if standard - today > NEAR_END:
            return passed(_RULE, plane, f"standard support of {minor} lasts until {standard}")
        message = f"standard support of Kubernetes {minor} ends on {standard}"
        return warn(_RULE, plane, message, f"plan the upgrade; {upgrade}")
    ended = f"standard support of Kubernetes {minor} ended on {standard}"
    if isinstance(plane.support, Unknown):
        return not_evaluated(_RULE, plane, f"{ended}; {plane.support}", upgrade)
    if plane.support != "extended":
        return fail(_RULE, plane, ended, f"{upgrade}; extended support, where the cloud sells it, costs more")
    if extended is None:
        return not_evaluated(
            _RULE, plane, f"{ended}; until when extended support lasts is not recorded", upgrade
        )
    if today > extended:
        return fail(_RULE, plane, f"extended support of Kubernetes {minor} ended on {extended}", upgrade)
    message = f"Kubernetes {minor} is in extended support, at a higher control-plane price, until {extended}"
    return warn(_RULE, plane, message, upgrade)


def _supported(version: KubernetesVersion, plane: ControlPlane, today: date) -> bool:
    if version.available_from is not None and version.available_from > today:
        return False
    last = version.standard_until
    if plane.support == "extended":
        last = version.extended_until or last
    return last is not None and today <= last
