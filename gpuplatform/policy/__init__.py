"""CrossGuard: the guardrails as policies over the raw resources of any Pulumi program.

Thin on purpose: what is judged, and how, is `gpuplatform.guardrails`. `policies/gpu` starts `run`.
"""

from __future__ import annotations

from gpuplatform.policy.pack import NAME, run

__all__ = ["NAME", "run"]
