"""What a change of an input does to a resource, by type: data, one row a type."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Replacement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """Paths are inputs as the provider spells them, without list indices; one covers everything below it.

    Attributes:
        token: The type, without an API version.
        name: The input that is the physical name, whose change replaces; None: the provider's usual one;
            empty: it has none.
        replace: Inputs whose change forces a replacement.
        immutable: Inputs that the provider would update and the cloud refuses to.
        recomputed: Outputs that any update changes, unknown until then.
    """

    token: str = field(kw_only=False)
    name: str | None = None
    replace: tuple[str, ...] = ()
    immutable: tuple[str, ...] = ()
    recomputed: tuple[str, ...] = ()
