"""What EFA needs in the account: a security group that trusts itself, and room close together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from gpuplatform.aws.resource import AwsResource
from gpuplatform.component import Component
from gpuplatform.tags import Tags

__all__ = ["fabric_security_group", "placement_group"]


def fabric_security_group(
    owner: Component, name: str, *, vpc_id: pulumi.Input[str], tags: Tags
) -> tuple[AwsResource, tuple[AwsResource, ...]]:
    """A security group whose members may say anything to each other, and its two rules.

    Both directions name the group itself: EFA has no IP addresses, so a rule by CIDR matches none of its
    traffic, and with the way out open to 0.0.0.0/0 alone NCCL still hangs (aws/aws-ofi-nccl#663,
    gardener/gardener-extension-provider-aws#1832). Nodes need the rules, not only the group.
    """
    group = AwsResource(
        "aws:ec2/securityGroup:SecurityGroup",
        name,
        {
            "vpcId": vpc_id,
            "description": "Elastic Fabric Adapters of one pool, among themselves",
            "tags": tags.aws(Name=name),
        },
        owner.child(),
    )
    itself = {
        "securityGroupId": group.id,
        "referencedSecurityGroupId": group.id,
        "ipProtocol": "-1",
        "tags": tags.aws(Name=name),
    }
    return group, tuple(_rule(owner, name, direction, itself) for direction in ("Ingress", "Egress"))


def placement_group(owner: Component, name: str, *, tags: Tags) -> AwsResource:
    """A cluster placement group: nodes near each other in one zone. Its ID is its name."""
    return AwsResource(
        "aws:ec2/placementGroup:PlacementGroup",
        name,
        {"strategy": "cluster", "tags": tags.aws(Name=name)},
        owner.child(),
    )


def _rule(owner: Component, name: str, direction: str, props: Mapping[str, Any]) -> AwsResource:
    kind = f"securityGroup{direction}Rule:SecurityGroup{direction}Rule"
    return AwsResource(f"aws:vpc/{kind}", f"{name}-{direction.lower()}", props, owner.child())
