"""A pack's configuration against its schema.

The engine checks values against the schema, but takes any policy's and any key's name.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any, Final

from gpuplatform.errors import ConfigError

__all__ = ["NAMES", "Schema", "check"]

Schema = Mapping[str, Mapping[str, Any]]

NAMES: Final = {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1}
"""A list of names, at least one."""

_ALL: Final = "all"
"""What the engine calls the entry that sets every policy's level; it hands it over like a policy's."""

WHERE: Final = "the policy pack's configuration"


def check(pack: Mapping[str, Mapping[str, Any]], policies: Collection[str], schema: Schema) -> None:
    """Accepts the configuration of each policy of a pack.

    Args:
        pack: The pack's configuration by policy.
        policies: The names of the pack's policies.
        schema: What every policy's configuration may have, as JSON Schema by key.

    Raises:
        ConfigError: A policy or key does not exist, or a value is not accepted; all of them at once.
    """
    problems = [
        problem for name, config in pack.items() for problem in _problems(name, config, policies, schema)
    ]
    if problems:
        raise ConfigError.of(problems)


def _problems(
    name: str, config: Mapping[str, Any], policies: Collection[str], schema: Schema
) -> list[ConfigError]:
    if name not in policies and name != _ALL:
        way_out = f"the policies are {', '.join(sorted(policies))}"
        return [ConfigError(f"the pack has no policy {name!r}", where=WHERE, way_out=way_out)]
    found = (_problem(name, key, value, schema) for key, value in config.items())
    return [problem for problem in found if problem is not None]


def _problem(name: str, key: str, value: Any, schema: Schema) -> ConfigError | None:
    where = f"{WHERE}: {name}.{key}"
    if key not in schema:
        near = difflib.get_close_matches(key, schema, n=1)
        way_out = f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(schema)}"
        return ConfigError(f"there is no key {key!r}", where=where, way_out=way_out)
    rule = schema[key]
    if _fits(rule, value):
        return None
    return ConfigError(f"{value!r} is not accepted", where=where, rule=rule["description"])


def _fits(rule: Mapping[str, Any], value: Any) -> bool:
    match rule["type"]:
        case "array":
            enough = isinstance(value, list) and len(value) >= rule.get("minItems", 0)
            return enough and all(_fits(rule["items"], one) for one in value)
        case "number":
            return _is_number(value) and value > 0
        case "integer":
            return _is_number(value) and value >= 1 and float(value).is_integer()
        case "boolean":
            return isinstance(value, bool)
        case _:
            return isinstance(value, str) and value in rule.get("enum", [value])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
