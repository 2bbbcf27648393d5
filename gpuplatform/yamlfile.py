"""YAML files that a person wrote: parsed once, and asked for a line only when an error needs one."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from gpuplatform.errors import ConfigError

__all__ = ["line_of", "parse", "parse_text"]

# libyaml is several times faster; a PyYAML built without it still works.
_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SafeLoader):  # type: ignore[misc]  # the base is one of two at run time
    """Refuses a key that is written twice: PyYAML would take the last one without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            key = key_node.value
            if key_node.tag == "tag:yaml.org,2002:str" and key in seen:
                raise yaml.constructor.ConstructorError(
                    "while reading a mapping",
                    node.start_mark,
                    f"the key {key!r} is written twice",
                    key_node.start_mark,
                )
            seen.add(key)
        return super().construct_mapping(node, deep)  # type: ignore[no-any-return]


def parse(path: Path) -> Any:
    """The document in `path`; None where it is empty.

    Raises:
        ConfigError: There is no such file, it cannot be read, or it is no YAML.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(
            "there is no such file", where=str(path), rule="each stack has a file in stackConfigDir"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the file cannot be read as UTF-8 text: {error}", where=str(path)) from None
    return parse_text(text, path)


def parse_text(text: str, path: Path) -> Any:
    """The document in `text`, which stands in `path`.

    Raises:
        ConfigError: It is no YAML.
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader with one more check
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise ConfigError(f"this is no YAML: {error.problem}", where=where) from None
    except yaml.YAMLError as error:
        raise ConfigError(f"this is no YAML: {error}", where=str(path)) from None


def line_of(path: Path, keys: tuple[str | int, ...]) -> int | None:
    """The line (from 1) of the value below `keys`, or of its nearest parent that the file has."""
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), Loader=_SafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return None
    line: int | None = None
    for key in keys:
        found = _below(node, key)
        if found is None:
            break
        line, node = found
    return line


def _below(node: Any, key: str | int) -> tuple[int, Any] | None:
    if isinstance(node, yaml.MappingNode):
        for key_node, value in node.value:
            if key_node.value == str(key):
                return key_node.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        value = node.value[key]
        return value.start_mark.line + 1, value
    return None
