"""The pack of GPU guardrails, `policies/gpu`."""

from __future__ import annotations

from typing import Any, Final

from gpuplatform.guardrails import Inventory
from gpuplatform.policy import serving
from gpuplatform.policy.policies import BUDGET, MACHINE, NOTES, PLACEMENT, policies
from gpuplatform.policy.session import Session

__all__ = ["NAME", "PACK", "POLICY_NAMES", "run", "servicer"]

NAME: Final = "gpuplatform-gpu"
POLICY_NAMES: Final = (MACHINE, PLACEMENT, BUDGET, NOTES)

PACK: Final = serving.Pack(
    name=NAME,
    display_name="GPU guardrails",
    description="GPU machine types, regions, zones and budgets, checked before anything is created.",
    watcher=MACHINE,
    concerns=Inventory.concerns,
    reads_outputs=True,
)


def servicer(session: Session) -> Any:
    """The pack's analyzer service."""
    return serving.servicer(PACK, session)


def run() -> None:
    """Serves the pack to the engine that started this process; returns when the engine ends it."""
    session = Session(POLICY_NAMES)
    serving.serve(PACK, session, policies(session))
