"""A copy of the project with a sandbox of its own, and what its simulated clouds hold."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from samples import ROOT

from gpuplatform.config import KEY
from gpuplatform.sandbox import session
from gpuplatform.sandbox.cloud.world import Thing, World
from gpuplatform.sandbox.events import Result
from gpuplatform.sandbox.session import Sandbox

PACK = str(ROOT / "policies" / "gpu")


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One stack of the copied project, in an open sandbox."""

    sandbox: Sandbox
    world: World
    stack: str

    def configure(self, change: Callable[[dict[str, Any]], Any]) -> None:
        """Changes what the stack's file asks for."""
        file = self.sandbox.project.stack_file(self.stack)
        document = yaml.safe_load(file.read_text())
        change(document["config"][KEY])
        file.write_text(yaml.safe_dump(document))

    def up(self) -> Result:
        """As a person does it: previewed, with the policy pack."""
        return session.up(self.sandbox, self.stack, policy_packs=[PACK], quiet=True)

    def apply(self) -> Result:
        """The same without preview and pack: half the time."""
        return self.pulumi("up", "--yes", "--skip-preview")

    def refresh(self) -> Result:
        return session.refresh(self.sandbox, self.stack, quiet=True)

    def destroy(self, *, include_protected: bool = False) -> Result:
        return session.destroy(self.sandbox, self.stack, include_protected=include_protected, quiet=True)

    def pulumi(self, *arguments: str) -> Result:
        return self.sandbox.pulumi([*arguments, "--stack", self.stack], quiet=True)

    @property
    def state(self) -> dict[str, Any]:
        """Pulumi's own record."""
        file = self.sandbox.home.state_file(self.sandbox.project, self.stack)
        latest: dict[str, Any] = json.loads(file.read_text())["checkpoint"].get("latest", {})
        return latest  # none until something was begun

    @property
    def managed(self) -> list[tuple[str, str]]:
        """URN and id of each thing that Pulumi believes to be in a cloud, sorted."""
        return sorted(
            (resource["urn"], resource["id"])
            for resource in self.state.get("resources", [])
            if resource["custom"] and not resource["type"].startswith("pulumi:providers:")
        )

    @property
    def kept(self) -> list[tuple[str, str]]:
        """What a teardown leaves: what is protected, and what that stands on, as a VPC below a cluster."""
        by_urn = {resource["urn"]: resource for resource in self.state["resources"]}
        todo = [urn for urn, resource in by_urn.items() if resource.get("protect")]
        stays: set[str] = set()
        while todo:
            urn = todo.pop()
            if urn in stays:
                continue
            stays.add(urn)
            resource = by_urn[urn]
            todo += [*resource.get("dependencies", []), *filter(None, [resource.get("deletedWith")])]
        return [entry for entry in self.managed if entry[0] in stays]

    @property
    def things(self) -> list[Thing]:
        """What is in the clouds, by their own record; without the names of what they deleted softly."""
        return [thing for thing in self.world.all() if thing.urn]

    @property
    def held(self) -> list[tuple[str, str]]:
        """The same by the clouds' own record: equal, unless something leaked or is there twice."""
        return sorted((thing.urn, thing.id) for thing in self.things)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The repository's Pulumi project, copied, so that a test may change a stack's file."""
    folder = tmp_path / "project"
    shutil.copytree(ROOT / "stacks", folder / "stacks", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Pulumi.yaml", folder)
    return folder


@pytest.fixture
def stage(engine: object, project: Path, tmp_path: Path) -> Callable[..., Any]:  # noqa: ARG001 - or skipped
    """Opens a sandbox for one stack: `with stage("aws-dev") as stack:`."""

    @contextmanager
    def open_(stack: str, **environ: str) -> Iterator[Stage]:
        inside = {**os.environ, "GPUPLATFORM_HOME": str(tmp_path / "home"), **environ}
        with Sandbox.open(project, report=print, environ=inside) as sandbox:
            world = World(sandbox.home.world)
            try:
                yield Stage(sandbox=sandbox, world=world, stack=stack)
            finally:
                world.close()

    return open_
