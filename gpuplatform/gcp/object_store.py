"""A bucket for the environment's data, and how pods mount it: Cloud Storage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pulumi

from gpuplatform.contracts import ObjectStoreArgs, ObjectStoreComponent, StorageHandle, Volume
from gpuplatform.gcp.bucket import Bucket, closed_bucket
from gpuplatform.storage import CachePlan, ObjectPlan

__all__ = ["GcpObjectStore", "GcpObjectStoreArgs"]


@dataclass(frozen=True, kw_only=True)
class GcpObjectStoreArgs(ObjectStoreArgs):
    """What a `GcpObjectStore` is made of: the arguments of every bucket, and those of Google Cloud.

    Attributes:
        project: The project's ID.
    """

    project: str


class GcpObjectStore(ObjectStoreComponent):
    """A bucket in one region: versioned, encrypted with a key of its own, closed to the public.

    Who may read and write is said by grants on the bucket alone, which `GcpWorkloadIdentity` makes. Nothing
    here stands on the network, the cluster or its pools, since `pulumi destroy --exclude-protected` keeps
    what a protected resource stands on.

    A bucket that a teardown takes can be had back for seven days, and its key's versions for thirty; a new
    one of the same name may exist by then (https://cloud.google.com/storage/docs/use-soft-deleted-buckets).

    Outputs: those of every bucket.
    """

    TOKEN = "gpuplatform:index:GcpObjectStore"  # noqa: S105 - a type token, no secret

    def __init__(
        self, name: str, args: GcpObjectStoreArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        plan = args.plan
        made = closed_bucket(
            self,
            name,
            Bucket(
                name=plan.bucket,
                project=args.project,
                region=args.region,
                tags=args.tags,
                keep=plan.keep,
                versions_days=plan.keep_versions_days,
                lifecycle=_colder(plan),
            ),
        )
        bucket = made.bucket
        handle = StorageHandle(
            cloud="gcp",
            name=plan.tier,
            tier="object",
            id=bucket.id,
            uri=pulumi.Output.concat("gs://", bucket.name),
            volume=_volume(bucket.name, plan.cache),
            resource=bucket,
            ready=made.ready,
        )
        self.finish_store(handle, bucket.name)


def _colder(plan: ObjectPlan) -> list[dict[str, Any]]:
    """Colder classes by age. NEARLINE and not COLDLINE before the archive: it bills 30 days at least, not 90.

    https://cloud.google.com/storage/docs/storage-classes
    """
    ages = {"NEARLINE": plan.cold_after_days, "ARCHIVE": plan.archive_after_days}
    return [
        {"action": {"type": "SetStorageClass", "storageClass": kind}, "condition": {"age": age}}
        for kind, age in ages.items()
        if age is not None
    ]


def _volume(bucket: pulumi.Output[str], cache: CachePlan | None) -> Volume:
    """The bucket as Cloud Storage FUSE mounts it.

    https://cloud.google.com/kubernetes-engine/docs/how-to/cloud-storage-fuse-csi-driver-pv. The driver takes
    what follows a colon of the handle for no part of the bucket's name, so volumes of one bucket keep apart
    (GoogleCloudPlatform/gcs-fuse-csi-driver, pkg/util/util.go, ParseVolumeID).
    """
    return Volume(
        driver="gcsfuse.csi.storage.gke.io",
        handle=bucket,
        separator=":",
        # A bucket has no folders of its own; without the option, those that only names imply are not seen.
        mount_options=("implicit-dirs", *(_cache_options(cache) if cache else ())),
        capacity_gib=1,
        pod_annotations={
            "gke-gcsfuse/volumes": "true",
            # The cache's volume counts against the sidecar's own limit, 5 GiB where nothing is said, and the
            # pod is evicted at it; "0" lifts it (https://cloud.google.com/kubernetes-engine/docs/how-to/
            # cloud-storage-fuse-csi-driver-sidecar).
            **({"gke-gcsfuse/ephemeral-storage-limit": "0"} if cache else {}),
        },
        pod_volumes=(_cache_volume(cache),) if cache else (),
    )


def _cache_options(cache: CachePlan) -> tuple[str, ...]:
    """https://cloud.google.com/kubernetes-engine/docs/how-to/cloud-storage-fuse-csi-driver-perf.

    A size and not -1 for all there is: at the size the least recently used files go, without one the volume
    fills up and writes fail. Whole files are kept also where a part was read: training reads them in parts.
    """
    return (f"file-cache:max-size-mb:{cache.gib * 1024}", "file-cache:cache-file-for-range-read:true")


def _cache_volume(cache: CachePlan) -> dict[str, Any]:
    """The cache, on the node's ephemeral storage: its local SSDs, where its pool was made with them.

    The name is the driver's own (pkg/webhook, SidecarContainerCacheVolumeName); without such a volume the
    cache is on the boot disk and ends at the sidecar's 5 GiB.
    """
    return {"name": "gke-gcsfuse-cache", "emptyDir": {"sizeLimit": f"{cache.gib}Gi"}}
