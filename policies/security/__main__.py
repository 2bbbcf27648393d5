"""The pack's process: the engine starts it with `--policy-pack policies/security`."""

from __future__ import annotations

from gpuplatform.policy.security import run

run()
