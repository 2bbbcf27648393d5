"""A stack's state as `pulumi stack export` writes it: what exists, with the inputs it was made from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pulumi.runtime import rpc

from gpuplatform.errors import ConfigError

__all__ = ["SECRET", "Existing", "State", "read_state"]

SECRET: Final = "gpuplatform: a secret that the export holds encrypted"  # noqa: S105 - says so, is none
"""Stands in inputs and outputs for a value that only the stack's passphrase or key could tell."""

_VERSION: Final = 3
_WAY_OUT: Final = "write it with: pulumi stack export --stack STACK --file state.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Existing:
    """One resource of the state.

    Attributes:
        inputs: As the provider checked them: its defaults and made-up names included, `__defaults` too.
        provider: URN of its provider, without the provider's ID.
        pending_delete: Whether it was replaced and only its deletion is missing.

    The remaining attributes are the state's fields of the same names.
    """

    urn: str
    type: str
    custom: bool
    id: str = ""
    inputs: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    parent: str = ""
    provider: str = ""
    protect: bool = False
    external: bool = False
    retain_on_delete: bool = False
    pending_delete: bool = False

    @property
    def name(self) -> str:
        """The logical name."""
        return self.urn.rpartition("::")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What one stack holds.

    Attributes:
        project: The Pulumi project's name.
        resources: What exists, by URN, in the state's order.
        pending_deletes: Replaced resources whose deletion is missing.
        interrupted: Operations that an update began and did not end; what they left is not known.
    """

    project: str
    resources: dict[str, Existing]
    pending_deletes: tuple[Existing, ...] = ()
    interrupted: tuple[str, ...] = ()


def read_state(file: Path, stack: str) -> State:
    """The state in `file`.

    Args:
        file: What `pulumi stack export` wrote.
        stack: The stack it must be of; a qualified name counts by its last part.

    Raises:
        ConfigError: The file cannot be read, is no export, or is another stack's.
    """
    deployment = _deployment(file)
    found = [_existing(entry, file) for entry in deployment.get("resources") or ()]
    names = {tuple(resource.urn.split("::")[:2]) for resource in found}
    wanted = stack.rsplit("/", 1)[-1]
    for place, _project in names:
        if place != f"urn:pulumi:{wanted}":
            raise ConfigError(
                f"the state is of the stack {place.removeprefix('urn:pulumi:')!r}, not of {wanted!r}",
                where=str(file),
                way_out=_WAY_OUT.replace("STACK", wanted),
            )
    pending = deployment.get("pending_operations") or ()
    return State(
        project=next((project for _place, project in names), "gpuplatform"),
        resources={r.urn: r for r in found if not r.pending_delete},
        pending_deletes=tuple(r for r in found if r.pending_delete),
        interrupted=tuple(f"{entry.get('type')} {entry['resource']['urn']}" for entry in pending),
    )


def _deployment(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"the state cannot be read: {error.strerror}", where=str(file), way_out=_WAY_OUT
        ) from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ConfigError(f"the state is no JSON: {error}", where=str(file), way_out=_WAY_OUT) from None
    if isinstance(content, dict) and "checkpoint" in content:
        raise ConfigError(
            "this is the backend's own file, not an export",
            where=str(file),
            rule="the backend's format is Pulumi's private matter; the export's is documented",
            way_out=_WAY_OUT,
        )
    deployment = content.get("deployment") if isinstance(content, dict) else None
    if not isinstance(deployment, dict) or not isinstance(deployment.get("resources") or [], list):
        raise ConfigError("this is no export of a stack", where=str(file), way_out=_WAY_OUT)
    if content.get("version") != _VERSION:
        raise ConfigError(
            f"the export has version {content.get('version')!r}",
            where=str(file),
            rule=f"version {_VERSION} is read",
            way_out="export it again with a current Pulumi engine",
        )
    return deployment


def _existing(entry: Any, file: Path) -> Existing:
    try:
        return Existing(
            urn=entry["urn"],
            type=entry["type"],
            custom=bool(entry.get("custom")),
            id=str(entry.get("id", "")),
            inputs=_mapping(_plain(entry.get("inputs"))),
            outputs=_mapping(_plain(entry.get("outputs"))),
            parent=entry.get("parent", ""),
            provider=entry.get("provider", "").rpartition("::")[0],
            protect=bool(entry.get("protect")),
            external=bool(entry.get("external")),
            retain_on_delete=bool(entry.get("retainOnDelete")),
            pending_delete=bool(entry.get("delete")),
        )
    except (AttributeError, KeyError, TypeError):
        raise ConfigError(
            "a resource of the state has no type or URN", where=str(file), way_out=_WAY_OUT
        ) from None


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _plain(value: Any) -> Any:
    """The value without the engine's wrappers, as a recording has it."""
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if rpc._special_sig_key not in value:  # noqa: SLF001 - the wire format's own marker
        return {key: _plain(inner) for key, inner in value.items()}
    if "plaintext" in value:  # exported with --show-secrets
        return _plain(json.loads(value["plaintext"]))
    if "ciphertext" in value:
        return SECRET
    for key in ("value", "text", "urn", "path", "uri"):
        if key in value:
            return _plain(value[key])
    return rpc.UNKNOWN
