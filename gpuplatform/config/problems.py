"""Pydantic's findings as sentences: the value, the rule, and the way out."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from gpuplatform import catalog
from gpuplatform.config.base import At
from gpuplatform.config.capacity import Capacity
from gpuplatform.config.clouds import Cloud
from gpuplatform.config.sharing import Sharing
from gpuplatform.config.storage import Storage
from gpuplatform.errors import ConfigError

__all__ = ["NOT_BUILT", "Locate", "Written", "empty_in", "findings_of", "secrets_in"]

Path = tuple[str | int, ...]
Locate = Callable[[Path], str]
Written = Callable[[Path], str | None]
"""The text of a value as the file has it; None where no file is known."""

NOT_BUILT: Final[dict[str, str]] = {
    "teams.group": "self-service for teams",
    "teams.gpus": "self-service for teams",
}
"""Keys whose part is not built: refused by name, since accepting and ignoring one would cost money."""


def findings_of(
    error: ValidationError, model: type[BaseModel], locate: Locate, written: Written
) -> list[ConfigError]:
    """Every finding of `error`, each with its place as `locate` writes it."""
    findings = error.errors(include_url=False)
    paths = [finding["loc"] for finding in findings]
    return [_one(finding, model, locate, written) for finding in findings if not _echoes(finding, paths)]


def _echoes(finding: Any, paths: list[Path]) -> bool:
    """Pydantic counts a list's valid items only, so one bad item makes a list of one "too short" as well."""
    own = finding["loc"]
    return finding["type"] == "too_short" and any(
        len(path) > len(own) and path[: len(own)] == own for path in paths
    )


def _one(finding: Any, model: type[BaseModel], locate: Locate, written: Written) -> ConfigError:
    loc = finding["loc"]
    path = tuple(part for index, part in enumerate(loc) if part != _KEY_OF and not _is_branch(index, loc))
    kind, value = finding["type"], finding.get("input")
    cause = finding.get("ctx", {}).get("error")
    if isinstance(cause, At):
        return ConfigError(str(cause), where=locate((*path, *_keys(cause.path))))
    where = locate(path)
    if kind == "extra_forbidden":
        return _unknown_key(finding["loc"], path, model, where)
    if kind == "missing":
        return ConfigError(f"{path[-1]} is missing", where=where, way_out=f"add `{path[-1]}:`")
    if kind in {"union_tag_invalid", "union_tag_not_found"}:
        return _bad_tag(finding, where)
    if value is None:
        return _empty(path, where)
    if kind.startswith("string_"):
        return _text(finding, model, where, written(path))
    if kind == "value_error":
        return ConfigError(str(cause), where=where)
    if kind == "literal_error":
        return ConfigError(f"{value!r} is not one of {finding['ctx']['expected']}", where=where)
    if kind in {"too_short", "too_long"}:
        bound = "at least" if kind == "too_short" else "at most"
        limit = finding["ctx"].get("min_length", finding["ctx"].get("max_length"))
        return ConfigError(
            f"{path[-1]} has {bound} {limit} item(s), not {finding['ctx']['actual_length']}", where=where
        )
    return _as_pydantic_says(finding, where)


def _as_pydantic_says(finding: Any, where: str) -> ConfigError:
    said = "A mapping belongs here" if finding["type"] == "dict_type" else finding["msg"]
    return ConfigError(f"{said[0].lower()}{said[1:]}, not {_short(finding.get('input'))}", where=where)


def _text(finding: Any, model: type[BaseModel], where: str, written: str | None) -> ConfigError:
    loc, value = finding["loc"], finding.get("input")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return ConfigError(
            f"{written or value} is a number where text belongs",
            where=where,
            rule="YAML reads an unquoted 1.30 as the number 1.3",
            way_out=f'write it in quotes: "{written}"' if written else 'write it in quotes, such as "1.30"',
        )
    if not isinstance(value, str):
        return _as_pydantic_says(finding, where)
    if not value and finding["type"] == "string_too_short":
        return _empty(loc, where)
    return ConfigError(
        f"{_short(value)} is not accepted",
        where=where,
        rule=_description(model, loc) or f"{finding['msg'][0].lower()}{finding['msg'][1:]}",
        way_out=_region_meant(loc, value),
    )


def _empty(path: Path, where: str) -> ConfigError:
    name = next((part for part in reversed(path) if isinstance(part, str)), "platform")
    return ConfigError(
        f"`{name}` is empty",
        where=where,
        rule="a key that says nothing is refused, not taken for one that is left out",
        way_out=f"write a value for `{name}`, or remove the key",
    )


def _region_meant(loc: Path, text: str) -> str:
    """The way out of a region in another's spelling: the cloud's own nearest name, where there is one."""
    match loc:
        case ("cloud", "aws" | "azure" | "gcp" as cloud, "region"):
            pass
        case _:
            return ""
    spelt = text.strip().casefold()
    # Azure's names are one word; the others' zones are the region's name with a letter behind it.
    spelt = re.sub(r"[^a-z0-9]", "", spelt) if cloud == "azure" else re.sub(r"(?<=\d)-?[a-z]$", "", spelt)
    known = catalog.load()
    if known.knows_region(cloud, spelt):
        return f"write {spelt}"
    near = known.nearest_region_names(cloud, spelt, 20)
    # Another cloud's us-east-1 is nearest to eastus: the same words in another order.
    turned = [name for name in near if sorted(name) == sorted(spelt.rstrip("0123456789"))]
    return f"did you mean {(turned or near)[0]}?" if near else ""


def _unknown_key(loc: Path, path: Path, model: type[BaseModel], where: str) -> ConfigError:
    dotted = ".".join(str(part) for part in path if isinstance(part, str))
    if dotted in NOT_BUILT:
        return ConfigError(
            f"`{path[-1]}` is not supported by this version (not built yet: {NOT_BUILT[dotted]})",
            where=where,
            rule="a key is refused rather than accepted and ignored",
            way_out="remove it",
        )
    known = _fields(model, loc[:-1])
    near = difflib.get_close_matches(str(path[-1]), known, n=1, cutoff=0.6)
    way_out = f"did you mean `{near[0]}`?" if near else f"the keys here are {', '.join(known)}"
    return ConfigError(f"there is no key `{path[-1]}`", where=where, way_out=way_out)


def _bad_tag(finding: Any, where: str) -> ConfigError:
    context = finding["ctx"]
    discriminator = context["discriminator"].strip("'")
    value = finding.get("input")
    tag = value.get(discriminator) if isinstance(value, dict) else value
    expected = context.get("expected_tags", "")
    if tag is None:
        return ConfigError(
            f"`{discriminator}` is missing",
            where=where,
            way_out="write `provider: aws`, azure or gcp"
            if discriminator == "provider"
            else f"write `{discriminator}: ...`",
        )
    near = difflib.get_close_matches(str(tag), re.findall(r"'([^']+)'", expected), n=1, cutoff=0.5)
    return ConfigError(
        f"{discriminator} is one of {expected}, not {tag!r}",
        where=where,
        way_out=f"did you mean {near[0]!r}?" if near else "",
    )


_KEY_OF: Final = "[key]"
"""Pydantic's last step to a mapping's key, where a finding is about that and not about its value."""

_BRANCHES: Final[dict[str, Any]] = {"cloud": Cloud, "capacity": Capacity, "sharing": Sharing}


_BRANCHES_BY_NAME: Final[dict[str, Any]] = {"storage": Storage}
"""Unions that are the values of a mapping: the tag follows the name that somebody chose."""


def _is_branch(index: int, loc: Path) -> bool:
    """Pydantic puts a union's tag into the path; it is no key of the file."""
    for steps, branches in ((1, _BRANCHES), (2, _BRANCHES_BY_NAME)):
        before = loc[index - steps] if index >= steps else None
        if before in branches and loc[index] in _tags(branches[str(before)]):
            return steps in {1, index}
    return False


def _tags(union: Any) -> set[Any]:
    return {tag for member in _models_in(union) for tag in _literals(member)}


def _keys(dotted: str) -> Path:
    return tuple(int(part) if part.isdigit() else part for part in re.findall(r"[^.\[\]]+", dotted))


def _fields(model: type[BaseModel], path: Path) -> list[str]:
    found = _model_at(model, path)
    return sorted({name for one in found for name in one.model_fields})


def _description(model: type[BaseModel], path: Path) -> str:
    if path[-1] == _KEY_OF:
        return _description_inside(model, path[:-2], 0)
    if isinstance(path[-1], int):
        return _description_inside(model, path[:-1], 0)
    for one in _model_at(model, path[:-1]):
        field = one.model_fields.get(str(path[-1]))
        if field is not None and field.description:
            return field.description
    return _description_inside(model, path[:-1], -1)


def _description_inside(model: type[BaseModel], path: Path, argument: int) -> str:
    """What is said of a mapping's keys or a list's items (argument 0), or of its values (the last)."""
    for one in _model_at(model, path[:-1]):
        field = one.model_fields.get(str(path[-1])) if path else None
        arguments = get_args(field.annotation) if field is not None else ()
        for note in getattr(arguments[argument], "__metadata__", ()) if arguments else ():
            if isinstance(note, FieldInfo) and note.description:
                return note.description
    return ""


def _model_at(model: type[BaseModel], path: Path) -> list[type[BaseModel]]:
    models = [model]
    mapping = False
    for part in path:
        if isinstance(part, int) or mapping:  # an item of a list, or a name that somebody chose
            mapping = False
            continue
        if branches := [one for one in models if part in _literals(one)]:
            models = branches  # a union's tag: only that member counts from here on
            continue
        annotations = [one.model_fields[part].annotation for one in models if part in one.model_fields]
        models = [inner for annotation in annotations for inner in _models_in(annotation)]
        mapping = any(get_origin(annotation) is dict for annotation in annotations)
    return models


def _literals(model: type[BaseModel]) -> set[Any]:
    """The tags that a member of a discriminated union goes by."""
    fields = (model.model_fields.get(name) for name in ("kind", "provider", "tier"))
    return {tag for field in fields if field is not None for tag in get_args(field.annotation)}


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for argument in get_args(annotation) for found in _models_in(argument)]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 - one terminal line


def secrets_in(content: Any, locate: Locate, path: Path = ()) -> list[ConfigError]:
    """An error for each `secure:` value; checked first, since in a free mapping it would pass for a key."""
    if isinstance(content, dict):
        if set(content) == {"secure"}:
            return [
                ConfigError(
                    "a secret stands where a plain value belongs",
                    where=locate(path),
                    rule="the platform's configuration holds no secrets; it is reviewed in the clear",
                    way_out="write the value itself, without `secure:`",
                )
            ]
        return [found for key, value in content.items() for found in secrets_in(value, locate, (*path, key))]
    if isinstance(content, list):
        return [
            found
            for index, value in enumerate(content)
            for found in secrets_in(value, locate, (*path, index))
        ]
    return []


def empty_in(content: Any, locate: Locate, path: Path = ()) -> list[ConfigError]:
    """An error for each key without a value: `budget:` with nothing below would be no budget, silently."""
    if content is None:
        return [_empty(path, locate(path))]
    pairs = (
        content.items()
        if isinstance(content, dict)
        else enumerate(content if isinstance(content, list) else ())
    )
    return [found for key, value in pairs for found in empty_in(value, locate, (*path, key))]
