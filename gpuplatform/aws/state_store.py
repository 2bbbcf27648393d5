"""Where Pulumi keeps its state on AWS: an S3 bucket, and a KMS key for the bucket and Pulumi's secrets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pulumi

from gpuplatform.aws.bucket import closed_bucket
from gpuplatform.aws.resource import LONGEST_WINDOW, AwsResource, Key
from gpuplatform.aws.storage_policies import state_access
from gpuplatform.contracts import StateStoreArgs, StateStoreComponent
from gpuplatform.naming import fit
from gpuplatform.permissions import buckets

__all__ = ["AwsStateStore", "AwsStateStoreArgs", "state_bucket"]

KEEP_VERSIONS_DAYS: Final = 365
"""Longer than anybody notices a lost state: a year of versions of some megabytes costs cents."""


@dataclass(frozen=True, kw_only=True)
class AwsStateStoreArgs(StateStoreArgs):
    """What an `AwsStateStore` is made of: the arguments of every state store, and those of AWS.

    Attributes:
        account: The account's number: names of buckets are unique in the world.
    """

    account: str


class AwsStateStore(StateStoreComponent):
    """A versioned, encrypted, closed bucket for Pulumi's state, and the key that encrypts its secrets.

    Outputs, beside those of every state store:
        bucket_arn: The bucket.
        key_arn: The key.
    """

    TOKEN = "gpuplatform:index:AwsStateStore"  # noqa: S105 - a type token, no secret

    bucket_arn: pulumi.Output[str]
    key_arn: pulumi.Output[str]

    def __init__(
        self, name: str, args: AwsStateStoreArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        key = Key(
            f"{name}-key",
            {
                "description": f"Pulumi's state and secrets of {args.name}",
                "enableKeyRotation": True,
                "deletionWindowInDays": LONGEST_WINDOW,
                "tags": args.tags.aws(Name=f"{args.name}-state"),
            },
            self.child(protect=True),
        )
        alias = AwsResource(
            "aws:kms/alias:Alias",
            f"{name}-alias",
            {"name": f"alias/{fit('KMS alias', args.name, 'state')}", "targetKeyId": key.id},
            self.child(protect=True),
        )
        made = closed_bucket(
            self,
            name,
            name=state_bucket(args.name, args.account, args.region),
            key=key,
            rules=(),
            keep_versions_days=KEEP_VERSIONS_DAYS,
            keep=True,
            tags=args.tags,
        )
        self.bucket_arn = made.bucket.arn
        self.key_arn = key.arn
        # https://www.pulumi.com/docs/iac/concepts/state-and-backends/ and .../concepts/secrets/
        self.finish_state(
            backend_url=made.bucket.id.apply(lambda bucket: f"s3://{bucket}?region={args.region}"),
            secrets_provider=alias.id.apply(lambda known: f"awskms://{known}?region={args.region}"),
            bucket_arn=self.bucket_arn,
            key_arn=self.key_arn,
        )

    def access(self, *, writes: bool) -> pulumi.Output[dict[str, Any]]:
        """What a role must be allowed to run previews, or updates where `writes`."""
        return pulumi.Output.all(self.bucket_arn, self.key_arn).apply(
            lambda known: state_access(known[0], known[1], writes=writes)
        )


def state_bucket(name: str, account: str, region: str) -> str:
    """The bucket's physical name: it ends in a hash, since somebody else may have taken the plain one."""
    return buckets.state_bucket("S3 bucket", name, of=(name, account, region))
