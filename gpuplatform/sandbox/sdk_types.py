"""Checks a resource's inputs against the installed Pulumi SDK's own types, at any depth.

The engine checks nothing of this: a misspelt property, a list where a string belongs or an unknown
enumeration value reaches the provider, or worse, is dropped without a word. `check` takes the inputs as the
engine sends them: camelCase, numbers as floats, secrets and outputs wrapped, unknowns as their sentinel.

What the SDK does not know is not checked here: `CustomResource` of Kubernetes is free-form, and an
azure-native token with an API version of its own is held against the SDK's default version for the types of
the properties both have, not for their names.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuplatform.sandbox import sdk_source as sdk

__all__ = ["Problem", "check", "known_token", "output_names"]

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""The engine's sentinel for a value not known until update (`pulumi.runtime.rpc.UNKNOWN`)."""

SIGNATURE = "4dabf18193072939515e22adb298388d"
"""The key of a wrapped value (`pulumi.runtime.rpc._special_sig_key`); the next lines are its values."""

SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a public protocol constant
OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
ASSET = "c44067f5952c0a294b673a41bacd8c17"
ARCHIVE = "0def7320c3a5731c473e5ecbe6d01bc7"

_PROVIDER_KEYS = frozenset({"version", "pluginDownloadURL"})
"""What the engine adds to every provider's inputs. Keys that start with `__` are providers' own notes."""

_VERSIONED = re.compile(r"^(azure-native:[^:/]+)/v\d{8}[a-z0-9]*:(.+)$")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with the inputs.

    Attributes:
        path: The property, as `nodeConfig.taints[0].effect`; empty for the resource as a whole.
        message: What is wrong and what would be right, one sentence.
    """

    path: str
    message: str


def known_token(token: str) -> bool:
    """Whether the installed SDK has exactly this resource type."""
    return sdk.resource_type(token) is not None


def output_names(token: str) -> tuple[str, ...]:
    """The outputs of a resource type, camelCase; none for one that the SDK does not have."""
    found = sdk.resource_type(_unversioned(token))
    return tuple(found.outputs) if found else ()


def check(token: str, inputs: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Every problem of one resource's inputs, in the order of the inputs; empty when there is none.

    Args:
        token: The type token, such as `aws:eks/nodeGroup:NodeGroup` or `pulumi:providers:aws`.
        inputs: The inputs, as the engine sends them or as Pulumi's mocks record them.
    """
    found = sdk.resource_type(_unversioned(token))
    if found is None:
        return tuple(_unknown_type(token, inputs))
    checker = _Checker(
        closed_enums=token.startswith("azure-native:"),
        named=_unversioned(token) == token,
        encoded=token.startswith("pulumi:providers:"),
    )
    return tuple(checker.properties("", inputs, found.inputs))


def _unversioned(token: str) -> str:
    return _VERSIONED.sub(r"\1:\2", token)


def _unknown_type(token: str, inputs: Mapping[str, Any]) -> Iterator[Problem]:
    package, _, rest = token.partition(":")
    tokens = sdk.package_tokens(package)
    if tokens is None:
        module = sdk.PACKAGES.get(package)
        install = (
            f"install {module.replace('_', '-')}" if module else f"the package {package} is not simulated"
        )
        yield Problem("", f"{token} cannot be checked: {install}")
    elif package == "kubernetes" and "." in rest.partition("/")[0] and not _builtin_group(rest, tokens):
        yield from _custom_resource(token, inputs)
    else:
        yield Problem("", f"{token} is no resource type of the installed SDK{_nearest(token, tokens)}")


def _builtin_group(rest: str, tokens: Iterable[str]) -> bool:
    group = rest.partition(":")[0]
    return any(token.startswith(f"kubernetes:{group}:") for token in tokens)


def _custom_resource(token: str, inputs: Mapping[str, Any]) -> Iterator[Problem]:
    _, version, kind = token.split(":", 2)
    for name, right in (("apiVersion", version), ("kind", kind)):
        value = unwrapped(inputs.get(name))
        if value is None:
            yield Problem(name, f"missing: {token} needs {name} {right!r}")
        elif value not in (right, UNKNOWN):
            yield Problem(name, f"{value!r} contradicts the type {token}")
    if "metadata" in inputs:
        metadata = sdk.resource_type("kubernetes:core/v1:Namespace")
        if metadata:
            yield from _Checker().value("metadata", inputs["metadata"], metadata.inputs["metadata"].type)


def unwrapped(value: Any) -> Any:
    """The value inside secret and output wrappers; an output without a value is unknown."""
    while isinstance(value, Mapping) and value.get(SIGNATURE) in (SECRET, OUTPUT):
        value = value.get("value", UNKNOWN)
    return value


def _nearest(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checker:
    """Walks inputs and types side by side.

    Attributes:
        closed_enums: Azure's enumerations come from the API's own specification, for the version that the SDK
            speaks: another value is refused by Azure. Those of the other SDKs are hints (pulumi_aws lists
            neither new instance types nor CAPACITY_BLOCK), so `str | Enum` takes any string there.
        named: Whether a property that the type does not have is a problem.
        encoded: Whether structured values arrive as JSON text: the Python SDK does that for providers.
    """

    closed_enums: bool = False
    named: bool = True
    encoded: bool = False

    def properties(
        self, path: str, values: Mapping[str, Any], types: Mapping[str, sdk.Property]
    ) -> Iterator[Problem]:
        for name, value in values.items():
            here = f"{path}.{name}" if path else name
            if name in types:
                yield from self.value(here, value, types[name].type)
            elif self.named and not self._added(path, name):
                yield Problem(here, f"unknown property{_nearest(name, types)}")
        for name, declared in types.items():
            if declared.required and values.get(name) is None:
                yield Problem(f"{path}.{name}" if path else name, "missing: this property is required")

    def _added(self, path: str, name: str) -> bool:
        return name.startswith("__") or (self.encoded and not path and name in _PROVIDER_KEYS)

    def value(  # noqa: C901, PLR0912 - one flat case for each kind of type
        self, path: str, value: Any, declared: sdk.Type
    ) -> Iterator[Problem]:
        value = unwrapped(value)
        if value is None or value == UNKNOWN or _not_data(value):
            return
        if self.encoded and isinstance(value, str) and declared != sdk.Scalar("str"):
            value = _decoded(value)
        match declared:
            case sdk.Anything():
                return
            case sdk.AssetType():
                if not _is_asset(value):
                    yield Problem(path, f"must be an asset or archive, not {_kind(value)}")
            case sdk.Scalar(kind):
                yield from _scalar(path, value, kind)
            case sdk.EnumType(_, values):
                if value not in values:
                    near = _nearest(str(value), map(str, values))
                    yield Problem(path, f"{value!r} is none of {_listed(values)}{near}")
            case sdk.ListOf(item):
                yield from self._list(path, value, item)
            case sdk.MapOf(item):
                yield from self._map(path, value, item)
            case sdk.OneOf(options):
                yield from self._one_of(path, value, options)
            case sdk.ObjectType():
                if isinstance(value, Mapping):
                    yield from self.properties(path, value, sdk.object_type(declared))
                else:
                    yield Problem(path, f"must be an object, not {_kind(value)}")

    def _list(self, path: str, value: Any, item: sdk.Type) -> Iterator[Problem]:
        if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
            yield Problem(path, f"must be a list, not {_kind(value)}")
            return
        for index, entry in enumerate(value):
            yield from self.value(f"{path}[{index}]", entry, item)

    def _map(self, path: str, value: Any, item: sdk.Type) -> Iterator[Problem]:
        if not isinstance(value, Mapping):
            yield Problem(path, f"must be a map, not {_kind(value)}")
            return
        for key, entry in value.items():
            if not key.startswith("__"):
                yield from self.value(f"{path}.{key}", entry, item)

    def _one_of(self, path: str, value: Any, options: Sequence[sdk.Type]) -> Iterator[Problem]:
        enums = [option for option in options if isinstance(option, sdk.EnumType)]
        if self.closed_enums and enums and isinstance(value, str):
            options = enums
        found = [list(self.value(path, value, option)) for option in options]
        if all(found):
            # The option that comes closest says best what to do: the one whose problems lie deepest.
            yield from max(found, key=lambda problems: (max(len(p.path) for p in problems), -len(problems)))


def _not_data(value: Any) -> bool:
    """An `Output`, `Asset`, `Resource` or the like, as the mocks record them: nothing to look into."""
    return not isinstance(value, str | bool | int | float | Mapping | Sequence)


def _is_asset(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get(SIGNATURE) in (ASSET, ARCHIVE)


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _scalar(path: str, value: Any, kind: str) -> Iterator[Problem]:
    names = {"str": "a string", "int": "a whole number", "float": "a number", "bool": "true or false"}
    number = isinstance(value, int | float) and not isinstance(value, bool)
    right = {
        "str": isinstance(value, str),
        "int": number and float(value).is_integer(),
        "float": number,
        "bool": isinstance(value, bool),
    }[kind]
    if not right:
        yield Problem(path, f"must be {names[kind]}, not {_kind(value)}")


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"the number {value:g}"
    if isinstance(value, str):
        return f"the string {value!r}"
    return "an object" if isinstance(value, Mapping) else "a list"


def _listed(values: Sequence[object]) -> str:
    shown = [str(value) for value in values[:12]]
    return ", ".join(shown) + (" ..." if len(values) > len(shown) else "")
