"""Cloud KMS: rings and keys, whose names stay taken for good."""

from __future__ import annotations

from gpuplatform.sandbox.cloud.gcp.common import (
    KEY,
    KEY_GRANT,
    NOT_FOUND,
    RING,
    keep_name,
    member_id,
    normal,
    project_of,
    refuse_kept,
)
from gpuplatform.sandbox.cloud.rule import Call, NameRule, Reference, Rule

__all__ = ["RULES"]

_NAME = NameRule(r"[a-zA-Z0-9_-]{1,63}", "1 to 63 of letters, digits, _ and -")


def _ring_id(call: Call) -> str:
    return f"projects/{project_of(call)}/locations/{call.region}/keyRings/{call.name}"


def _key_id(call: Call) -> str:
    return f"{normal(str(call.get('keyRing')))}/cryptoKeys/{call.name}"


RULES = (
    # Neither is ever deleted: the provider forgets a ring, and destroys a key's versions
    # (https://cloud.google.com/kms/docs/resource-hierarchy#key_rings).
    Rule(
        RING,
        names=_NAME,
        id=_ring_id,
        create=lambda call: refuse_kept(call, _ring_id(call)),
        delete=keep_name,
    ),
    Rule(
        KEY,
        names=_NAME,
        references=(Reference("keyRing", RING, NOT_FOUND),),
        id=_key_id,
        create=lambda call: refuse_kept(call, _key_id(call)),
        delete=keep_name,
    ),
    Rule(
        KEY_GRANT,
        references=(Reference("cryptoKeyId", KEY, NOT_FOUND),),
        id=member_id("cryptoKeyId", "role", "member"),
    ),
)
