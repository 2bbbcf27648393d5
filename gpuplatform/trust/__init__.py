"""Whose tokens a cloud trusts, and what a workflow must say to get one; pure."""

from __future__ import annotations

from gpuplatform.trust.claims import ROLE_ATTRIBUTE, attribute_condition, attribute_mapping
from gpuplatform.trust.model import ISSUER, Trust
from gpuplatform.trust.subjects import trust

__all__ = ["ISSUER", "ROLE_ATTRIBUTE", "Trust", "attribute_condition", "attribute_mapping", "trust"]
