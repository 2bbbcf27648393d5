"""Names of buckets: unique in the world, and legal on their cloud."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from gpuplatform.config import Platform
from gpuplatform.config.clouds import Aws, Azure, Gcp
from gpuplatform.errors import Refusal

__all__ = ["BucketRule", "bucket_name"]

_DIGITS: Final = 8
"""Of the hash that keeps apart the buckets of accounts that name platforms, environments and tiers alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketRule:
    """What a cloud takes as a bucket's name.

    Attributes:
        kind: What is named, as its cloud calls it.
        shortest: Shortest name, characters.
        longest: Longest name, characters.
        pattern: Regular expression that a whole name must match.
        says: The pattern in words.
        prefixes: What no name may start with.
        suffixes: What no name may end with.
        words: What no name may contain.
        separator: What joins the parts of a name that is made up.
        source: Where this is documented.
    """

    kind: str
    shortest: int
    longest: int
    pattern: str
    says: str
    prefixes: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    separator: str
    source: str

    def problem(self, name: str) -> str | None:
        """Why `name` is none, or None where it is one."""
        if not self.shortest <= len(name) <= self.longest:
            return f"it has {self.shortest} to {self.longest} characters, this one {len(name)}"
        if not re.fullmatch(self.pattern, name):
            return f"it has {self.says}"
        for prefix in self.prefixes:
            if name.startswith(prefix):
                return f"it starts with none of {', '.join(self.prefixes)}"
        for suffix in self.suffixes:
            if name.endswith(suffix):
                return f"it ends with none of {', '.join(self.suffixes)}"
        for word in self.words:
            if word in name:
                return f"it contains none of {', '.join(self.words)}"
        return None


def bucket_name(config: Platform, tier: str, own: str | None, rule: BucketRule) -> str:
    """The physical name of a tier's bucket: the one asked for, or one made from the platform's name.

    Names of buckets are public and belong to whoever takes them first, on every cloud; so one that is made up
    ends in a hash of the account and region.

    Raises:
        Refusal: The name is none that the cloud takes.
    """
    name = _made_up(config, tier, rule) if own is None else own
    if (why := rule.problem(name)) is None:
        return name
    if own is None:
        raise Refusal(
            f"the bucket's name would be {name}",
            where=f"storage.{tier}.bucket",
            rule=f"{rule.kind}: {why} ({rule.source})",
            way_out=f"name the bucket yourself: storage.{tier}.bucket",
        )
    raise Refusal(
        f"{own} is no name for a bucket",
        where=f"storage.{tier}.bucket",
        rule=f"{rule.kind}: {why} ({rule.source})",
        way_out="choose another name, or leave bucket out: one is made from the platform's name",
    )


def _made_up(config: Platform, tier: str, rule: BucketRule) -> str:
    match config.cloud:
        case Aws():
            account = config.cloud.account
        case Azure():
            account = config.cloud.subscription
        case Gcp():
            account = config.cloud.project
    # All that the name is made of, too: what is cut off below must not make two names one.
    whole = f"{config.name}/{config.environment}/{tier}/{account}/{config.cloud.region}"
    digest = hashlib.sha256(whole.encode()).hexdigest()[:_DIGITS]
    parts = (config.name, config.environment, tier)
    joined = rule.separator.join(parts if rule.separator else (part.replace("-", "") for part in parts))
    room = rule.longest - len(rule.separator) - _DIGITS
    return rule.separator.join((joined[:room].rstrip("-"), digest))
