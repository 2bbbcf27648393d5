"""What the labels of a pool's nodes say about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gpuplatform.guardrails.footprint import UNKNOWN_MARKS, RawResource, Unknown
from gpuplatform.profile import POOL_LABEL, PURPOSE_LABEL

__all__ = ["physical_name", "pool_name", "purpose"]


def pool_name(
    labels: Mapping[str, Any] | Unknown, props: Mapping[str, Any], physical: str, raw: RawResource
) -> str:
    """The pool's name: by label where the platform made it, else its physical name, else its logical one."""
    return _known(labels, POOL_LABEL) or physical_name(props, physical, raw)


def physical_name(props: Mapping[str, Any], key: str, raw: RawResource) -> str:
    """The name in the cloud; the logical one where that is unknown, or auto-named after it."""
    physical = _known(props, key)
    if physical is None or re.fullmatch(f"{re.escape(raw.name)}-?[0-9a-f]{{7,8}}", physical):
        return raw.name
    return physical


def purpose(labels: Mapping[str, Any] | Unknown) -> str | None:
    """What the pool is for, where a label says so."""
    return _known(labels, PURPOSE_LABEL)


def _known(mapping: Mapping[str, Any] | Unknown, key: str) -> str | None:
    found = None if isinstance(mapping, Unknown) else mapping.get(key)
    return found if isinstance(found, str) and found and found not in UNKNOWN_MARKS else None
