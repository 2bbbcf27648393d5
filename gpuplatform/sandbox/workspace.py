"""Where things are: the Pulumi project, the sandbox's data below it, and the user's cache."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuplatform.errors import ConfigError, SandboxError
from gpuplatform.yamlfile import parse

__all__ = ["Home", "Project", "cache_root", "find_project", "locked"]

# Pulumi.json is a project too, but its stack files are JSON: the sandbox edits text, and knows only YAML.
PROJECT_FILES = ("Pulumi.yaml", "Pulumi.yml")


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """A Pulumi project as its Pulumi.yaml describes it."""

    file: Path
    name: str
    stack_config_dir: Path

    @property
    def root(self) -> Path:
        """The folder of Pulumi.yaml."""
        return self.file.parent

    def stack_file(self, stack: str) -> Path:
        """The configuration file of `stack`, as the engine names it; it need not exist."""
        return self.stack_config_dir / f"Pulumi.{stack}{self.file.suffix}"

    def stacks(self) -> tuple[str, ...]:
        """The stacks that have a configuration file, sorted."""
        files = self.stack_config_dir.glob(f"Pulumi.*{self.file.suffix}")
        return tuple(
            sorted(file.name.removeprefix("Pulumi.").removesuffix(self.file.suffix) for file in files)
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Home:
    """The sandbox's folder: its own state, its own clouds, and copies of the project's configuration.

    GPUPLATFORM_HOME moves it; otherwise it is `.gpuplatform` beside Pulumi.yaml.
    """

    root: Path

    @classmethod
    def of(cls, project: Project, environ: Mapping[str, str] = os.environ) -> Home:
        """The home of `project`; creates nothing."""
        base = environ.get("GPUPLATFORM_HOME")
        return cls(root=(Path(base).absolute() if base else project.root / ".gpuplatform") / "sandbox")

    @property
    def state(self) -> Path:
        """Pulumi's state, as its file backend keeps it."""
        return self.root / "state"

    @property
    def pulumi_home(self) -> Path:
        """The engine's own folder, in place of ~/.pulumi."""
        return self.root / "pulumi-home"

    @property
    def world(self) -> Path:
        """What exists in the simulated clouds."""
        return self.root / "clouds.sqlite"

    @property
    def bin(self) -> Path:
        """The folder that comes first on a command's PATH."""
        return self.root / "bin"

    @property
    def empty(self) -> Path:
        """A folder without files, where cloud tools look for credentials and find none."""
        return self.root / "no-credentials"

    def shadow(self, project: Project) -> Path:
        """A project folder of the same name, which holds the copies of the stacks' configuration files."""
        return self.root / "projects" / project.name

    def state_file(self, project: Project, stack: str) -> Path:
        """Where the file backend keeps the state of `stack`."""
        return self.state / ".pulumi" / "stacks" / project.name / f"{stack}.json"

    def locks(self, project: Project, stack: str) -> Path:
        """Where the file backend keeps the locks of `stack`; its organization is always this one."""
        return self.state / ".pulumi" / "locks" / "organization" / project.name / stack

    def stacks(self, project: Project) -> tuple[str, ...]:
        """The stacks of `project` in the sandbox's state, sorted."""
        return tuple(sorted(file.stem for file in self.state_file(project, "").parent.glob("*.json")))

    def protected(self, project: Project, stack: str) -> int:
        """How many resources in the state of `stack` the engine refuses to delete; 0 without a state."""
        return sum(bool(resource.get("protect")) for resource in self._resources(project, stack))

    def unprotected(self, project: Project, stack: str) -> frozenset[str]:
        """URNs of the resources in the state of `stack` that the engine would delete."""
        resources = self._resources(project, stack)
        return frozenset(resource["urn"] for resource in resources if not resource.get("protect"))

    def _resources(self, project: Project, stack: str) -> list[dict[str, Any]]:
        try:
            state = json.loads(self.state_file(project, stack).read_bytes())
        except FileNotFoundError:
            return []
        latest = state.get("checkpoint", {}).get("latest") or {}
        return list(latest.get("resources") or ())

    def forget(self, project: Project, stack: str) -> None:
        """Removes the state of `stack`, its history and the copy of its configuration; not its resources."""
        for folder in ("stacks", "history", "backups"):
            base = self.state / ".pulumi" / folder / project.name
            shutil.rmtree(base / stack, ignore_errors=True)
            for ending in (".json", ".json.bak", ".json.attrs", ".json.bak.attrs"):
                (base / f"{stack}{ending}").unlink(missing_ok=True)
        shutil.rmtree(self.locks(project, stack), ignore_errors=True)
        (self.shadow(project) / f"Pulumi.{stack}.yaml").unlink(missing_ok=True)

    def create(self) -> None:
        """Makes the folders; a .gitignore keeps them out of the user's repository.

        Raises:
            SandboxError: The folder cannot be written.
        """
        try:
            for folder in (self.state, self.pulumi_home, self.bin, self.empty):
                folder.mkdir(parents=True, exist_ok=True)
            ignore = self.root / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
        except OSError as error:
            raise SandboxError(
                f"the sandbox cannot write its folder: {error.strerror}",
                where=str(error.filename or self.root),
                way_out="make the folder writable, or set GPUPLATFORM_HOME to one that is",
            ) from error


@contextmanager
def locked(file: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Holds a lock among processes. The system lets go of it when its holder dies, however it dies.

    Args:
        file: What is locked; made where it is missing, with its folder.
        waiting: Called once when somebody else holds it.

    Raises:
        SandboxError: A system without such locks.
        OSError: The file cannot be written.
    """
    try:
        import fcntl
    except ImportError:
        raise SandboxError(
            "the sandbox does not run on this system", rule="Linux and macOS; on Windows inside WSL"
        ) from None
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def find_project(start: Path) -> Project:
    """The project of the nearest Pulumi.yaml at or above `start`, as the engine finds it.

    Raises:
        ConfigError: There is none, or it is not a project.
    """
    for folder in (start.absolute(), *start.absolute().parents):
        for name in PROJECT_FILES:
            if (folder / name).is_file():
                return _read_project(folder / name)
    raise ConfigError(
        "no Pulumi.yaml here or in a folder above",
        where=str(start),
        way_out="run the command inside a Pulumi project",
    )


def _read_project(file: Path) -> Project:
    data = parse(file)
    data = data if isinstance(data, dict) else {}
    name = data.get("name")
    if not isinstance(name, str) or not name:
        raise ConfigError("a Pulumi project needs a name", where=str(file), rule="`name:` is a text")
    # An older spelling: `config: FOLDER` means stackConfigDir; as a mapping it is the project's defaults.
    folder = data.get("stackConfigDir") or data.get("config")
    return Project(
        file=file,
        name=name,
        stack_config_dir=file.parent / folder if isinstance(folder, str) else file.parent,
    )


def cache_root(environ: Mapping[str, str] = os.environ) -> Path:
    """The user's cache folder for gpuplatform, shared by all projects; GPUPLATFORM_CACHE moves it."""
    if chosen := environ.get("GPUPLATFORM_CACHE"):
        return Path(chosen).absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "gpuplatform"
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpuplatform"
