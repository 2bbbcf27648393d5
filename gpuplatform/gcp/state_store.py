"""Where Pulumi keeps an environment's state on Google Cloud: a bucket and a key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pulumi

from gpuplatform.contracts import StateStoreArgs, StateStoreComponent
from gpuplatform.errors import Refusal
from gpuplatform.gcp.bucket import Bucket, closed_bucket
from gpuplatform.permissions.buckets import state_bucket

__all__ = ["GcpStateStore", "GcpStateStoreArgs"]

_VERSIONS_DAYS: Final = 90
"""For how long an earlier state can be had back."""


@dataclass(frozen=True, kw_only=True)
class GcpStateStoreArgs(StateStoreArgs):
    """What a `GcpStateStore` is made of: the arguments of every state store, and those of Google Cloud.

    Attributes:
        project: The project's ID.

    Raises:
        Refusal: No bucket can have a name that begins like this one.
    """

    project: str

    def __post_init__(self) -> None:
        if self.name.startswith("goog") or "google" in self.name:
            raise Refusal(
                f"no bucket is named {self.bucket}",
                where="name",
                rule="a bucket's name neither starts with goog nor contains google "
                "(https://cloud.google.com/storage/docs/buckets#naming)",
                way_out="choose another name for the platform",
            )

    @property
    def bucket(self) -> str:
        """The bucket's physical name: unique in the world by a hash of project, region and name."""
        return state_bucket("GCS bucket", self.name, of=(self.project, self.region, self.name))


class GcpStateStore(StateStoreComponent):
    """A bucket for the state and a key for its secrets, both protected.

    One key for both: Pulumi encrypts a stack's secrets with it, Cloud Storage all that is in the bucket. Its
    ring and it have names that end in random digits (`gpuplatform.gcp.bucket`), and the output says which.

    Outputs:
        bucket_name: The bucket.
        key_id: The key: `projects/.../cryptoKeys/...`.

    Attributes:
        ready: What must exist before the state can be read.
    """

    TOKEN = "gpuplatform:index:GcpStateStore"  # noqa: S105 - a type token, no secret

    bucket_name: pulumi.Output[str]
    key_id: pulumi.Output[str]
    ready: tuple[pulumi.Resource, ...]

    def __init__(
        self, name: str, args: GcpStateStoreArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        made = closed_bucket(
            self,
            name,
            Bucket(
                name=args.bucket,
                project=args.project,
                region=args.region,
                tags=args.tags,
                keep=True,
                versions_days=_VERSIONS_DAYS,
            ),
        )
        self.bucket_name = made.bucket.name
        self.key_id = made.key.id
        self.ready = (made.bucket, *made.ready)
        self.finish_state(
            # https://www.pulumi.com/docs/iac/concepts/state-and-backends/#google-cloud-storage
            backend_url=pulumi.Output.concat("gs://", made.bucket.name),
            # https://www.pulumi.com/docs/iac/concepts/secrets/#google-cloud-key-management-service-kms
            secrets_provider=pulumi.Output.concat("gcpkms://", made.key.id),
            bucket_name=self.bucket_name,
            key_id=self.key_id,
        )
