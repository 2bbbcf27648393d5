"""The object tier on AWS: an S3 bucket with a key of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pulumi

from gpuplatform.aws.bucket import closed_bucket
from gpuplatform.aws.identity import document
from gpuplatform.aws.resource import LONGEST_WINDOW, SHORTEST_WINDOW, Key
from gpuplatform.aws.storage_policies import fsx_key_policy
from gpuplatform.contracts import ObjectStoreArgs, ObjectStoreComponent, StorageHandle, Volume
from gpuplatform.storage import ObjectPlan

__all__ = ["AwsObjectStore", "AwsObjectStoreArgs"]

COLD: Final = "STANDARD_IA"
ARCHIVE: Final = "GLACIER_IR"
"""Of the archive classes, the one that is read at once: a mount cannot ask for a restore
(https://docs.aws.amazon.com/AmazonS3/latest/userguide/storage-class-intro.html)."""

DRIVER: Final = "s3.csi.aws.com"


@dataclass(frozen=True, kw_only=True)
class AwsObjectStoreArgs(ObjectStoreArgs):
    """What an `AwsObjectStore` is made of: the arguments of every bucket, and those of AWS.

    Attributes:
        account: The account's number, which the key's policy names.
    """

    account: str


class AwsObjectStore(ObjectStoreComponent):
    """A bucket: versioned, encrypted with its own key, closed to the public, TLS only.

    It depends on nothing of the cluster: what it stood on would be kept with it at a teardown.

    Deliberately absent: access logs, which would be a bucket of their own (CloudTrail's data events are the
    account's), and replication.

    Outputs, beside those of every bucket:
        key_arn: The key.
    """

    TOKEN = "gpuplatform:index:AwsObjectStore"  # noqa: S105 - a type token, no secret

    key_arn: pulumi.Output[str]

    def __init__(
        self, name: str, args: AwsObjectStoreArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        plan = args.plan
        key = Key(
            f"{name}-key",
            {
                "description": f"Objects of {plan.bucket}",
                "enableKeyRotation": True,
                # What is encrypted with it is gone when it is.
                "deletionWindowInDays": LONGEST_WINDOW if plan.keep else SHORTEST_WINDOW,
                "policy": document(fsx_key_policy(args.account, args.region, plan.bucket)),
                "tags": args.tags.aws(Name=f"{args.name}-{plan.tier}"),
            },
            self.child(protect=plan.keep),
        )
        made = closed_bucket(
            self,
            name,
            name=plan.bucket,
            key=key,
            rules=_colder(plan),
            keep_versions_days=plan.keep_versions_days,
            keep=plan.keep,
            tags=args.tags,
        )
        self.key_arn = key.arn
        bucket_name: pulumi.Output[str] = made.bucket.id
        self.finish_store(
            StorageHandle(
                cloud="aws",
                name=plan.tier,
                tier="object",
                id=made.bucket.arn,
                uri=bucket_name.apply("s3://{}".format),
                volume=_volume(plan, args.region, bucket_name),
                resource=made.bucket,
                ready=made.ready,
            ),
            bucket_name,
            key_arn=key.arn,
        )


def _colder(plan: ObjectPlan) -> list[dict[str, Any]]:
    """The rule that moves objects to colder classes; none where they stay."""
    steps = ((plan.cold_after_days, COLD), (plan.archive_after_days, ARCHIVE))
    moves = [{"days": days, "storageClass": kind} for days, kind in steps if days is not None]
    if not moves:
        return []
    return [{"id": "colder", "status": "Enabled", "filter": {"prefix": ""}, "transitions": moves}]


def _volume(plan: ObjectPlan, region: str, bucket: pulumi.Output[str]) -> Volume:
    """How Mountpoint for Amazon S3's CSI driver, version 2, mounts the bucket, as the pod's own identity.

    Source: awslabs/mountpoint-s3-csi-driver, docs/CONFIGURATION.md and docs/CACHING.md. The driver's own
    identity has no rights, so a pod without one of its own mounts nothing. The region is told, since pods do
    not reach the metadata service. A cache is an emptyDir of the Mountpoint pod, which stands on the node's
    local disks where the node has them; on other nodes it is on the boot disk, so pods that mount a cached
    tier belong on the pools of `plan.cache`.
    """
    attributes: dict[str, pulumi.Input[str]] = {"bucketName": bucket, "authenticationSource": "pod"}
    options = [f"region {region}", "allow-delete", "allow-overwrite", "allow-other"]
    if plan.cache is not None:
        attributes |= {"cache": "emptyDir", "cacheEmptyDirSizeLimit": f"{plan.cache.gib}Gi"}
    return Volume(
        driver=DRIVER,
        handle=bucket,
        attributes=attributes,
        mount_options=tuple(options),
        capacity_gib=1024,
        # "If multiple PVs use the same volumeHandle, only one is processed."
        separator="-",
    )
