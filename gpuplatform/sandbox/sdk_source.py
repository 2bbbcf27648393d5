"""The property types of an installed Pulumi SDK, read from its generated source.

Importing `pulumi_gcp.compute` takes 3.4 s and 170 MB, `pulumi_azure_native.network` 1.7 s (measured on two
cores), and a sandbox preview would pay that in the provider as well as in the program. The generated code is
regular, so the one class a check needs is cut out of its file and parsed alone: milliseconds. A test holds
the result against `pulumi._types`, nested classes too, so a change in Pulumi's code generator is noticed.

A name that cannot be resolved becomes `Anything`: reading less than there is never refuses a good program.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "PACKAGES",
    "Anything",
    "AssetType",
    "EnumType",
    "ListOf",
    "MapOf",
    "ObjectType",
    "OneOf",
    "Property",
    "ResourceType",
    "Scalar",
    "Type",
    "object_type",
    "package_tokens",
    "resource_type",
]

PACKAGES = {
    "aws": "pulumi_aws",
    "azure-native": "pulumi_azure_native",
    "gcp": "pulumi_gcp",
    "kubernetes": "pulumi_kubernetes",
}
"""Pulumi package -> Python package, for the four providers that the sandbox simulates."""


@dataclass(frozen=True, slots=True)
class Anything:
    """A value of any shape."""


@dataclass(frozen=True, slots=True)
class AssetType:
    """A `pulumi.Asset` or `pulumi.Archive`."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """`str`, `int`, `float` or `bool`."""

    kind: str


@dataclass(frozen=True, slots=True)
class EnumType:
    """The allowed values. The SDK's own enumeration, or a `Literal`."""

    name: str
    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of one item type."""

    item: Type


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map from free-form keys to one value type."""

    item: Type


@dataclass(frozen=True, slots=True)
class OneOf:
    """Any of several types."""

    options: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class ObjectType:
    """An object class of the SDK, by where it is written; `object_type` reads its properties."""

    file: Path
    name: str


Type: TypeAlias = Anything | AssetType | Scalar | EnumType | ListOf | MapOf | OneOf | ObjectType


@dataclass(frozen=True, slots=True)
class Property:
    """One property, under the camelCase name that the engine uses."""

    type: Type
    required: bool


@dataclass(frozen=True, slots=True)
class ResourceType:
    """A resource's inputs and outputs. For outputs, `required` means the provider always sets it."""

    token: str
    inputs: Mapping[str, Property]
    outputs: Mapping[str, Property] = field(default_factory=dict)


@cache
def _package_folder(package: str) -> Path | None:
    module = PACKAGES.get(package)
    spec = importlib.util.find_spec(module) if module else None
    return Path(spec.origin).parent if spec and spec.origin else None


@cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


@cache
def package_tokens(package: str) -> Mapping[str, tuple[str, str]] | None:
    """Each resource token of a package -> (Python module, class name); None where it is not installed."""
    folder = _package_folder(package)
    if folder is None:
        return None
    found: dict[str, tuple[str, str]] = {}
    # The package's own registry, by which Pulumi finds the class of a resource reference.
    for module, classes in re.findall(
        r'"fqn": "([^"]+)",\s*"classes": \{([^}]*)\}', _text(folder / "__init__.py")
    ):
        for token, name in re.findall(r'"([^"]+)": "([^"]+)"', classes):
            found[token] = (module, name)
    return found


@cache
def resource_type(token: str) -> ResourceType | None:
    """The type behind an exact token such as `aws:eks/nodeGroup:NodeGroup`; None if there is no such type."""
    if token.startswith("pulumi:providers:"):
        package = token.removeprefix("pulumi:providers:")
        folder = _package_folder(package)
        return _read_resource(token, folder / "provider.py", "Provider") if folder else None
    package = token.partition(":")[0]
    where = (package_tokens(package) or {}).get(token)
    folder = _package_folder(package)
    if where is None or folder is None:
        return None
    module, name = where
    file = _class_file(folder.joinpath(*module.split(".")[1:]), name)
    return _read_resource(token, file, name) if file else None


def _read_resource(token: str, file: Path, name: str) -> ResourceType:
    args = next((n for n in (f"{name}Args", f"{name}InitArgs") if _block(file, n)), "")
    inputs = object_type(ObjectType(file, args)) if args else {}
    return ResourceType(token, inputs, _outputs(file, name))


def _class_file(folder: Path, name: str) -> Path | None:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    likely = [folder / f"{snake}.py", folder / f"{name}.py"]
    # A few file names do not follow the rule (`VpcIpv4...`): then every file of the module is looked at.
    for file in [*likely, *sorted(folder.glob("*.py"))]:
        if file.exists() and f"\nclass {name}(pulumi.CustomResource)" in _text(file):
            return file
    return None


@cache
def _block(file: Path, name: str) -> str:
    """The source of one top-level class, or nothing."""
    text = _text(file)
    for head in (f"\nclass {name}:", f"\nclass {name}("):
        start = text.find(head)
        if start >= 0:
            end = re.compile(r"^(?:class |@pulumi|def )", re.MULTILINE).search(text, start + len(head))
            return text[start + 1 : end.start() if end else len(text)]
    return ""


_GETTER = re.compile(
    r'    @pulumi\.getter(?:\(name="([^"]+)"\))?.*?\n    def (\w+)\(self\) -> ([^\n]*):\n', re.DOTALL
)


@cache
def object_type(reference: ObjectType) -> Mapping[str, Property]:
    """The properties of one `...Args` class, or of an output class, by camelCase name."""
    block = _block(reference.file, reference.name)
    names = {python: wire or python for wire, python, _ in _GETTER.findall(block)}
    signature = re.search(r"def __init__\(__self__(?:, \*,)?(.*?)\):\n", block, re.DOTALL)
    if signature is None:
        return {}
    function = ast.parse(f"def f(*, {signature[1]}): pass" if signature[1].strip() else "def f(): pass").body[
        0
    ]
    assert isinstance(function, ast.FunctionDef)  # noqa: S101 - parsed from the text just above
    properties = {}
    for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        annotation = argument.annotation
        kind = _type(annotation, reference.file) if annotation else Anything()
        properties[names.get(argument.arg, argument.arg)] = Property(kind, required=default is None)
    return properties


def _outputs(file: Path, name: str) -> Mapping[str, Property]:
    found = {}
    for wire, python, annotation in _GETTER.findall(_block(file, name)):
        node = ast.parse(annotation, mode="eval").body
        inner = node.slice if isinstance(node, ast.Subscript) else node
        optional = ast.unparse(inner).startswith("Optional[")
        found[wire or python] = Property(_type(inner, file), required=not optional)
    return found


_SCALARS = {"str": "str", "int": "int", "float": "float", "bool": "bool"}
_WRAPPERS = {"pulumi.Input", "pulumi.InputType", "pulumi.Output", "Optional"}
_ASSETS = {"pulumi.Asset", "pulumi.Archive", "pulumi.AssetArchive"}


def _type(node: ast.expr, file: Path) -> Type:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _named(node.value, file)
    if not isinstance(node, ast.Subscript):
        return _named(ast.unparse(node), file)
    outer = ast.unparse(node.value)
    arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if outer in _WRAPPERS:
        return _type(arguments[0], file)
    if outer == "Sequence":
        return ListOf(_type(arguments[0], file))
    if outer == "Mapping":
        return MapOf(_type(arguments[1], file))
    if outer == "Literal":
        return EnumType("", tuple(ast.literal_eval(argument) for argument in arguments))
    if outer == "Union":
        return OneOf(tuple(_type(argument, file) for argument in arguments))
    return Anything()


def _named(name: str, file: Path) -> Type:
    plain = name.removeprefix("_builtins.")
    if plain in _SCALARS:
        return Scalar(_SCALARS[plain])
    if name in _ASSETS:
        return AssetType()
    prefix, _, short = name.rpartition(".")
    for candidate in _definitions(prefix, file):
        head = _block(candidate, short)
        if not head:
            continue
        if "Enum)" in head.partition("\n")[0]:
            return EnumType(short, tuple(_enum_values(head)))
        return ObjectType(candidate, short)
    return Anything()


def _definitions(prefix: str, file: Path) -> Iterator[Path]:
    """Where a class named in `file` can be written: beside it, or behind an import of another module."""
    folder = file.parent
    if prefix in {"", "outputs"}:
        beside = ("outputs.py",) if prefix else ("_inputs.py", "_enums.py")
        yield from (p for n in beside if (p := folder / n).exists())
        return
    alias, *rest = prefix.split(".")
    header = _text(file)[:4000]
    found = re.search(rf"^from (\.+)(\S*) import (\w+)(?: as {re.escape(alias)})$", header, re.MULTILINE)
    if found is None:
        return
    base = folder
    for _ in range(len(found[1]) - 1):
        base = base.parent
    target = base.joinpath(*[p for p in found[2].split(".") if p], found[3], *rest)
    if target.with_suffix(".py").exists():
        yield target.with_suffix(".py")
    yield from (p for n in ("_inputs.py", "_enums.py") if (p := target / n).exists())


def _enum_values(block: str) -> Iterator[object]:
    for value in re.findall(r"^    [A-Z_][A-Za-z0-9_]* = (.+)$", block, re.MULTILINE):
        yield ast.literal_eval(value)
