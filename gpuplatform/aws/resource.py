"""AWS resources of the SDK's largest modules (`ec2`, `s3`, `fsx`, `budgets`, `kms`), as plain resources.

The small modules, `eks` and `iam`, are used as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pulumi

from gpuplatform.component import PlainResource

__all__ = [
    "LONGEST_WINDOW",
    "SHORTEST_WINDOW",
    "AwsResource",
    "Bucket",
    "Key",
    "LaunchTemplate",
    "LustreFileSystem",
]


LONGEST_WINDOW: Final = 30
SHORTEST_WINDOW: Final = 7
"""Days for which KMS keeps a key that was deleted, at most and at least: until then it can be called back
(https://docs.aws.amazon.com/kms/latest/APIReference/API_ScheduleKeyDeletion.html)."""


class AwsResource(PlainResource):
    """One resource of AWS."""

    SDK = "pulumi-aws"


class Key(AwsResource):
    """A KMS key.

    Outputs:
        arn: Its ARN.
    """

    arn: pulumi.Output[str]

    def __init__(self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__("aws:kms/key:Key", name, {**props, "arn": None}, opts)


class Bucket(AwsResource):
    """An S3 bucket. Its ID is its name.

    Outputs:
        arn: Its ARN.
    """

    arn: pulumi.Output[str]

    def __init__(self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__("aws:s3/bucket:Bucket", name, {**props, "arn": None}, opts)


class LustreFileSystem(AwsResource):
    """A file system of FSx for Lustre.

    Outputs:
        arn: Its ARN.
        dns_name: What clients resolve.
        mount_name: What they mount below it.
    """

    arn: pulumi.Output[str]

    def __init__(self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        outputs = {"arn": None, "dnsName": None, "mountName": None}
        super().__init__("aws:fsx/lustreFileSystem:LustreFileSystem", name, {**props, **outputs}, opts)

    @property
    def dns_name(self) -> pulumi.Output[str]:  # noqa: D102 - above
        name: pulumi.Output[str] = pulumi.get(self, "dnsName")
        return name

    @property
    def mount_name(self) -> pulumi.Output[str]:  # noqa: D102 - above
        name: pulumi.Output[str] = pulumi.get(self, "mountName")
        return name


class LaunchTemplate(AwsResource):
    """An EC2 launch template.

    Outputs:
        latest_version: Number of the latest version, as node groups take it.
    """

    def __init__(self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__(
            "aws:ec2/launchTemplate:LaunchTemplate", name, {**props, "latestVersion": None}, opts
        )

    @property
    def latest_version(self) -> pulumi.Output[str]:  # noqa: D102 - above
        number: pulumi.Output[float] = pulumi.get(self, "latestVersion")
        # Every number is a float on the wire, and EKS knows no version "3.0".
        return number.apply(lambda value: str(int(value)))
