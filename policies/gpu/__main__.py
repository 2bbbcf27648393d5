"""The pack's process: the engine starts it with `--policy-pack policies/gpu`."""

from __future__ import annotations

from gpuplatform.policy import run

run()
