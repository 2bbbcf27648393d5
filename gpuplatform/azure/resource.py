"""Azure resources whose SDK modules load slowly (`storage`, `keyvault`, `storagecache`, `consumption`).

As plain resources, so that a plan need not load their classes; the modules that every cluster needs
(`network`, `containerservice`, `managedidentity`, `authorization`) are used as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from gpuplatform.component import PlainResource

__all__ = ["AmlFilesystem", "AzureResource"]


class AzureResource(PlainResource):
    """One resource of Azure.

    Outputs:
        name: Its physical name.
    """

    SDK = "pulumi-azure-native"

    name: pulumi.Output[str]

    def __init__(self, token: str, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__(token, name, {**props, "name": None}, opts)


class AmlFilesystem(AzureResource):
    """A file system of Azure Managed Lustre.

    Outputs:
        mgs_address: IPv4 address that clients mount it by.
    """

    def __init__(self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__("azure-native:storagecache:AmlFilesystem", name, {**props, "clientInfo": None}, opts)

    @property
    def mgs_address(self) -> pulumi.Output[str]:  # noqa: D102 - above
        info: pulumi.Output[dict[str, str]] = pulumi.get(self, "clientInfo")
        return info.apply(lambda found: found["mgsAddress"])
