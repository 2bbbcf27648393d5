"""Google Cloud resources of the SDK's larger modules, and of those used once or twice, as plain resources.

`container`, `projects` and `serviceaccount` are used as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from gpuplatform.component import PlainResource

__all__ = ["FilestoreInstance", "GcpResource", "IdentityPool", "LustreInstance"]


class GcpResource(PlainResource):
    """One resource of Google Cloud.

    Outputs:
        name: Its physical name.
    """

    SDK = "pulumi-gcp"

    name: pulumi.Output[str]


class IdentityPool(GcpResource):
    """A workload identity pool.

    Outputs:
        name: Its resource name, with the project's number in it.
        pool_id: The ID alone.
    """

    def __init__(self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        token = "gcp:iam/workloadIdentityPool:WorkloadIdentityPool"  # noqa: S105 - a type token, no secret
        super().__init__(token, name, {**props, "name": None}, opts)

    @property
    def pool_id(self) -> pulumi.Output[str]:  # noqa: D102 - above
        pool_id: pulumi.Output[str] = pulumi.get(self, "workloadIdentityPoolId")
        return pool_id


class LustreInstance(GcpResource):
    """An instance of Managed Lustre.

    Outputs:
        mount_point: What clients mount: `ADDRESS@tcp:/FILESYSTEM`.
    """

    def __init__(self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__("gcp:lustre/instance:Instance", name, {**props, "mountPoint": None}, opts)

    @property
    def mount_point(self) -> pulumi.Output[str]:  # noqa: D102 - above
        mount_point: pulumi.Output[str] = pulumi.get(self, "mountPoint")
        return mount_point


class FilestoreInstance(GcpResource):
    """An instance of Filestore in one network.

    Outputs:
        address: Its address there.
    """

    def __init__(self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__("gcp:filestore/instance:Instance", name, {**props, "createTime": None}, opts)

    @property
    def address(self) -> pulumi.Output[str]:
        """The first address of the network: an output inside of an input.

        It comes together with the time of creation, which says whether there is one yet: a preview echoes
        inputs, and knows no outputs inside of them.
        """
        return pulumi.Output.all(
            networks=pulumi.get(self, "networks"), created=pulumi.get(self, "createTime")
        ).apply(lambda known: str((known["networks"][0].get("ipAddresses") or [""])[0]))
