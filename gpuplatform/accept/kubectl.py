"""kubectl as a process, with its words in our errors."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gpuplatform.errors import ClusterError

__all__ = ["Kubectl"]

TIMEOUT_SECONDS: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubectl:
    """Commands against one cluster.

    Attributes:
        kubeconfig: The file; kubectl's own rule (KUBECONFIG, ~/.kube/config) where it is left out.
        context: The context; the current one where it is left out.
        program: The executable's name or path.
    """

    kubeconfig: Path | None = None
    context: str | None = None
    program: str = "kubectl"

    def run(self, *arguments: str, text: str | None = None, timeout: int = TIMEOUT_SECONDS) -> str:
        """What the command prints.

        Raises:
            ClusterError: There is no kubectl, it takes too long, or it fails; its own words are in the error.
        """
        found = shutil.which(self.program)
        if found is None:
            raise ClusterError(
                f"{self.program} is not installed",
                way_out="install it (https://kubernetes.io/docs/tasks/tools), or --write the manifests",
            )
        try:
            done = subprocess.run(  # noqa: S603 - arguments are ours, no shell
                [found, *self._where(), *arguments],
                input=text,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ClusterError(
                f"kubectl {arguments[0]} did not end within {timeout} s",
                way_out="check that the cluster's API can be reached from here",
            ) from None
        if done.returncode:
            said = done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}"
            raise ClusterError(
                f"kubectl {arguments[0]} failed: {said}",
                way_out="check --kubeconfig and --context; the stack's output kubeconfig_command writes one",
            )
        return done.stdout

    def json(self, *arguments: str) -> dict[str, Any]:
        """What the command prints, as data.

        Raises:
            ClusterError: As `run`, and where it prints no JSON object.
        """
        try:
            content = json.loads(self.run(*arguments, "-o", "json"))
        except json.JSONDecodeError as error:
            raise ClusterError(f"kubectl {arguments[0]} printed no JSON: {error}") from None
        if not isinstance(content, dict):
            raise ClusterError(f"kubectl {arguments[0]} printed no JSON object")
        return content

    def create(self, objects: Sequence[Mapping[str, Any]]) -> None:
        """Creates the objects in order."""
        listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self.run("create", "-f", "-", text=json.dumps(listed))

    def _where(self) -> list[str]:
        file = [f"--kubeconfig={self.kubeconfig}"] if self.kubeconfig else []
        return [*file, *([f"--context={self.context}"] if self.context else [])]
