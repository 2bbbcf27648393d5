"""A bucket that is closed: to the public, to other accounts, to plain HTTP, and to keys of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from gpuplatform.aws.identity import document
from gpuplatform.aws.resource import AwsResource, Bucket, Key
from gpuplatform.aws.storage_policies import tls_only
from gpuplatform.component import Component
from gpuplatform.tags import Tags

__all__ = ["ClosedBucket", "closed_bucket"]

ABANDONED_UPLOAD_DAYS: Final = 7


@dataclass(frozen=True, kw_only=True)
class ClosedBucket:
    """A bucket and what keeps it closed.

    Attributes:
        bucket: The bucket; its ID is its name.
        ready: Its settings: what puts data in depends on them, so that none is ever there without them.
    """

    bucket: Bucket
    ready: Sequence[pulumi.Resource]


def closed_bucket(
    owner: Component,
    prefix: str,
    *,
    name: str,
    key: Key,
    rules: Sequence[Mapping[str, Any]],
    keep_versions_days: int,
    keep: bool,
    tags: Tags,
) -> ClosedBucket:
    """A bucket with versions, encryption and a life cycle, as children of `owner`.

    Where it is kept, all of its settings are kept with it: a teardown that left the bucket and took its
    public access block would leave the data open.

    Args:
        owner: The component.
        prefix: Prefix of the logical names.
        name: Its physical name.
        key: What encrypts it.
        rules: Rules of its life cycle beside those that all buckets have.
        keep_versions_days: For how long an overwritten or deleted object can be had back, days.
        keep: Whether teardowns leave it alone; where false, they take it with all its objects.
        tags: Its tags.
    """
    bucket = Bucket(
        f"{prefix}-bucket",
        {"bucket": name, "forceDestroy": not keep, "tags": tags.aws(Name=name)},
        owner.child(protect=keep),
    )

    def setting(kind: str, part: str, props: Mapping[str, Any], *after: pulumi.Resource) -> AwsResource:
        token = f"aws:s3/{kind[0].lower()}{kind[1:]}:{kind}"
        opts = owner.child(protect=keep, depends_on=list(after))
        return AwsResource(token, f"{prefix}-{part}", {"bucket": bucket.id, **props}, opts)

    public = setting(
        "BucketPublicAccessBlock",
        "public-access",
        {
            "blockPublicAcls": True,
            "blockPublicPolicy": True,
            "ignorePublicAcls": True,
            "restrictPublicBuckets": True,
        },
    )
    ownership = setting(
        # Switches ACLs off: policies alone decide, and what others write belongs to the account.
        "BucketOwnershipControls",
        "ownership",
        {"rule": {"objectOwnership": "BucketOwnerEnforced"}},
    )
    versioning = setting("BucketVersioning", "versioning", {"versioningConfiguration": {"status": "Enabled"}})
    encryption = setting(
        "BucketServerSideEncryptionConfiguration",
        "encryption",
        {
            "rules": [
                {
                    "applyServerSideEncryptionByDefault": {
                        "sseAlgorithm": "aws:kms",
                        "kmsMasterKeyId": key.arn,
                    },
                    # One data key for many objects: without it each read of a training set is a call to KMS
                    # (https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-key.html).
                    "bucketKeyEnabled": True,
                }
            ]
        },
    )
    lifecycle = setting(
        "BucketLifecycleConfiguration",
        "lifecycle",
        {"rules": [*rules, *_cleaning(keep_versions_days)]},
        versioning,
    )
    policy = setting(
        # After the public access block: S3 refuses two changes of a bucket's access at once.
        "BucketPolicy",
        "policy",
        {"policy": document(bucket.arn.apply(tls_only))},
        public,
    )
    return ClosedBucket(bucket=bucket, ready=(public, ownership, versioning, encryption, lifecycle, policy))


def _cleaning(keep_versions_days: int) -> list[dict[str, Any]]:
    """What no bucket keeps for ever: old versions, what is left of them, and uploads that nobody finished.

    Markers have a rule of their own: S3 takes `expiredObjectDeleteMarker` with no other expiration
    (https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-configuration-examples.html).
    """
    everything = {"status": "Enabled", "filter": {"prefix": ""}}
    return [
        {
            "id": "old-versions",
            **everything,
            "noncurrentVersionExpiration": {"noncurrentDays": keep_versions_days},
            "abortIncompleteMultipartUpload": {"daysAfterInitiation": ABANDONED_UPLOAD_DAYS},
        },
        {"id": "empty-markers", **everything, "expiration": {"expiredObjectDeleteMarker": True}},
    ]
