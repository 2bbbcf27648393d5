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
        smaller_replaces: Inputs whose smaller value, a number or an address range, forces a replacement.
        smaller_refused: Inputs that the provider would make smaller and the cloud refuses to.
        never_across: Inputs that the cloud refuses to change from below a number to it or above, or back.
        recomputed: Outputs that any update changes, unknown until then.
    """

    token: str = field(kw_only=False)
    name: str | None = None
    replace: tuple[str, ...] = ()
    immutable: tuple[str, ...] = ()
    smaller_replaces: tuple[str, ...] = ()
    smaller_refused: tuple[str, ...] = ()
    never_across: tuple[tuple[str, float], ...] = ()
    recomputed: tuple[str, ...] = ()
