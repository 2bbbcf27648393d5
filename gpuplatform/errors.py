"""Every failure a user can meet, as one tree.

    GpuPlatformError
    ├── ConfigError          what somebody wrote is wrong                      exit 2
    │   └── Refusal          it is well-formed, but cannot be built anywhere   exit 2
    ├── CatalogError         the product's own data is broken                  exit 3
    ├── GuardrailError       a mandatory verdict failed                        exit 1
    ├── ClusterError         a cluster cannot be asked, or does not do its part    exit 4
    ├── EngineError          no Pulumi engine, or it failed                    exit 4
    └── SandboxError         the simulated clouds could not do their part      exit 4

Each error says four things: what was wrong, where, the rule, and the way out. A command prints that and
exits with the class's code; a traceback is a bug in gpuplatform, never an answer to bad input.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "CatalogError",
    "ClusterError",
    "ConfigError",
    "EngineError",
    "GpuPlatformError",
    "GuardrailError",
    "Refusal",
    "SandboxError",
]


class GpuPlatformError(Exception):
    """Base of all expected failures.

    Args:
        what: What was wrong, as one sentence without a full stop.
        where: File and path of the value, such as `stacks/config/Pulumi.aws-dev.yaml: node_pools[1].sku`.
        rule: The rule that was broken.
        way_out: What the reader can do next.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, where: str = "", rule: str = "", way_out: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.rule = rule
        self.way_out = way_out

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        if self.rule:
            lines.append(f"  rule: {self.rule}")
        if self.way_out:
            lines.append(f"  way out: {self.way_out}")
        return "\n".join(lines)


class ConfigError(GpuPlatformError):
    """A file or value that somebody wrote is wrong. `problems` keeps them all, so none hides another."""

    exit_code: ClassVar[int] = 2

    @classmethod
    def of(cls, problems: list[ConfigError]) -> ConfigError:
        """One error that prints every problem, the single one itself where there is only one."""
        if len(problems) == 1:
            return problems[0]
        joined = cls("\n".join(str(problem) for problem in problems))
        joined.problems = tuple(problems)
        return joined

    problems: tuple[ConfigError, ...] = ()


class Refusal(ConfigError):
    """Well-formed, but no cloud can build it; the sentence says why and what to use instead."""


class CatalogError(GpuPlatformError):
    """A row of the product's own data breaks the schema: a bug of ours, named by file and row."""

    exit_code: ClassVar[int] = 3


class GuardrailError(GpuPlatformError):
    """A mandatory verdict failed; nothing was registered, nothing was created."""

    exit_code: ClassVar[int] = 1


class ClusterError(GpuPlatformError):
    """A Kubernetes cluster cannot be asked, or does not do its part."""

    exit_code: ClassVar[int] = 4


class EngineError(GpuPlatformError):
    """The Pulumi engine cannot be had, or it failed."""

    exit_code: ClassVar[int] = 4


class SandboxError(GpuPlatformError):
    """The simulated clouds or their state folder could not do their part."""

    exit_code: ClassVar[int] = 4
