"""What every component has in common: a pinned type token, children that belong to it, outputs that match."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any, ClassVar

import pulumi

__all__ = ["Component", "PlainResource"]


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


class PlainResource(pulumi.CustomResource):
    """A resource without its SDK's typed class.

    Some modules of the SDKs are megabytes of generated classes that load as a whole, and loading them takes
    longer than everything else that a plan does. The resources registered with this class are the same; their
    inputs are checked against the SDK's types by the tests, where loading those costs nobody anything.

    A subclass sets `SDK`, the distribution whose provider plugin it needs. Each input is an attribute as
    well, as with the SDK's classes; an output is one where its name is given as an input without a value.

    Args:
        token: Its type token, such as `aws:ec2/vpc:Vpc`.
        name: Pulumi's logical name.
        props: Its inputs, in the provider's own camelCase.
        opts: As for any resource.
    """

    SDK: ClassVar[str]

    def __init__(self, token: str, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        # The plugin's version goes with the installed SDK's, as the typed classes do it: it decides where no
        # explicit provider is given.
        pinned = pulumi.ResourceOptions(version=_version(self.SDK))
        super().__init__(token, name, dict(props), pulumi.ResourceOptions.merge(pinned, opts))


@cache
def _version(distribution: str) -> str:
    return version(distribution)
