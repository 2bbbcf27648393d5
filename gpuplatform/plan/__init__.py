"""From a configuration to resources, verdicts and cost: offline, with no engine and no credential."""

from __future__ import annotations

from gpuplatform.plan.changes import Action, Changes, Step
from gpuplatform.plan.make import Gpus, Plan, ResourceCount, decided, make

__all__ = ["Action", "Changes", "Gpus", "Plan", "ResourceCount", "Step", "decided", "make"]
