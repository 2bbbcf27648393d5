"""Storage tiers: what an environment keeps, and for how long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gpuplatform.config.base import At, Model

__all__ = ["Block", "Object", "SharedFilesystem", "Storage", "Teardown", "TierName", "storage_problems"]

TierName = Annotated[
    str,
    Field(
        # It ends a bucket's name on every cloud, and Azure's storage accounts leave it the fewest characters.
        pattern=r"^[a-z][a-z0-9]{0,11}$",
        description="A tier's name: at most 12 lower-case letters and digits, starting with a letter.",
    ),
]

Teardown = Annotated[
    Literal["keep", "delete"],
    Field(
        description="keep: protected, no teardown takes it; delete: a teardown takes it with all its data."
    ),
]


class Object(Model):
    """A bucket: durable, versioned, encrypted with a key of its own, closed to the public."""

    tier: Literal["object"]
    bucket: Annotated[
        str | None,
        Field(
            pattern=r"^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$",
            description="Its name: 3 to 63 lower-case letters, digits and hyphens, starting and ending with "
            "a letter or digit (Azure: the storage account's, 3 to 24 letters and digits); "
            "one made from the platform's name where left out.",
        ),
    ] = None
    cache: Annotated[
        Literal["local-nvme"] | None,
        Field(description="local-nvme: pods read it through a cache on their node's local disks."),
    ] = None
    cold_after_days: Annotated[
        int | None,
        Field(ge=30, le=3650, description="Days after which an object moves to a colder class; 30 to 3650."),
    ] = None
    archive_after_days: Annotated[
        int | None,
        Field(
            ge=90,
            le=3650,
            description="Days after which it moves to the archive, at least 60 after the cold.",
        ),
    ] = None
    keep_versions_days: Annotated[
        int,
        Field(ge=1, le=3650, description="Days for which an overwritten or deleted object can be had back."),
    ] = 30
    teardown: Teardown = "keep"

    @model_validator(mode="after")
    def _colder_first(self) -> Self:
        if self.archive_after_days is None:
            return self
        if self.archive_after_days < (self.cold_after_days or 0) + _MONTHS_COLD:
            raise At(
                "archive_after_days",
                f"{self.archive_after_days} is less than {_MONTHS_COLD} days after cold_after_days "
                f"({self.cold_after_days or 'left out: 0'}); colder classes bill whole months",
            )
        return self


_MONTHS_COLD = 60
"""Objects pay for at least 30 days in a cold class and for more in colder ones
(https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-transition-general-considerations.html,
https://cloud.google.com/storage/docs/storage-classes)."""


class SharedFilesystem(Model):
    """A file system that all nodes mount at once."""

    tier: Literal["shared-filesystem"]
    service: Annotated[
        Literal["lustre", "nfs"],
        Field(
            description="lustre: FSx for Lustre, Azure Managed Lustre, Google Managed Lustre; nfs, for small "
            "ones: EFS is not among them, so not on AWS; Azure Files NFS; Filestore."
        ),
    ] = "lustre"
    capacity_gib: Annotated[
        int, Field(ge=1, le=1_048_576, description="Its size, GiB, in the service's own steps.")
    ]
    throughput: Annotated[
        int | None,
        Field(
            ge=1,
            description="MB/s for each TiB, one of those sold in that size; the least where left out.",
        ),
    ] = None
    zone: Annotated[
        str | None,
        Field(
            min_length=1,
            description="The zone that it stands in and never leaves; the network's only one where left out.",
        ),
    ] = None
    source: Annotated[
        TierName | None,
        Field(description="AWS: the object tier that it reads from and writes to."),
    ] = None
    teardown: Teardown = "keep"


class Block(Model):
    """Disks of single pods: a default StorageClass and a fast one, for the claims of everybody."""

    tier: Literal["block"]
    iops: Annotated[
        int | None,
        Field(
            ge=1,
            le=350_000,
            description="Of each fast disk; 3000, as many as a default disk has, where left out.",
        ),
    ] = None
    throughput_mibps: Annotated[
        int | None,
        Field(
            ge=1,
            le=5000,
            description="Of each fast disk, MiB/s; the least where left out. Not on AWS (by IOPS).",
        ),
    ] = None
    teardown: Annotated[
        Literal["keep", "delete"],
        Field(
            description="keep: a disk outlives its claim; delete: it goes with its claim, and its data too."
        ),
    ] = "keep"


Storage = Annotated[Object | SharedFilesystem | Block, Field(discriminator="tier")]


def storage_problems(storage: Mapping[str, Storage], zones: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What the tiers say of one another and of the network that is not so: the path, and why."""
    buckets: dict[str, str] = {}
    blocks = [name for name, tier in storage.items() if isinstance(tier, Block)]
    for name in blocks[1:]:
        yield f"storage.{name}", f"{blocks[0]} is the cluster's disks already; a cluster has one such tier"
    for name, tier in storage.items():
        if isinstance(tier, Object) and tier.bucket is not None:
            if tier.bucket in buckets:
                yield (
                    f"storage.{name}.bucket",
                    f"{tier.bucket} is the bucket of {buckets[tier.bucket]} already",
                )
            buckets[tier.bucket] = name
        if isinstance(tier, SharedFilesystem):
            if tier.zone is not None and tier.zone not in zones:
                yield f"storage.{name}.zone", f"{tier.zone} is no zone of the network ({', '.join(zones)})"
            if tier.source is not None and not isinstance(storage.get(tier.source), Object):
                objects = [other for other, one in storage.items() if isinstance(one, Object)]
                yield (
                    f"storage.{name}.source",
                    f"there is no object tier {tier.source}; there is {', '.join(objects) or 'none'}",
                )
