"""Composes the components that a configuration asks for."""

from __future__ import annotations

from gpuplatform.platform.decision import Decision, decide

__all__ = ["Decision", "decide"]
