"""A copy of the project whose stacks name a repository, and a sandbox for it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from samples import ROOT, TODAY

from gpuplatform.bootstrap import Outcome, bootstrap, record
from gpuplatform.bootstrap.place import Place
from gpuplatform.config import KEY, find_project
from gpuplatform.sandbox.cloud.world import Thing, World
from gpuplatform.sandbox.session import Sandbox

GITHUB = {
    "repository": "octo-org/octo-repo",
    "environments": ["dev"],
    "owner_id": "123456",
    "repository_id": "456789",
}


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One stack's bootstrap in an open sandbox."""

    sandbox: Sandbox
    world: World
    stack: str
    said: list[str] = field(default_factory=list)

    def bootstrap(self, **options: Any) -> Outcome:
        """As the command does it."""
        project = find_project(self.sandbox.project.root)
        return bootstrap(
            project, self.stack, TODAY, report=self.said.append, environ=self.sandbox.environ, **options
        )

    def configure(self, change: Callable[[dict[str, Any]], Any]) -> None:
        """Changes what the stack's file asks for."""
        configure(self.sandbox.project.root, self.stack, change)

    @property
    def record(self) -> dict[str, Any]:
        """The record as it is now."""
        found = record.read(self.place.record)
        assert found is not None
        return found

    @property
    def managed(self) -> list[tuple[str, str]]:
        """URN and id of each thing that the record believes to be in a cloud, sorted."""
        return sorted(
            (resource["urn"], resource["id"])
            for resource in record.resources(self.record)
            if resource["custom"] and not resource["type"].startswith("pulumi:providers:")
        )

    @property
    def place(self) -> Place:
        return Place.of(self.sandbox.project.root, self.stack, self.sandbox.environ)

    @property
    def things(self) -> list[Thing]:
        """What is in the clouds, by their own record."""
        return self.world.all()

    @property
    def held(self) -> list[tuple[str, str]]:
        """The same by the clouds' own record: equal, unless something leaked or is there twice."""
        return sorted((thing.urn, thing.id) for thing in self.things)


def configure(root: Path, stack: str, change: Callable[[dict[str, Any]], Any]) -> None:
    """Changes what a stack's file asks for."""
    file = find_project(root).stack_file(stack)
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    change(document["config"][KEY])
    file.write_text(yaml.safe_dump(document), encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The repository's Pulumi project, copied; the dev stacks name a repository."""
    folder = tmp_path / "project"
    shutil.copytree(
        ROOT / "stacks", folder / "stacks", ignore=shutil.ignore_patterns("__pycache__", "bootstrap")
    )
    shutil.copy(ROOT / "Pulumi.yaml", folder)
    for cloud in ("aws", "azure", "gcp"):
        configure(folder, f"{cloud}-dev", lambda platform: platform.update(identity={"github": dict(GITHUB)}))
    return folder


@pytest.fixture
def stage(engine: object, project: Path, tmp_path: Path) -> Callable[..., Any]:  # noqa: ARG001 - or skipped
    """Opens a sandbox for one stack: `with stage("aws-dev") as it:`."""

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
