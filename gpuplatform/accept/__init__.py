"""Whether a pool's nodes reach the collective bandwidth of their machine: a job, its log, a verdict.

`manifests` and `judge` are pure; only `run` talks to a cluster, through kubectl.
"""

from __future__ import annotations

from gpuplatform.accept.job import Keys, manifests
from gpuplatform.accept.log import Log, parse
from gpuplatform.accept.verdict import Outcome, Verdict, judge, not_measurable

__all__ = ["Keys", "Log", "Outcome", "Verdict", "judge", "manifests", "not_measurable", "parse"]
