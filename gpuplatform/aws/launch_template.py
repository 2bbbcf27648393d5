"""The launch template that every node group has: metadata service, root disk, tags."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pulumi
from pulumi_aws import eks

from gpuplatform.aws.resource import LaunchTemplate
from gpuplatform.component import Component
from gpuplatform.tags import Tags

__all__ = ["launch_template", "launch_template_of"]

_ROOT_DEVICE: Final = "/dev/xvda"
"""Root device of the EKS-optimized AL2023 images (awslabs/amazon-eks-ami, templates/al2023)."""
_TAGGED: Final = ("instance", "volume", "network-interface")


def launch_template(
    owner: Component, name: str, *, node_name: pulumi.Input[str], disk_gib: int, tags: Tags
) -> LaunchTemplate:
    """A launch template as a child of `owner`.

    Deliberately absent, since managed node groups refuse or own it
    (https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html): spot market options (the node
    group's capacity type asks for spot; terraform-provider-aws#18025), an instance profile, subnets; and
    security groups: where none is named, EKS attaches the cluster's own.

    Args:
        owner: The component.
        name: Logical name.
        node_name: `Name` tag of the instances.
        disk_gib: Root disk, GiB.
        tags: Tags of the template and of all that is launched from it; a node group's own tags reach neither
            its instances nor their disks. What is launched has no `expires`: another template is another
            version, which replaces every node, and putting off a day must not end a training run.
    """
    launched = {**replace(tags, expires=None).aws(), "Name": node_name}
    disk = {
        "volumeSize": disk_gib,
        "volumeType": "gp3",
        "encrypted": "true",
        "deleteOnTermination": "true",
    }
    return LaunchTemplate(
        name,
        {
            "updateDefaultVersion": True,
            "metadataOptions": {
                "httpEndpoint": "enabled",
                "httpTokens": "required",
                # One hop: pods do not reach the node's role through the metadata service. What needs AWS has
                # a Pod Identity (what a CSI driver without one does: nebari-dev/nebari#3213).
                "httpPutResponseHopLimit": 1,
            },
            "blockDeviceMappings": [{"deviceName": _ROOT_DEVICE, "ebs": disk}],
            "tagSpecifications": [{"resourceType": kind, "tags": launched} for kind in _TAGGED],
            "tags": {**tags.aws(), "Name": node_name},
        },
        owner.child(),
    )


def launch_template_of(template: LaunchTemplate) -> Any:
    """The node group's reference to it: a version by number, so that a change rolls the nodes."""
    return eks.NodeGroupLaunchTemplateArgs(id=template.id, version=template.latest_version)
