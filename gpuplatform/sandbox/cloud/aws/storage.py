"""S3 and FSx for Lustre: buckets whose names are the world's, and file systems that must be reached."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.aws.common import BUCKET, KEY, SECURITY_GROUP, SUBNET, digits
from gpuplatform.sandbox.cloud.rule import Call, CloudError, NameRule, Reference, Rule
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES"]

FILE_SYSTEM = "aws:fsx/lustreFileSystem:LustreFileSystem"
LINK = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
OBJECTS = ("aws:s3/bucketObject:BucketObject", "aws:s3/bucketObjectv2:BucketObjectv2")
SETTINGS = (
    "BucketPublicAccessBlock",
    "BucketOwnershipControls",
    "BucketVersioning",
    "BucketServerSideEncryptionConfiguration",
    "BucketLifecycleConfiguration",
    "BucketPolicy",
)
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
INLINE_RULE = "aws:ec2/securityGroupRule:SecurityGroupRule"

_LNET = 988
_LARGEST_POLICY = 20_480
_MONTH = 30
_SMALLEST, _STEP = 1200, 2400
_SOLD = {"PERSISTENT_1": (50, 100, 200), "PERSISTENT_2": (125, 250, 500, 1000)}
"""MB/s for each TiB of SSD."""


def _create_bucket(call: Call) -> None:
    """Names are one space for all accounts of the world."""
    other = call.world.named(BUCKET, call.name)
    if other is None:
        return
    if other.scope == call.account.scope:
        raise CloudError(
            "BucketAlreadyOwnedByYou: Your previous request to create the named bucket succeeded and you"
            " already own it."
        )
    raise CloudError(
        "BucketAlreadyExists: The requested bucket name is not available. The bucket namespace is shared by"
        " all users of the system. Please select a different name and try again."
    )


def _delete_bucket(call: Call) -> None:
    """With `forceDestroy`, the provider empties it first."""
    if call.get("forceDestroy"):
        return
    if any(call.world.linked(BUCKET, call.id, kind) for kind in OBJECTS):
        raise CloudError(
            "BucketNotEmpty: The bucket you tried to delete is not empty. You must delete all versions in the"
            " bucket."
        )


def _bucket_outputs(call: Call) -> dict[str, Any]:
    return {
        "arn": f"arn:aws:s3:::{call.name}",
        "bucketDomainName": f"{call.name}.s3.amazonaws.com",
        "bucketRegionalDomainName": f"{call.name}.s3.{call.region}.amazonaws.com",
        "bucketRegion": call.region,
    }


def _create_policy(call: Call) -> None:
    """Public policies are refused where the bucket blocks them; one that only denies is none."""
    text = call.get("policy", "")
    if not isinstance(text, str):
        return
    if len(text) > _LARGEST_POLICY:
        raise CloudError("PolicyTooLarge: The policy exceeds the 20 KB that a bucket's may have.")
    blocks = call.world.linked(
        BUCKET, call.get("bucket", ""), "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
    )
    if any(block.inputs.get("blockPublicPolicy") for block in blocks) and _is_public(text):
        raise CloudError(
            "AccessDenied: User is not authorized to perform: s3:PutBucketPolicy because public policies are"
            " blocked by the BlockPublicPolicy block public access setting."
        )


def _is_public(text: str) -> bool:
    statements = json.loads(text).get("Statement", [])
    return any(
        s.get("Effect") == "Allow" and s.get("Principal") in ("*", {"AWS": "*"}) and "Condition" not in s
        for s in ([statements] if isinstance(statements, dict) else statements)
    )


def _check_policy(call: Call) -> Iterator[Problem]:
    text = call.get("policy")
    if isinstance(text, str):
        try:
            json.loads(text)
        except ValueError as error:
            yield Problem("policy", f"contains an invalid JSON policy: {error}")


def _check_lifecycle(call: Call) -> Iterator[Problem]:
    """Colder classes come later: S3 refuses a rule that would move an object up or too early."""
    for index, rule in enumerate(call.inputs.get("rules") or ()):
        days: dict[str, float] = {}
        for move in rule.get("transitions") or ():
            if isinstance(move.get("days"), int | float):
                days[move.get("storageClass", "")] = move["days"]
        if days.get("STANDARD_IA", _MONTH) < _MONTH:
            yield Problem(
                f"rules[{index}].transitions",
                f"'Days' must be greater than or equal to {_MONTH} for STANDARD_IA (InvalidArgument)",
            )


def _check_file_system(call: Call) -> Iterator[Problem]:
    """https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html, for SSD."""
    kind, size = call.get("deploymentType"), call.get("storageCapacity")
    if call.get("storageType", "SSD") != "SSD":
        return
    stepped = kind in {"SCRATCH_2", *_SOLD}
    if stepped and isinstance(size, int | float) and size != _SMALLEST and size % _STEP:
        yield Problem(
            "storageCapacity", f"{size:g} GiB is neither {_SMALLEST} nor a multiple of {_STEP} (BadRequest)"
        )
    speed = call.get("perUnitStorageThroughput")
    if isinstance(speed, int | float) and speed not in _SOLD.get(str(kind), ()):
        yield Problem("perUnitStorageThroughput", f"{kind} has no {speed:g} MB/s for each TiB (BadRequest)")
    if kind in _SOLD and "perUnitStorageThroughput" not in call.inputs:
        yield Problem("perUnitStorageThroughput", f"{kind} needs one (BadRequest)")
    if str(kind).startswith("SCRATCH") and "kmsKeyId" in call.inputs:
        yield Problem("kmsKeyId", "scratch file systems have keys of FSx's own (BadRequest)")


def _create_file_system(call: Call) -> None:
    """FSx looks for a rule that lets Lustre in; rules that come later are too late."""
    groups = [group for group in call.inputs.get("securityGroupIds") or () if isinstance(group, str)]
    if groups and not any(_lets_lustre_in(call, group) for group in groups):
        raise CloudError(
            "InvalidNetworkSettings: The file system cannot be created because the default security group in"
            " the subnet provided or the provided security groups do not permit Lustre LNET network traffic"
            f" on port {_LNET}"
        )


def _lets_lustre_in(call: Call, group: str) -> bool:
    rules = call.world.linked(SECURITY_GROUP, group, INGRESS)
    olds = [
        rule
        for rule in call.world.linked(SECURITY_GROUP, group, INLINE_RULE)
        if rule.inputs.get("type") == "ingress"
    ]
    for rule in (*rules, *olds):
        plain = wire.plain(rule.inputs)
        protocol = plain.get("ipProtocol", plain.get("protocol"))
        if protocol == "-1" or (
            protocol == "tcp" and plain.get("fromPort", 0) <= _LNET <= plain.get("toPort", -1)
        ):
            return True
    return False


def _file_system_outputs(call: Call) -> dict[str, Any]:
    return {
        "arn": f"arn:aws:fsx:{call.region}:{call.account.owner}:file-system/{call.id}",
        "dnsName": f"{call.id}.fsx.{call.region}.amazonaws.com",
        # Scratch and older ones are called fsx; the others have a name of eight characters.
        "mountName": wire.digest(call.id, "mount", length=8),
        "networkInterfaceIds": [f"eni-{wire.digest(call.id, 'eni', length=17)}"],
        "vpcId": _vpc_of(call),
    }


def _vpc_of(call: Call) -> str:
    subnet = call.world.named(SUBNET, call.get("subnetIds", ""))
    return str(wire.plain(subnet.inputs).get("vpcId", "")) if subnet is not None else ""


def _linked_bucket(call: Call) -> str:
    path = str(call.get("dataRepositoryPath", ""))
    return path.removeprefix("s3://").partition("/")[0]


def _check_link(call: Call) -> Iterator[Problem]:
    for path, start in (("dataRepositoryPath", "s3://"), ("fileSystemPath", "/")):
        value = call.get(path)
        if isinstance(value, str) and not value.startswith(start):
            yield Problem(path, f"{value!r} must begin with {start}")


def _create_link(call: Call) -> None:
    """Neither a bucket nor a directory is linked twice to one file system."""
    for other in call.world.linked(FILE_SYSTEM, call.get("fileSystemId", ""), LINK):
        for path in ("dataRepositoryPath", "fileSystemPath"):
            if wire.plain(other.inputs).get(path) == call.get(path):
                raise CloudError(f"BadRequest: {path} {call.get(path)} is already associated")


def _link_outputs(call: Call) -> dict[str, Any]:
    arn = f"arn:aws:fsx:{call.region}:{call.account.owner}:association/{call.get('fileSystemId')}/{call.id}"
    return {"arn": arn, "associationId": call.id}


_NO_BUCKET = "NoSuchBucket: The specified bucket does not exist"
_IN_BUCKET = Reference("bucket", BUCKET, _NO_BUCKET, cascades=True)
_NO_KEY = "KMS.NotFoundException: Invalid keyId '{value}'"


def _setting(kind: str) -> Rule:
    token = f"aws:s3/{kind[0].lower()}{kind[1:]}:{kind}"
    references: tuple[Reference, ...] = (_IN_BUCKET,)
    if kind == "BucketServerSideEncryptionConfiguration":
        # S3 itself takes any key and fails at the first object; here it fails at once.
        path = "rules[].applyServerSideEncryptionByDefault.kmsMasterKeyId"
        references = (*references, Reference(path, KEY, _NO_KEY, unless="^alias/aws/"))
    policy = kind == "BucketPolicy"
    lifecycle = _check_lifecycle if kind == "BucketLifecycleConfiguration" else None
    return Rule(
        token,
        references=references,
        check=_check_policy if policy else lifecycle,
        create=_create_policy if policy else None,
        id=lambda call: str(call.get("bucket")),
    )


RULES = (
    Rule(
        BUCKET,
        names=NameRule(
            r"(?!xn--|sthree-|amzn-s3-demo-)(?!.*(-s3alias|--ol-s3|--x-s3)$)(?!.*\.\.)"
            r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]",
            "3 to 63 of lower-case letters, digits, dots and hyphens, without S3's own beginnings and ends",
        ),
        create=_create_bucket,
        delete=_delete_bucket,
        id=lambda call: call.name,
        outputs=_bucket_outputs,
    ),
    *(_setting(kind) for kind in SETTINGS),
    *(
        Rule(
            kind,
            references=(_IN_BUCKET,),
            id=lambda call: f"{call.get('bucket')}/{call.get('key')}",
            outputs=lambda call: {"arn": f"arn:aws:s3:::{call.get('bucket')}/{call.get('key')}"},
        )
        for kind in OBJECTS
    ),
    Rule(
        FILE_SYSTEM,
        references=(
            Reference(
                "subnetIds",
                SUBNET,
                "InvalidSubnetID.NotFound: The subnet ID '{value}' does not exist",
                "DependencyViolation: The subnet '{id}' has dependencies and cannot be deleted.",
            ),
            Reference(
                "securityGroupIds[]",
                SECURITY_GROUP,
                "InvalidGroup.NotFound: The security group '{value}' does not exist",
                "DependencyViolation: resource {id} has a dependent object",
            ),
            Reference("kmsKeyId", KEY, _NO_KEY),
        ),
        check=_check_file_system,
        create=_create_file_system,
        id=lambda call: f"fs-{digits(call)}",
        outputs=_file_system_outputs,
    ),
    Rule(
        LINK,
        references=(
            Reference(
                "fileSystemId",
                FILE_SYSTEM,
                "FileSystemNotFound: File system '{value}' does not exist",
                cascades=True,
            ),
            Reference("dataRepositoryPath", BUCKET, f"BadRequest: {_NO_BUCKET}", value=_linked_bucket),
        ),
        check=_check_link,
        create=_create_link,
        id=lambda call: f"dra-{digits(call)}",
        outputs=_link_outputs,
    ),
)
