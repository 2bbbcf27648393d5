"""Careful reading of raw properties: absent, unknown and malformed are three different things.

Absent reads as empty. Unknown and malformed both read as `Unknown`: neither may pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gpuplatform.guardrails.footprint import UNKNOWN_MARKS, Unknown

__all__ = [
    "GPU_KEYS",
    "asks",
    "flag",
    "items",
    "labelled",
    "mapping",
    "marks_gpus",
    "number",
    "tainted",
    "text",
    "texts",
    "value",
]

Step = str | int

GPU_KEYS: Final = (
    "nvidia.com/",
    "amd.com/gpu",
    "k8s.amazonaws.com/accelerator",
    "cloud.google.com/gke-accelerator",
)
"""Beginnings of label and taint keys that say "GPUs here"."""


def value(props: Any, *path: Step) -> Any:
    """What stands at `path`: plain data, None for nothing, `Unknown` where only the update will tell."""
    here = props
    for depth, step in enumerate(path):
        if isinstance(here, Mapping):
            here = here.get(step)
        elif isinstance(here, list) and isinstance(step, int):
            here = here[step] if step < len(here) else None
        elif here is not None:
            return Unknown(f"{_dotted(path[:depth])} (of an unexpected shape)")
        if isinstance(here, str) and here in UNKNOWN_MARKS:
            return Unknown(_dotted(path[: depth + 1]))
    return here


def text(props: Any, *path: Step) -> str | Unknown:
    """The text at `path`, empty where there is none."""
    found = value(props, *path)
    if found is None:
        return ""
    return found if isinstance(found, str | Unknown) else Unknown(f"{_dotted(path)} (not text)")


def number(props: Any, *path: Step, default: int) -> int | Unknown:
    """The whole number at `path`; the wire has floats, and some SDKs' users write digits as text."""
    found = value(props, *path)
    if found is None:
        return default
    if isinstance(found, Unknown):
        return found
    try:
        whole = int(found)
    except (TypeError, ValueError, OverflowError):
        return Unknown(f"{_dotted(path)} (not a number)")
    return whole if whole >= 0 and not isinstance(found, bool) else Unknown(f"{_dotted(path)} (not a number)")


def flag(props: Any, *path: Step) -> bool | Unknown:
    """The truth value at `path`, False where there is none."""
    found = value(props, *path)
    if found is None:
        return False
    return found if isinstance(found, bool | Unknown) else Unknown(f"{_dotted(path)} (not true or false)")


def items(props: Any, *path: Step) -> list[Any] | Unknown:
    """The list at `path`, empty where there is none; an element may be unknown still."""
    found = value(props, *path)
    if found is None:
        return []
    return found if isinstance(found, list | Unknown) else Unknown(f"{_dotted(path)} (not a list)")


def texts(props: Any, *path: Step) -> tuple[str, ...] | Unknown:
    """The list of texts at `path`; `Unknown` where one of them is."""
    found = items(props, *path)
    if isinstance(found, Unknown):
        return found
    read = [text(props, *path, index) for index in range(len(found))]
    unknown = next((one for one in read if isinstance(one, Unknown)), None)
    return unknown or tuple(one for one in read if isinstance(one, str) and one)


def mapping(props: Any, *path: Step) -> Mapping[str, Any] | Unknown:
    """The mapping at `path`, empty where there is none; a value may be unknown still."""
    found = value(props, *path)
    if found is None:
        return {}
    return found if isinstance(found, Mapping | Unknown) else Unknown(f"{_dotted(path)} (not a mapping)")


def marks_gpus(key: Any, said: Any = None) -> bool:
    """Whether a label or taint of this key says "GPUs here"; `false` as its value says the opposite."""
    return isinstance(key, str) and key.startswith(GPU_KEYS) and str(said).casefold() != "false"


def tainted(props: Any, *path: Step) -> bool | Unknown:
    """Whether one of the taints at `path` (objects with `key` and `value`) marks GPUs."""
    found = items(props, *path)
    if isinstance(found, Unknown):
        return found
    keys = [
        (text(props, *path, index, "key"), value(props, *path, index, "value")) for index in range(len(found))
    ]
    if any(marks_gpus(key, said) for key, said in keys):
        return True
    return next((key for key, _ in keys if isinstance(key, Unknown)), False)


def labelled(props: Any, *path: Step) -> bool | Unknown:
    """Whether one of the labels at `path` marks GPUs."""
    found = mapping(props, *path)
    if isinstance(found, Unknown):
        return found
    return any(marks_gpus(key, said) for key, said in found.items())


def asks(signs: Iterable[bool | Unknown]) -> bool | Unknown:
    """One sign is enough; without any, a sign that is unknown leaves the question open."""
    known = list(signs)
    if any(sign is True for sign in known):
        return True
    return next((sign for sign in known if isinstance(sign, Unknown)), False)


def _dotted(path: tuple[Step, ...]) -> str:
    text_ = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text_.lstrip(".")
