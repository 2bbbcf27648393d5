"""Which buckets a configuration names, and which of them a teardown takes with all their objects."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from gpuplatform.config import Platform
from gpuplatform.config.storage import Object
from gpuplatform.naming import fit
from gpuplatform.storage import bucket_of

__all__ = ["Buckets", "own_buckets", "state_bucket"]

_DIGITS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Buckets:
    """A stack's buckets, as far as roles tell them apart.

    Attributes:
        named: Names that somebody chose and that do not begin like the stack's other names.
        emptied: Those of tiers with `teardown: delete`.
    """

    named: tuple[str, ...]
    emptied: tuple[str, ...]


def own_buckets(config: Platform) -> Buckets:
    """The buckets of a configuration's object tiers.

    Raises:
        Refusal: One has a name that its cloud does not take.
    """
    tiers = {name: tier for name, tier in config.storage.items() if isinstance(tier, Object)}
    prefix = f"{config.physical_name}-"
    chosen = [tier.bucket for tier in tiers.values() if tier.bucket is not None]
    return Buckets(
        named=tuple(sorted(bucket for bucket in chosen if not bucket.startswith(prefix))),
        emptied=tuple(
            sorted(bucket_of(config, name, tier) for name, tier in tiers.items() if tier.teardown == "delete")
        ),
    )


def state_bucket(kind: str, name: str, *, of: tuple[str, ...]) -> str:
    """The physical name of the bucket of Pulumi's state, which no role may touch but for its objects.

    It ends in a hash, since somebody else in the world may have taken the plain one.

    Args:
        kind: What its cloud calls it, for `gpuplatform.naming.fit`.
        name: Prefix of every physical name.
        of: What makes it one of its own.
    """
    return fit(kind, name, "state", hashlib.sha256("/".join(of).encode()).hexdigest()[:_DIGITS])
