"""YAML that a person wrote, asked for a line only when an error needs one; and YAML for a person to read."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final

import yaml

from gpuplatform.errors import ConfigError

__all__ = ["PlainDumper", "line_of", "parse", "parse_text", "text_of"]

# libyaml is several times faster; a PyYAML built without it still works.
_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


_MOST_VALUES: Final = 1_000_000
"""Of one document with its aliases written out; the largest price file is far below."""


class _Loader(_SafeLoader):  # type: ignore[misc]  # the base is one of two at run time
    """Names the place of what PyYAML would take without a word, or fail on without one."""

    def construct_document(self, node: yaml.Node) -> Any:
        _written_out(node, set(), {})
        return super().construct_document(node)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError, OverflowError):
            # PyYAML's own constructors let these out: 2027-13-01 looks like a date and is none.
            kind = str(node.tag).rpartition(":")[2]
            problem = f"{node.value!r} is no {kind} that exists; a text goes in quotes"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            if key_node.tag != "tag:yaml.org,2002:str":
                continue
            if key_node.value in seen:
                raise yaml.constructor.ConstructorError(
                    "while reading a mapping",
                    node.start_mark,
                    f"the key {key_node.value!r} is written twice",
                    key_node.start_mark,
                )
            seen.add(key_node.value)
        return super().construct_mapping(node, deep)  # type: ignore[no-any-return]


def _written_out(node: yaml.Node, above: set[int], known: dict[int, int]) -> int:
    """How many values `node` has with its aliases written out; refuses one that holds itself."""
    if id(node) in above:
        problem = "this value holds itself through an alias (*); write out what is meant"
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
    if id(node) in known:
        return known[id(node)]
    values: list[yaml.Node] = []
    if isinstance(node, yaml.MappingNode):
        values = [one for pair in node.value for one in pair]
    elif isinstance(node, yaml.SequenceNode):
        values = node.value
    above.add(id(node))
    count = 1 + sum(_written_out(one, above, known) for one in values)
    above.discard(id(node))
    if count > _MOST_VALUES:
        problem = f"with its aliases (*) written out this is more than {_MOST_VALUES} values"
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
    known[id(node)] = count
    return count


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
    except RecursionError:
        raise ConfigError(
            "this is nested too deep to be read", where=str(path), rule="a stack's file is a few levels deep"
        ) from None


def line_of(path: Path, keys: tuple[str | int, ...]) -> int | None:
    """The line (from 1) of the value below `keys`, or of its nearest parent that the file has."""
    return _find(path, keys)[0]


def text_of(path: Path, keys: tuple[str | int, ...]) -> str | None:
    """The scalar below `keys` as it is written, such as 1.30 where YAML reads 1.3; None without one."""
    node = _find(path, keys)[1]
    return node.value if isinstance(node, yaml.ScalarNode) else None


def _find(path: Path, keys: tuple[str | int, ...]) -> tuple[int | None, yaml.Node | None]:
    """The line of the nearest that the file has, and the value itself where it has that."""
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), Loader=_SafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
        return None, None
    line: int | None = None
    for key in keys:
        found = _below(node, key)
        if found is None:
            return line, None
        line, node = found
    return line, node


def _below(node: Any, key: str | int) -> tuple[int, Any] | None:
    if isinstance(node, yaml.MappingNode):
        for key_node, value in node.value:
            if key_node.value == str(key):
                return key_node.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        value = node.value[key]
        return value.start_mark.line + 1, value
    return None


class PlainDumper(yaml.SafeDumper):
    """Writes as a person would: text of several lines as a block, and nothing by reference."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002, D102 - PyYAML's own
        return True


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


PlainDumper.add_representer(str, _block)
