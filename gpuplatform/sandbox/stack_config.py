"""The sandbox's copy of a stack's configuration file.

The engine writes into that file: the sandbox's state has a passphrase, and the passphrase's salt goes there
as `encryptionsalt`. A user's file must stay as it is, byte for byte, and may name the secrets of the real
state already. So the engine is given a copy, without the real state's keys and with the sandbox's own salt.
"""

from __future__ import annotations

import difflib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gpuplatform.errors import ConfigError
from gpuplatform.sandbox.workspace import Home, Project
from gpuplatform.yamlfile import parse

__all__ = ["copy"]

KEYS_OF_THE_STATE = ("encryptionsalt", "secretsprovider", "encryptedkey")
"""What the engine notes there of the state's encryption: ProjectStack in its sdk/go/common/workspace."""

_KEY_LINE = re.compile(rf"^(?:{'|'.join(KEYS_OF_THE_STATE)})\s*:.*\n?", re.MULTILINE)
_SALT_LINE = re.compile(r"^encryptionsalt\s*:.*$", re.MULTILINE)


def copy(project: Project, home: Home, stack: str, given: Path | None = None) -> Path:
    """Brings the sandbox's copy of the configuration of `stack` up to date and returns its path.

    Args:
        project: The user's project.
        home: Where the copies are.
        stack: The stack's name, without organisation or project.
        given: The file that the user named with --config-file, in place of the project's own.

    Raises:
        ConfigError: No such file where others exist, no YAML, or a value that only the real
            state can decrypt.
    """
    source = given or project.stack_file(stack)
    shadow = home.shadow(project)
    target = shadow / f"Pulumi.{stack}.yaml"
    text = _text(project, stack, source, needed=given is not None)
    shadow.mkdir(parents=True, exist_ok=True)
    # JSON is YAML: the quoting is right whatever the name is.
    _write(shadow / "Pulumi.yaml", f'name: "{project.name}"\nruntime: python\n')
    _write(target, text + _own_salt(target))
    return target


def _text(project: Project, stack: str, source: Path, *, needed: bool) -> str:
    if not source.is_file():
        _refuse_unknown(project, stack, source, needed=needed)
        return ""  # a program without configuration is a program too
    data = parse(source)
    if isinstance(data, dict):
        _refuse_unreadable(data, source)
    text = source.read_text(encoding="utf-8")
    kept = _KEY_LINE.sub("", text)
    if isinstance(data, dict) and set(KEYS_OF_THE_STATE) & data.keys() and _still_there(kept):
        raise ConfigError(
            f"the sandbox cannot leave out {' and '.join(sorted(set(KEYS_OF_THE_STATE) & data.keys()))}",
            where=str(source),
            rule="these keys stand on lines of their own, as the engine writes them",
        )
    return kept if kept.endswith("\n") or not kept else kept + "\n"


def _still_there(text: str) -> bool:
    return any(key in text for key in KEYS_OF_THE_STATE)


def _refuse_unknown(project: Project, stack: str, source: Path, *, needed: bool) -> None:
    known = project.stacks()
    if not known and not needed:
        return
    near = difflib.get_close_matches(stack, known, n=1)
    raise ConfigError(
        f"there is no configuration file for the stack {stack!r}",
        where=str(source),
        way_out=(f"did you mean {near[0]!r}? " if near else "")
        + f"stacks with a file: {', '.join(known) or 'none'}",
    )


def _refuse_unreadable(data: dict[object, object], source: Path) -> None:
    if "environment" in data:
        raise ConfigError(
            "`environment` brings values from Pulumi ESC, which the sandbox does not reach",
            where=str(source),
            way_out="keep a copy of the file with plain stand-in values and pass it with --config-file",
        )
    secret = list(_secrets(data.get("config"), ""))
    if secret:
        are, them = ("is", "it") if len(secret) == 1 else ("are", "them")
        raise ConfigError(
            "a secret stands where a plain value belongs: "
            f"{', '.join(secret)} {are} encrypted (`secure:`), and the sandbox has no key to {them}",
            where=str(source),
            rule="the sandbox reads plain values only; gpuplatform:platform never holds a secret",
            way_out="write the value in plain text where it is no secret; otherwise keep a copy of the file "
            "with stand-in values and pass it with --config-file",
        )


def _secrets(value: object, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        if set(value) == {"secure"}:
            yield path
            return
        for key, inner in value.items():
            yield from _secrets(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _secrets(inner, f"{path}[{index}]")


def _own_salt(target: Path) -> str:
    """The line that the engine wrote into the previous copy: it opens the secrets in the sandbox's state."""
    if not target.is_file():
        return ""
    found = _SALT_LINE.search(target.read_text(encoding="utf-8"))
    return f"{found[0]}\n" if found else ""


def _write(target: Path, text: str) -> None:
    """Replaces the file whole: another command may be reading it."""
    descriptor, part = tempfile.mkstemp(dir=target.parent, prefix=".part-")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    Path(part).replace(target)
