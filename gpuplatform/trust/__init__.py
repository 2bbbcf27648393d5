"""Whose tokens a cloud trusts, and what a workflow must say to get one; pure."""

from __future__ import annotations

from gpuplatform.trust.model import ISSUER, Trust

__all__ = ["ISSUER", "Trust"]
