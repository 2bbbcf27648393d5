"""Security rules over raw resources of any program: trust, exposure, encryption, keys, protection. Pure.

`Survey.judge` gives what the rules say of a resource; a rule that holds says nothing, and one that cannot be
evaluated says so. docs/security.md says what each rule is.
"""

from __future__ import annotations

from gpuplatform.security.finding import RULES, Finding, Rule, Settings
from gpuplatform.security.judge import Survey, concerns

__all__ = ["RULES", "Finding", "Rule", "Settings", "Survey", "concerns"]
