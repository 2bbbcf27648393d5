"""What every component has in common: a pinned type token, children that belong to it, outputs that match."""

from __future__ import annotations

from typing import Any, ClassVar

import pulumi

__all__ = ["Component"]


class Component(pulumi.ComponentResource):
    """Base of all components.

    A subclass sets `TOKEN` (`gpuplatform:index:EksCluster`; the component-provider host takes no module but
    `index`, and changing a token later replaces every child unless an alias is given), creates its children
    with `self.child()`, and ends its constructor with `self.finish(...)`.
    """

    TOKEN: ClassVar[str]

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.TOKEN, name, None, opts)

    def child(self, **options: Any) -> pulumi.ResourceOptions:
        """Options of a child: this component as parent, and whatever else the child needs.

        The caller's own options went to the component and reach the child by inheritance (providers, protect,
        transforms); merging them in here would let the caller's `parent` win and take the child out.
        """
        return pulumi.ResourceOptions(parent=self, **options)

    def finish(self, **outputs: Any) -> None:
        """Registers the outputs under the attributes' own names; the attributes are set by the subclass.

        Raises:
            AttributeError: An output has no attribute of its name, so users could not reach it.
        """
        for key in outputs:
            getattr(self, key)
        self.register_outputs(outputs)
