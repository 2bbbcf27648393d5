"""Policy documents of buckets and their keys: who reads, who writes, and over what connection; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuplatform.aws.policies import VERSION, partition

__all__ = ["fsx_key_policy", "object_access", "state_access", "tls_only"]


def tls_only(bucket_arn: str) -> dict[str, Any]:
    """A bucket's own policy: whoever comes without TLS 1.2 is turned away, whatever else allows them in.

    Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/security-best-practices.html.
    """
    everything = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [bucket_arn, f"{bucket_arn}/*"],
    }
    return {
        "Version": VERSION,
        "Statement": [
            {"Sid": "EncryptedOnly", **everything, "Condition": {"Bool": {"aws:SecureTransport": "false"}}},
            {"Sid": "Tls12", **everything, "Condition": {"NumericLessThan": {"s3:TlsVersion": "1.2"}}},
        ],
    }


def fsx_key_policy(account: str, region: str, bucket: str) -> dict[str, Any]:
    """The policy of a bucket's key: IAM decides as usual, and file systems linked to the bucket use it.

    FSx reaches a linked bucket with a service-linked role of the file system, whose own policy says nothing
    of keys. The role does not exist before the link, and KMS takes no principal that does not exist, so it is
    named by a condition. With S3 Bucket Keys the encryption context is the bucket
    (https://docs.aws.amazon.com/fsx/latest/LustreGuide/s3-server-side-encryption-support.html).
    """
    part = partition(region)
    root = {"AWS": f"arn:{part}:iam::{account}:root"}
    services = f"arn:{part}:iam::{account}:role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com"
    return {
        "Version": VERSION,
        "Statement": [
            {"Sid": "Iam", "Effect": "Allow", "Principal": root, "Action": "kms:*", "Resource": "*"},
            {
                "Sid": "LinkedFileSystems",
                "Effect": "Allow",
                "Principal": root,
                "Action": [
                    "kms:Encrypt",
                    "kms:Decrypt",
                    "kms:ReEncryptFrom",
                    "kms:ReEncryptTo",
                    "kms:GenerateDataKey",
                    "kms:GenerateDataKeyWithoutPlaintext",
                    "kms:DescribeKey",
                ],
                "Resource": "*",
                "Condition": {
                    "StringEquals": {
                        "kms:CallerAccount": account,
                        "kms:ViaService": f"s3.{region}.amazonaws.com",
                        "kms:EncryptionContext:aws:s3:arn": f"arn:{part}:s3:::{bucket}",
                    },
                    "ArnLike": {"aws:PrincipalArn": f"{services}/AWSServiceRoleForFSxS3Access_*"},
                },
            },
        ],
    }


def object_access(buckets: Sequence[str], keys: Sequence[str]) -> dict[str, Any]:
    """Reading and writing objects, and nothing else: not the bucket's settings, not what was overwritten.

    The actions are those that Mountpoint for Amazon S3 asks for (awslabs/mountpoint-s3,
    doc/CONFIGURATION.md, "IAM permissions"). A deletion leaves a marker: no version goes by it.

    Args:
        buckets: ARNs of the buckets.
        keys: ARNs of the keys that encrypt them.
    """
    return {
        "Version": VERSION,
        "Statement": [
            _allow("List", ["s3:ListBucket"], list(buckets)),
            _allow(
                "Objects",
                ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"],
                [f"{bucket}/*" for bucket in buckets],
            ),
            _allow("Key", ["kms:Decrypt", "kms:GenerateDataKey"], list(keys)),
        ],
    }


def state_access(bucket: str, key: str, *, writes: bool) -> dict[str, Any]:
    """What Pulumi needs of its state: to read it, and where `writes`, to change it and to lock.

    Versions stay out of reach either way: a deletion leaves a marker.

    Args:
        bucket: ARN of the bucket.
        key: ARN of the key that encrypts it, and Pulumi's secrets in it.
        writes: Whether updates are run; a preview takes no lock and writes nothing.
    """
    objects, keys = ["s3:GetObject"], ["kms:Decrypt"]
    if writes:
        objects += ["s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"]
        keys += ["kms:Encrypt", "kms:GenerateDataKey"]
    return {
        "Version": VERSION,
        "Statement": [
            _allow("StateList", ["s3:ListBucket"], [bucket]),
            _allow("StateObjects", objects, [f"{bucket}/*"]),
            _allow("StateKey", keys, [key]),
        ],
    }


def _allow(sid: str, actions: list[str], resources: list[str]) -> dict[str, Any]:
    return {"Sid": sid, "Effect": "Allow", "Action": actions, "Resource": resources}
