"""Google Cloud resources of the SDK's largest module, without its typed classes.

`pulumi_gcp.compute` is megabytes of generated classes that load as a whole: four of the five seconds that the
SDK would take in a plan, for four plain resources. The resources registered here are the same; their inputs
are checked against the SDK's types by the tests, where loading them costs nobody anything. The smaller
modules (`container`, `projects`, `serviceaccount`) are used as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

import pulumi

__all__ = ["GcpResource"]


class GcpResource(pulumi.CustomResource):
    """One resource; each of its inputs is an attribute as well, as with the SDK's classes.

    Args:
        token: Its type token, such as `gcp:compute/network:Network`.
        logical: Pulumi's logical name.
        props: Its inputs, in the provider's own camelCase.
        opts: As for any resource.
    """

    name: pulumi.Output[str]

    def __init__(
        self, token: str, logical: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions
    ) -> None:
        # The plugin's version goes with the installed SDK's, as the typed classes do it: it decides where no
        # explicit provider is given.
        pinned = pulumi.ResourceOptions(version=_sdk_version())
        super().__init__(token, logical, dict(props), pulumi.ResourceOptions.merge(pinned, opts))


@cache
def _sdk_version() -> str:
    return version("pulumi-gcp")
