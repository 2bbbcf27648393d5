"""AWS resources of the SDK's largest modules, without their typed classes.

`pulumi_aws.ec2`, `cloudwatch`, `kms` and `autoscaling` are megabytes of generated classes that load as a
whole, and loading them takes longer than everything else that a plan does (`ec2` alone takes twice as long
as Pulumi itself). The resources registered here are the same; their properties are checked against the SDK's
types by the tests, where loading them costs nobody anything. The small modules, `eks` and `iam`, are used as
they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

import pulumi

__all__ = ["AwsResource", "Key", "LaunchTemplate"]


class AwsResource(pulumi.CustomResource):
    """One resource.

    Args:
        token: Its type token, such as `aws:ec2/vpc:Vpc`.
        name: Pulumi's logical name.
        props: Its inputs, in the provider's own camelCase.
        opts: As for any resource.
    """

    def __init__(self, token: str, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        # The plugin's version goes with the installed SDK's, as the typed classes do it: it decides where no
        # explicit provider is given.
        pinned = pulumi.ResourceOptions(version=_sdk_version())
        super().__init__(token, name, dict(props), pulumi.ResourceOptions.merge(pinned, opts))


class Key(AwsResource):
    """A KMS key.

    Outputs:
        arn: Its ARN.
    """

    arn: pulumi.Output[str]

    def __init__(self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        # A property without a value is what makes Pulumi hand back the output of its name.
        super().__init__("aws:kms/key:Key", name, {**props, "arn": None}, opts)


class LaunchTemplate(AwsResource):
    """An EC2 launch template."""

    def __init__(self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__(
            "aws:ec2/launchTemplate:LaunchTemplate", name, {**props, "latestVersion": None}, opts
        )

    @property
    def latest_version(self) -> pulumi.Output[str]:
        """Number of the latest version, as node groups take it."""
        number: pulumi.Output[float] = pulumi.get(self, "latestVersion")
        # Every number is a float on the wire, and EKS knows no version "3.0".
        return number.apply(lambda value: str(int(value)))


@cache
def _sdk_version() -> str:
    return version("pulumi-aws")
