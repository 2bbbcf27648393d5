"""Whose tokens a cloud trusts, and what a workflow must say to get one; pure."""

from __future__ import annotations

from gpuplatform.trust.claims import ROLE_ATTRIBUTE, attribute_condition, attribute_mapping
from gpuplatform.trust.model import ISSUER, Trust
from gpuplatform.trust.subjects import trust
from gpuplatform.trust.variables import VARIABLES, variable
from gpuplatform.trust.workflow import deploying_environment, github_of, workflow

__all__ = [
    "ISSUER",
    "ROLE_ATTRIBUTE",
    "VARIABLES",
    "Trust",
    "attribute_condition",
    "attribute_mapping",
    "deploying_environment",
    "github_of",
    "trust",
    "variable",
    "workflow",
]
