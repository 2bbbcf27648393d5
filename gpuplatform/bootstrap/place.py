"""Where a bootstrap's files are: its record in git, and the folder in which a run works."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from gpuplatform.bootstrap import record
from gpuplatform.errors import GpuPlatformError
from gpuplatform.sandbox import environment
from gpuplatform.sandbox.workspace import Home, find_project
from gpuplatform.yamlfile import parse

__all__ = ["PROJECT", "Place"]

PROJECT: Final = "gpuplatform-bootstrap"
"""The name of the Pulumi project; it stands in every URN, so it never changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The files of one stack's bootstrap.

    Attributes:
        record: The checkpoint that is kept in git.
        folder: Where a run works; a folder that is there when a run begins is that of one that was killed.
        simulated: Whether it is the sandbox's.
    """

    record: Path
    folder: Path
    simulated: bool

    @classmethod
    def of(cls, root: Path, stack: str, environ: Mapping[str, str] = os.environ) -> Place:
        """The place of a stack in the Pulumi project at `root`.

        In the sandbox both are in the sandbox's own folder: a record of simulated things that came into git
        would be taken for one of real ones.
        """
        home = Home.of(find_project(root), environ)
        if environ.get(environment.ENGINE):
            base = home.root / "bootstrap"
            return cls(record=base / f"{stack}.json", folder=base / stack, simulated=True)
        return cls(
            record=root / "stacks" / "bootstrap" / f"{stack}.json",
            folder=home.root.parent / "bootstrap" / stack,
            simulated=False,
        )

    @property
    def project(self) -> Path:
        """The folder of the Pulumi project that the engine runs."""
        return self.folder / "project"

    @property
    def lock(self) -> Path:
        """Held while a run works."""
        return self.folder.with_suffix(".lock")

    @property
    def interrupted(self) -> bool:
        """Whether a run before this one was killed."""
        return (self.folder / "base").is_file()

    @property
    def bases(self) -> list[str]:
        """Digests of the record that the killed run began with, and of the one that it was about to write."""
        return (self.folder / "base").read_text(encoding="utf-8").split()

    def backend(self) -> str:
        """The engine's state while a run works.

        Without the sidecar files of the backend's library, one of which an engine that is killed may leave
        empty, so that no command reads the state any more.
        """
        return f"file://{(self.folder / 'state').as_posix()}?metadata=skip"

    def create(self, stack: str, config: Mapping[str, Any]) -> None:
        """Writes the project that the engine runs, and keeps what an earlier run left of its state.

        Raises:
            GpuPlatformError: The folder cannot be written.
        """
        try:
            for folder in (self.project, self.folder / "state"):
                folder.mkdir(parents=True, exist_ok=True)
            ignore = self.folder.parent / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
            project = {"name": PROJECT, "runtime": {"name": "python"}, "main": "main.py"}
            (self.project / "Pulumi.yaml").write_text(yaml.safe_dump(project), encoding="utf-8")
            (self.project / "main.py").write_text(_MAIN, encoding="utf-8")
            self._write_config(self.project / f"Pulumi.{stack}.yaml", config)
        except OSError as error:
            raise GpuPlatformError(
                f"the bootstrap cannot write its folder: {error.strerror}",
                where=str(error.filename or self.folder),
                way_out="make the folder writable, or set GPUPLATFORM_HOME to one that is",
            ) from error

    def _write_config(self, file: Path, config: Mapping[str, Any]) -> None:
        # The salt belongs to the state that is there already.
        known = parse(file) if file.is_file() else None
        salt = known.get("encryptionsalt") if isinstance(known, dict) else None
        kept = {"encryptionsalt": salt} if salt else {}
        file.write_text(yaml.safe_dump({**kept, "config": dict(config)}, sort_keys=False), encoding="utf-8")

    def begin(self) -> None:
        """From here on, a killed run is one whose work the next one goes on with."""
        (self.folder / "base").write_text(record.digest(self.record) + "\n", encoding="utf-8")

    def becomes(self, text: str) -> None:
        """Notes what the record is about to say: killed after that, the run still knows its own work."""
        with (self.folder / "base").open("a", encoding="utf-8") as stream:
            stream.write(record.digest_of(text) + "\n")

    def end(self) -> None:
        """The record holds all: nothing is left to take up."""
        shutil.rmtree(self.folder, ignore_errors=True)


_MAIN: Final = "from gpuplatform.bootstrap.program import run\n\nrun()\n"
