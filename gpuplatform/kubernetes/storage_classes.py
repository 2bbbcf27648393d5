"""StorageClasses of the block tier: a default one and a fast one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pulumi

from gpuplatform.component import Component
from gpuplatform.contracts import ClusterHandle
from gpuplatform.kubernetes.objects import KubernetesObject
from gpuplatform.storage import BlockPlan, DiskClass

__all__ = ["StorageClasses", "StorageClassesArgs", "storage_class"]

DEFAULT = "storageclass.kubernetes.io/is-default-class"
"""Clouds mark a class of their own, too. Of several the newest is the default
(https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass), which is this one."""

NOT_ON = "gpuplatform.io/not-on"
"""Names the pools whose machines cannot attach such disks.

The scheduler is told zones only (`topology.gke.io/zone`): a pod with such a disk may be put there, and would
wait for good."""


@dataclass(frozen=True, kw_only=True)
class StorageClassesArgs:
    """What the classes are.

    Attributes:
        cluster: The cluster.
        plan: What they are: `gpuplatform.storage.storage_plans`.
    """

    cluster: ClusterHandle
    plan: BlockPlan


class StorageClasses(Component):
    """The classes of disks that claims name.

    The disks themselves belong to their claims: what `keep` keeps is a disk whose claim is gone, which
    shows in the cluster as a Released volume and in the cloud as an unattached disk.

    Outputs:
        class_names: Names of the classes, the default one first.
    """

    TOKEN = "gpuplatform:index:StorageClasses"  # noqa: S105 - a type token, no secret

    class_names: list[str]

    def __init__(
        self, name: str, args: StorageClassesArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        cluster = args.cluster
        for disks in args.plan.classes:
            KubernetesObject(
                f"{name}-{disks.name}",
                "storage.k8s.io/v1",
                "StorageClass",
                storage_class(disks),
                self.child(
                    provider=cluster.provider,
                    deleted_with=cluster.cluster,
                    depends_on=list(cluster.ready),
                    # The API refuses to change these, and the provider does not know it: it replaces for
                    # `parameters` and `provisioner` alone (pulumi-kubernetes, provider/pkg/provider/diff.go).
                    replace_on_changes=["reclaimPolicy", "volumeBindingMode"],
                    # Two of one name cannot be. Disks and their claims outlive a class.
                    delete_before_replace=True,
                ),
            )
        self.class_names = [disks.name for disks in args.plan.classes]
        self.finish(class_names=self.class_names)


def storage_class(disks: DiskClass) -> dict[str, Any]:
    """The object's fields; pure.

    A disk is made where its first pod is put, so that both are in one zone, and can grow.
    """
    annotations = {DEFAULT: "true"} if disks.default else {}
    if disks.not_on:
        annotations[NOT_ON] = ", ".join(disks.not_on)
    return {
        "metadata": {"name": disks.name, **({"annotations": annotations} if annotations else {})},
        "provisioner": disks.provisioner,
        "parameters": disks.parameters,
        "reclaimPolicy": "Retain" if disks.keep else "Delete",
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": True,
    }
