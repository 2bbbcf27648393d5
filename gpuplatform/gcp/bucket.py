"""A bucket that is closed to the public and encrypted with a key of its own, and that key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from gpuplatform.component import Component
from gpuplatform.gcp.project import storage_agent
from gpuplatform.gcp.resource import GcpResource
from gpuplatform.tags import Tags

__all__ = ["Bucket", "ClosedBucket", "closed_bucket"]

_DAY: Final = 86400
_ROTATION: Final = f"{90 * _DAY}s"
"""Older versions of a key go on decrypting (https://cloud.google.com/kms/docs/key-rotation)."""

_SOFT_DELETE: Final = 7 * _DAY
"""The least that Cloud Storage takes, and its default (https://cloud.google.com/storage/docs/soft-delete)."""

_UPLOAD_DAYS: Final = 7
"""After which an upload that never ended is dropped; its parts are billed like objects."""


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """What a bucket is made of.

    Attributes:
        name: Its physical name, unique in the world.
        project: The project's ID.
        region: Where it is, and its key: Cloud KMS keys serve their own location only.
        tags: Labels of bucket and key.
        keep: Whether teardowns leave it alone; where false, they take it with all its data.
        versions_days: For how long an overwritten or deleted object can be had back, days.
        lifecycle: Further rules, as the API spells them.
    """

    name: str
    project: str
    region: str
    tags: Tags
    keep: bool
    versions_days: int
    lifecycle: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, kw_only=True)
class ClosedBucket:
    """A bucket and its key.

    Attributes:
        bucket: The bucket.
        key: The key that encrypts it.
        ready: What must exist before an object can be read.
    """

    bucket: GcpResource
    key: GcpResource
    ready: tuple[pulumi.Resource, ...]


def closed_bucket(owner: Component, prefix: str, asked: Bucket) -> ClosedBucket:
    """The bucket as a child of `owner`, with its key; neither stands on anything of a network or a cluster.

    It takes no access lists and nobody from the public, whatever a grant says; Cloud Storage's API answers
    over TLS only (https://cloud.google.com/storage/docs/encryption/default-keys says how it is encrypted
    without a key of one's own). Deliberately absent: a hierarchical namespace, which excludes versioning
    (https://cloud.google.com/storage/docs/hns-overview).
    """
    key, granted = _key(owner, prefix, asked)
    bucket = GcpResource(
        "gcp:storage/bucket:Bucket",
        f"{prefix}-bucket",
        {
            "name": asked.name,
            "project": asked.project,
            "location": asked.region,
            "storageClass": "STANDARD",
            "uniformBucketLevelAccess": True,
            "publicAccessPrevention": "enforced",
            "encryption": {"defaultKmsKeyName": key.id},
            "versioning": {"enabled": True},
            "softDeletePolicy": {"retentionDurationSeconds": _SOFT_DELETE},
            "lifecycleRules": [*asked.lifecycle, *_tidied(asked.versions_days)],
            "forceDestroy": not asked.keep,
            "labels": asked.tags.gcp(),
        },
        # Without the grant, Cloud Storage refuses to make a bucket with that key.
        owner.child(protect=asked.keep, depends_on=[granted]),
    )
    return ClosedBucket(bucket=bucket, key=key, ready=(granted,))


def _key(owner: Component, prefix: str, asked: Bucket) -> tuple[GcpResource, GcpResource]:
    """The key, and Cloud Storage's right to use it; as well protected as the data that they make readable.

    Neither ring nor key has a name of ours. Google Cloud deletes neither: a ring stays as it is, a key loses
    its versions (30 days after they are destroyed, until when they can be restored), and both names stay
    taken for good (https://cloud.google.com/kms/docs/destroy-restore). So an environment that was torn down
    and comes back must find other names than before, and Pulumi's own end in random digits. What is left
    over costs nothing: versions that are destroyed are not billed (https://cloud.google.com/kms/pricing).
    """
    options = {"protect": asked.keep}
    ring = GcpResource(
        "gcp:kms/keyRing:KeyRing",
        f"{prefix}-key-ring",
        {"project": asked.project, "location": asked.region},
        owner.child(**options),
    )
    key = GcpResource(
        "gcp:kms/cryptoKey:CryptoKey",
        f"{prefix}-key",
        {
            "keyRing": ring.id,
            "purpose": "ENCRYPT_DECRYPT",
            "rotationPeriod": _ROTATION,
            "labels": asked.tags.gcp(),
        },
        owner.child(**options),
    )
    granted = GcpResource(
        "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
        f"{prefix}-key-grant",
        {
            "cryptoKeyId": key.id,
            "role": "roles/cloudkms.cryptoKeyEncrypterDecrypter",
            "member": storage_agent(owner, asked.project),
        },
        owner.child(**options),
    )
    return key, granted


def _tidied(versions_days: int) -> list[dict[str, Any]]:
    """Old versions go after their time, abandoned uploads after a week."""
    return [
        {
            "action": {"type": "Delete"},
            "condition": {"daysSinceNoncurrentTime": versions_days, "withState": "ARCHIVED"},
        },
        {"action": {"type": "AbortIncompleteMultipartUpload"}, "condition": {"age": _UPLOAD_DAYS}},
    ]
