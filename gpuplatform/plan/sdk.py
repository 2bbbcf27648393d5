"""The one cloud SDK that a stack needs, and a sentence where it is not installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Final

from gpuplatform.catalog import Cloud
from gpuplatform.errors import ConfigError

__all__ = ["build_of"]

_PACKAGES: Final[dict[Cloud, str]] = {
    "aws": "pulumi_aws",
    "azure": "pulumi_azure_native",
    "gcp": "pulumi_gcp",
}


def build_of(cloud: Cloud) -> Callable[[Any], Any]:
    """`gpuplatform.platform.build.build`, once the cloud's SDK is known to be there.

    Raises:
        ConfigError: The SDK is not installed.
    """
    if find_spec(_PACKAGES[cloud]) is None:
        raise ConfigError(
            f"the stack is on {cloud}, whose Pulumi SDK is not installed",
            rule="each cloud's SDK is an extra, so that nobody installs all three",
            way_out=f"pip install 'gpuplatform[{cloud}]'",
        )
    from gpuplatform.platform.build import build

    return build
