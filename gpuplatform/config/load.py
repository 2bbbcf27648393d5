"""From a stack's file, or from the value the engine hands over, to a `Platform`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from gpuplatform.config.model import Platform
from gpuplatform.config.problems import Locate, Written, empty_in, findings_of, secrets_in
from gpuplatform.errors import ConfigError
from gpuplatform.yamlfile import line_of, parse, text_of

__all__ = ["KEY", "Project", "find_project", "from_engine", "from_file", "has_platform"]

KEY: Final = "gpuplatform:platform"
_NO_PLATFORM: Final = "a stack's file has the key `config:` with `gpuplatform:platform:` below it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A Pulumi project on disk: where its stacks' files are."""

    root: Path
    config_dir: Path

    def stack_file(self, stack: str) -> Path:
        """The file of `stack`; a qualified name (organization/project/stack) counts by its last part."""
        return self.config_dir / f"Pulumi.{stack.rsplit('/', 1)[-1]}.yaml"

    def stacks(self) -> tuple[str, ...]:
        """The stacks that have a file."""
        return tuple(
            sorted(
                path.name[len("Pulumi.") : -len(".yaml")] for path in self.config_dir.glob("Pulumi.*.yaml")
            )
        )


def find_project(start: Path) -> Project:
    """The project that holds `start`: the nearest Pulumi.yaml here or above, as the engine itself looks.

    Raises:
        ConfigError: There is none, or it is no YAML mapping.
    """
    for folder in (start.resolve(), *start.resolve().parents):
        file = folder / "Pulumi.yaml"
        if file.is_file():
            content = parse(file)
            if not isinstance(content, dict):
                raise ConfigError(
                    "this is no Pulumi project", where=str(file), rule="it is a mapping with `name:`"
                )
            return Project(root=folder, config_dir=folder / str(content.get("stackConfigDir", ".")))
    raise ConfigError(
        "there is no Pulumi.yaml here or in a folder above",
        where=str(start),
        way_out="run the command in the project's folder, or name it with --project",
    )


def has_platform(project: Project, stack: str) -> bool:
    """Whether `stack` is one of ours: a stack without a file, or with another program's, is not refused here.

    Anything that might be a mistake in a file of ours counts as ours, so that `from_file` names it.
    """
    file = project.stack_file(stack)
    if not file.is_file():
        return False
    document = parse(file)
    return not isinstance(document, dict) or KEY in (document.get("config") or {KEY: None})


def from_file(project: Project, stack: str) -> Platform:
    """The platform that the file of `stack` describes.

    Raises:
        ConfigError: The stack has no file, or what the file says is wrong; every finding is in it.
    """
    file = project.stack_file(stack)
    if not file.is_file():
        raise ConfigError(
            f"there is no stack {stack!r}",
            where=str(_shown(file)),
            way_out=f"the stacks here are {', '.join(project.stacks()) or 'none: add a file'}",
        )
    document = parse(file)
    if document is None:
        raise ConfigError(
            f"`{KEY}` is missing",
            where=str(_shown(file)),
            rule=_NO_PLATFORM,
            way_out="the file is empty: start from another stack's",
        )
    config = document.get("config") if isinstance(document, dict) else None
    if not isinstance(config, dict) or KEY not in config:
        raise ConfigError(f"`{KEY}` is missing", where=str(_shown(file)), rule=_NO_PLATFORM)

    def locate(path: tuple[str | int, ...]) -> str:
        line = line_of(file, ("config", KEY, *path))
        return f"{_shown(file)}:{line}: {_dotted(path)}" if line else f"{_shown(file)}: {_dotted(path)}"

    return _validated(config[KEY], locate, lambda path: text_of(file, ("config", KEY, *path)))


def from_engine(value: str | None, *, secret: bool, stack: str) -> Platform:
    """The platform in the value that the engine read from the stack's configuration.

    Args:
        value: The JSON text of `gpuplatform:platform`, None where the stack does not set it.
        secret: Whether the engine marked the value as secret, which it does where any part of it is.
        stack: The stack's name, for messages.

    Raises:
        ConfigError: The value is missing, secret or wrong.
    """
    place = f"Pulumi.{stack}.yaml"
    if value is None:
        raise ConfigError(f"`{KEY}` is missing", where=place, rule=_NO_PLATFORM)
    if secret:
        raise ConfigError(
            "a secret stands where a plain value belongs",
            where=f"{place}: {KEY}",
            rule="the platform's configuration holds no secrets; it is reviewed in the clear",
            way_out="write the value itself, without `secure:`; `gpuplatform plan` names the line",
        )
    try:
        content = json.loads(value)
    except json.JSONDecodeError:
        content = value
    return _validated(content, lambda path: f"{place}: {_dotted(path)}", lambda _: None)


def _validated(content: Any, locate: Locate, written: Written) -> Platform:
    if secrets := secrets_in(content, locate):
        raise ConfigError.of(secrets)
    if not isinstance(content, dict):
        raise ConfigError(
            f"the platform is a mapping, not {type(content).__name__}", where=locate(()), rule=_NO_PLATFORM
        )
    findings: list[ConfigError] = []
    try:
        # Through JSON: strict mode then reads a list as a tuple, and a YAML date as text, as the engine does.
        platform = Platform.model_validate_json(json.dumps(content, default=str))
    except ValidationError as error:
        findings = findings_of(error, Platform, locate, written)
    named = {finding.where for finding in findings}
    findings += [finding for finding in empty_in(content, locate) if finding.where not in named]
    if findings:
        raise ConfigError.of(findings)
    return platform


def _dotted(path: tuple[str | int, ...]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.lstrip(".") or KEY


def _shown(file: Path) -> Path:
    return file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
