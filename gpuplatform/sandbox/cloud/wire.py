"""Values on the wire: protobuf structs to plain Python and back, wrappers, unknowns, paths."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf import struct_pb2

from gpuplatform.sandbox.sdk_types import SECRET, SIGNATURE, UNKNOWN, unwrapped

__all__ = ["UNKNOWN", "at", "digest", "first", "known", "merged", "plain", "secret", "to_dict", "to_struct"]


def to_dict(struct: struct_pb2.Struct) -> dict[str, Any]:
    """A protobuf struct as plain Python. Numbers stay floats, as the engine sends them."""
    return {key: _from_value(value) for key, value in struct.fields.items()}


def _from_value(value: struct_pb2.Value) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return to_dict(value.struct_value)
    if kind == "list_value":
        return [_from_value(entry) for entry in value.list_value.values]
    return None if kind in (None, "null_value") else getattr(value, kind)


def to_struct(values: Mapping[str, Any]) -> struct_pb2.Struct:
    """The reverse of `to_dict`."""
    struct = struct_pb2.Struct()
    struct.update(values)
    return struct


def plain(value: Any) -> Any:
    """The value without secret and output wrappers, at any depth; unknowns stay the sentinel."""
    value = unwrapped(value)
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return value


def secret(value: Any) -> dict[str, Any]:
    """The value, marked secret for the engine."""
    return {SIGNATURE: SECRET, "value": value}


def known(value: Any) -> bool:
    """Whether no part of the value is unknown."""
    if isinstance(value, Mapping):
        return all(known(entry) for entry in value.values())
    if isinstance(value, list):
        return all(known(entry) for entry in value)
    return bool(value != UNKNOWN)


def at(values: Any, path: str) -> Iterator[Any]:
    """Every value at a path such as `vpcConfig.subnetIds[]`; none where a part of it is absent or unknown."""
    head, _, rest = path.partition(".")
    name = head.removesuffix("[]")
    value = values.get(name) if isinstance(values, Mapping) else None
    entries = value if head.endswith("[]") and isinstance(value, list) else [value]
    for entry in entries:
        if entry is None or entry == UNKNOWN or (head.endswith("[]") and not isinstance(value, list)):
            continue
        if rest:
            yield from at(entry, rest)
        else:
            yield entry


def first(values: Any, path: str, default: Any = None) -> Any:
    """The first value at a path, or the default."""
    return next(at(values, path), default)


def merged(base: Any, over: Any) -> Any:
    """`over` laid upon `base`, objects key by key; secrets of `base` stay where `over` says nothing."""
    if isinstance(base, Mapping) and isinstance(over, Mapping) and SIGNATURE not in base:
        result = dict(base)
        for key, value in over.items():
            result[key] = merged(base[key], value) if key in base else value
        return result
    return over


def digest(*parts: str, length: int) -> str:
    """Hexadecimal digits of the parts alone: what a cloud makes up is the same on each read."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:length]
