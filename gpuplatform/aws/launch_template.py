"""The launch template that every node group has: metadata service, disks, tags, and what a pool adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pulumi
from pulumi_aws import eks

from gpuplatform.aws.resource import LaunchTemplate
from gpuplatform.component import Component
from gpuplatform.tags import Tags

__all__ = ["launch_template", "launch_template_of"]

_ROOT_DEVICE: Final = "/dev/xvda"
"""Root device of the AL2023 images (awslabs/amazon-eks-ami, templates/al2023), and of Bottlerocket."""
_DATA_DEVICE: Final = "/dev/xvdb"
"""Where Bottlerocket keeps images and the pods' storage; its root holds the system alone
(https://bottlerocket.dev, "Default volumes")."""
REPLACED_ON: Final = ("instanceType",)
"""What another version would hold, and another template holds instead, which replaces the node group too:
nodes of two machine types in one group have one name for two things."""
REPLACED_ON_BOTTLEROCKET: Final = (*REPLACED_ON, "userData")
"""Bottlerocket is told there how GPUs are shared: nodes that advertise other devices are another pool."""
_TAGGED: Final = ("instance", "volume", "network-interface")


def launch_template(
    owner: Component,
    name: str,
    *,
    node_name: pulumi.Input[str],
    disk_gib: int,
    tags: Tags,
    bottlerocket: bool = False,
    more: Mapping[str, Any] | None = None,
) -> LaunchTemplate:
    """A launch template as a child of `owner`.

    Deliberately absent, since managed node groups refuse or own it
    (https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html): spot market options (the node
    group's capacity type asks for spot; terraform-provider-aws#18025), an instance profile, subnets; and
    security groups: where no interface names any, EKS attaches the cluster's own.

    Args:
        owner: The component.
        name: Logical name.
        node_name: `Name` tag of the instances.
        disk_gib: Disk of images and pods, GiB.
        tags: Tags of the template and of all that is launched from it; a node group's own tags reach neither
            its instances nor their disks. What is launched has no `expires`: another template is another
            version, which replaces every node, and putting off a day must not end a training run.
        bottlerocket: Whether the image is Bottlerocket, which has two volumes.
        more: What the pool's machines need beside: interfaces, placement, reservation, user data.
    """
    launched = {**replace(tags, expires=None).aws(), "Name": node_name}
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
            "blockDeviceMappings": _disks(disk_gib, bottlerocket=bottlerocket),
            "tagSpecifications": [{"resourceType": kind, "tags": launched} for kind in _TAGGED],
            "tags": {**tags.aws(), "Name": node_name},
            **(more or {}),
        },
        owner.child(replace_on_changes=list(REPLACED_ON if not bottlerocket else REPLACED_ON_BOTTLEROCKET)),
    )


def _disks(gib: int, *, bottlerocket: bool) -> list[dict[str, Any]]:
    disk = {"volumeType": "gp3", "encrypted": "true", "deleteOnTermination": "true"}
    sized = {"volumeSize": gib, **disk}
    if not bottlerocket:
        return [{"deviceName": _ROOT_DEVICE, "ebs": sized}]
    return [{"deviceName": _ROOT_DEVICE, "ebs": disk}, {"deviceName": _DATA_DEVICE, "ebs": sized}]


def launch_template_of(template: LaunchTemplate) -> Any:
    """The node group's reference to it: a version by number, so that a change rolls the nodes."""
    return eks.NodeGroupLaunchTemplateArgs(id=template.id, version=template.latest_version)
