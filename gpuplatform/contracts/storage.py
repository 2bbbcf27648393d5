"""What storage tiers are made of and what they give, on every cloud."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pulumi

from gpuplatform.catalog import Cloud
from gpuplatform.component import Component
from gpuplatform.storage import ObjectPlan, SharedFilesystemPlan
from gpuplatform.tags import Tags

__all__ = [
    "ObjectStoreArgs",
    "ObjectStoreComponent",
    "SharedFilesystemArgs",
    "SharedFilesystemComponent",
    "StorageHandle",
    "Volume",
]


@dataclass(frozen=True, kw_only=True)
class Volume:
    """How a pod mounts a tier: the part of a PersistentVolume that its CSI driver reads.

    Attributes:
        driver: The CSI driver's name.
        handle: `volumeHandle`. Where `one_a_volume`, each PersistentVolume adds its own name to it.
        attributes: `volumeAttributes`; all values are text.
        mount_options: Mount options; a cache's are among them.
        access_modes: Such as `ReadWriteMany`.
        capacity_gib: What the PersistentVolume says it holds; a bucket has no size, and Kubernetes wants one.
        separator: What joins handle and name where each volume needs a handle of its own; empty where all
            volumes of the tier share one.
        pod_annotations: What a pod that mounts it must carry, such as GKE's `gke-gcsfuse/volumes`.
        pod_volumes: Volumes that such a pod declares beside the claim, as the API spells them.
    """

    driver: str
    handle: pulumi.Input[str]
    attributes: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    mount_options: tuple[str, ...] = ()
    access_modes: tuple[str, ...] = ("ReadWriteMany",)
    capacity_gib: int
    separator: str = ""
    pod_annotations: Mapping[str, str] = field(default_factory=dict)
    pod_volumes: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, kw_only=True)
class StorageHandle:
    """A storage tier, whatever its cloud.

    Attributes:
        cloud: Which cloud it is on.
        name: The tier's name in the configuration.
        tier: What kind it is.
        id: What identifies it for good: ARN (AWS), resource ID (Azure), resource name (GCP).
        uri: How programs name it: `s3://...`, `abfss://...@....dfs.core.windows.net`, `gs://...`, or a file
            system's address.
        volume: How pods mount it.
        resource: The resource that holds the data.
        ready: What must exist before it can be mounted, beside `resource`.
    """

    cloud: Cloud
    name: str
    tier: Literal["object", "shared-filesystem"]
    id: pulumi.Output[str]
    uri: pulumi.Output[str]
    volume: Volume
    resource: pulumi.Resource
    ready: Sequence[pulumi.Resource] = ()


@dataclass(frozen=True, kw_only=True)
class ObjectStoreArgs:
    """What a bucket is made of, on every cloud.

    Attributes:
        plan: What it is: `gpuplatform.storage.storage_plans`.
        name: Prefix of every physical name but the bucket's, such as `vision-prod`.
        region: The cloud's own name of the region.
        tags: Tags of every resource that takes some.
    """

    plan: ObjectPlan
    name: str
    region: str
    tags: Tags


@dataclass(frozen=True, kw_only=True)
class SharedFilesystemArgs:
    """What a shared file system is made of, on every cloud.

    Attributes:
        plan: What it is: `gpuplatform.storage.storage_plans`.
        name: Prefix of every physical name, such as `vision-prod`.
        region: The cloud's own name of the region.
        tags: Tags of every resource that takes some.
    """

    plan: SharedFilesystemPlan
    name: str
    region: str
    tags: Tags


class _Store(Component):
    """A tier that holds data.

    Attributes:
        handle: The tier for the layers that don't know the cloud.
    """

    handle: StorageHandle


class ObjectStoreComponent(_Store):
    """A bucket, whatever its cloud.

    Outputs:
        bucket_name: Its physical name (Azure: the container's).
        bucket_id: What identifies it for good, as in `StorageHandle`.
        uri: How programs name it.
    """

    bucket_name: pulumi.Output[str]
    bucket_id: pulumi.Output[str]
    uri: pulumi.Output[str]

    def finish_store(self, handle: StorageHandle, bucket_name: pulumi.Output[str], **outputs: Any) -> None:
        """Sets handle and outputs, and registers the outputs, with what else the cloud's bucket gives."""
        self.handle = handle
        self.bucket_name = bucket_name
        self.bucket_id = handle.id
        self.uri = handle.uri
        self.finish(bucket_name=bucket_name, bucket_id=handle.id, uri=handle.uri, **outputs)


class SharedFilesystemComponent(_Store):
    """A shared file system, whatever its cloud.

    Outputs:
        filesystem_id: What identifies it for good, as in `StorageHandle`.
        address: What clients mount: a DNS name, an address, or an export.
    """

    filesystem_id: pulumi.Output[str]
    address: pulumi.Output[str]

    def finish_filesystem(self, handle: StorageHandle, **outputs: Any) -> None:
        """Sets handle and outputs, and registers the outputs, with what else the cloud's service gives."""
        self.handle = handle
        self.filesystem_id = handle.id
        self.address = handle.uri
        self.finish(filesystem_id=handle.id, address=handle.uri, **outputs)
