"""The record of a bootstrap: Pulumi's checkpoint as a file in git, without a secret and without noise."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gpuplatform.bootstrap.canonical import canonical
from gpuplatform.errors import ConfigError, GpuPlatformError

__all__ = ["REFUSED", "digest", "digest_of", "read", "resources", "secrets", "text_of", "write"]

REFUSED: Final = "refused"
"""The record's own key, beside the checkpoint's: without it, a record is whole."""

_SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
_SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - Pulumi's mark of a secret, none itself
"""Key and value by which Pulumi marks a secret in a checkpoint (sdk/go/common/resource/sig)."""

_CREDENTIALS: Final = frozenset(
    ("accessKey", "accessToken", "clientSecret", "credentials", "password", "secretKey", "token")
)
"""Inputs of a provider that would let somebody in."""


def read(file: Path) -> dict[str, Any] | None:
    """The checkpoint in `file`; None where there is none.

    Raises:
        ConfigError: It is no checkpoint.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"the record cannot be read: {error.strerror}", where=str(file)) from None
    try:
        found = json.loads(text)
        resources(found)
    except (ValueError, TypeError, LookupError, AttributeError):
        raise ConfigError(
            "this is no record of a bootstrap",
            where=str(file),
            rule="it is a checkpoint as `pulumi stack export` writes it, kept in git as it is",
            way_out="bring it back from git: `git log -- FILE`, then `git checkout COMMIT -- FILE`",
        ) from None
    return dict(found)


def resources(checkpoint: dict[str, Any]) -> list[dict[str, Any]]:
    """The resources that a checkpoint knows."""
    return list(checkpoint["deployment"].get("resources") or [])


def secrets(checkpoint: dict[str, Any]) -> tuple[str, ...]:
    """Where a secret stands in the checkpoint: URN and path of each; nothing is one that ought to be."""
    return tuple(
        f"{resource['urn']}: {path}"
        for resource in resources(checkpoint)
        for part in ("inputs", "outputs")
        for path in _secret_paths(
            resource.get(part), part, provider=resource["type"].startswith("pulumi:providers:")
        )
    )


def _secret_paths(value: Any, path: str, *, provider: bool) -> Iterator[str]:
    if isinstance(value, dict):
        if value.get(_SIGNATURE) == _SECRET:
            yield path
            return
        for key, inner in value.items():
            if provider and key in _CREDENTIALS and inner:
                yield f"{path}.{key}"
            else:
                yield from _secret_paths(inner, f"{path}.{key}", provider=provider)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _secret_paths(inner, f"{path}[{index}]", provider=provider)


def text_of(file: Path, checkpoint: dict[str, Any], *, refused: bool = False) -> str | None:
    """What the record in `file` ought to say; None where it says so already, but for noise.

    Args:
        file: The record.
        checkpoint: What exists.
        refused: Whether the cloud had things of which no record knew; it is noted until that is settled.

    Raises:
        GpuPlatformError: A secret is in it, so it must not come into git; the file stays as it is.
    """
    if found := secrets(checkpoint):
        raise GpuPlatformError(
            f"the record would hold a secret: {', '.join(found)}",
            where=str(file),
            rule="it is kept in git, so it holds none; credentials come from the environment",
            way_out="take the credential out of the provider's settings and run it again; what was built is "
            "not lost: it is in the folder that the next run takes up",
        )
    kept = {**canonical(checkpoint), **({REFUSED: True} if refused else {})}
    known = read(file)
    if known is not None and canonical(known) == kept:
        return None
    return json.dumps(kept, indent=2, ensure_ascii=False) + "\n"


def write(file: Path, text: str) -> None:
    """Replaces the record whole."""
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor, part = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    Path(part).replace(file)
    file.chmod(0o644)


def digest(file: Path) -> str:
    """What the file's content is known by, also where there is no file."""
    return digest_of(file.read_text(encoding="utf-8") if file.is_file() else "")


def digest_of(text: str) -> str:
    """What a content is known by."""
    return hashlib.sha256(text.encode()).hexdigest()
