"""From the SDK's property proxies to plain data, unknowns kept as what they are.

A proxy raises on every touch of an unknown value, and is neither a dict nor a list (pulumi_policy/proxy.py).
The SDK would then turn the whole policy into an advisory note, for all that is known of the resource as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_policy import PolicyResource, ResourceValidationArgs
from pulumi_policy.proxy import UnknownValueError

from gpuplatform.guardrails import UNKNOWN_MARKS, RawResource

__all__ = ["of_args", "of_stack", "plain"]


def plain(value: Any) -> Any:
    """`value` as dicts, lists and scalars; an unknown as its mark on the wire."""
    if isinstance(value, Mapping):
        return {key: _item(value, key) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_item(value, index) for index in range(len(value))]
    return value


def of_args(args: ResourceValidationArgs) -> RawResource:
    """A resource's inputs, as a resource policy sees them."""
    return RawResource(
        type=args.resource_type,
        name=args.name,
        urn=args.urn,
        props=plain(args.props),
        provider_region=_region(args.provider),
    )


def of_stack(resource: PolicyResource, inputs: RawResource | None) -> RawResource:
    """A resource as a stack policy sees it: its outputs, below its inputs where a resource policy saw those.

    Inputs are what the program asks for. Of the outputs only what is known counts: in a preview a provider
    leaves each value unknown that it would choose by itself, which says nothing about the program.
    """
    told = plain(resource.props)
    known = {key: value for key, value in told.items() if not _unknown(value)}
    asked = {
        key: value
        for key, value in (inputs.props if inputs else told).items()
        if key not in known or not _unknown(value)
    }
    return RawResource(
        type=resource.resource_type,
        name=resource.name,
        urn=resource.urn,
        props={**known, **asked},
        provider_region=_region(resource.provider),
        depends={
            prop: tuple(other.urn for other in others)
            for prop, others in resource.property_dependencies.items()
        },
    )


def _item(container: Any, key: Any) -> Any:
    try:
        return plain(container[key])
    except UnknownValueError as unknown:
        return unknown.unknown_type_sentinel


def _unknown(value: Any) -> bool:
    return isinstance(value, str) and value in UNKNOWN_MARKS


def _region(provider: Any) -> str:
    """The region that a provider is set to; Azure Native's is a default location."""
    if provider is None:
        return ""
    for key in ("region", "location"):
        if key in list(provider.props):
            found = _item(provider.props, key)
            if isinstance(found, str) and not _unknown(found):
                return found
    return ""
