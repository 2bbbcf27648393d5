"""Google Cloud resources of the SDK's largest module (`compute`), as plain resources.

The smaller modules (`container`, `projects`, `serviceaccount`) are used as they are.
"""

from __future__ import annotations

import pulumi

from gpuplatform.component import PlainResource

__all__ = ["GcpResource"]


class GcpResource(PlainResource):
    """One resource of Google Cloud.

    Outputs:
        name: Its physical name.
    """

    SDK = "pulumi-gcp"

    name: pulumi.Output[str]
