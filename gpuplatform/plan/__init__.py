"""From a configuration to resources, verdicts and cost: offline, with no engine and no credential."""

from __future__ import annotations

from gpuplatform.plan.make import Gpus, Plan, ResourceCount, make

__all__ = ["Gpus", "Plan", "ResourceCount", "make"]
