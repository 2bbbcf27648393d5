"""Data that one careless `pulumi destroy`, or a replacement, would take with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gpuplatform.guardrails import Unknown
from gpuplatform.guardrails.resources import props
from gpuplatform.security.finding import Case, Check, Finding
from gpuplatform.security.read import on

__all__ = ["READERS", "environment"]

_TAGS: Final = ("tags", "labels", "resourceLabels", "userLabels")
_KEYS: Final = ("environment", "env", "stage")


def environment(case: Case) -> str | Unknown:
    """By the resource's tags or labels; else the stack's last word, such as `dev` of `aws-dev`."""
    for key in _TAGS:
        tags = props.mapping(case.raw.props, key)
        if isinstance(tags, Unknown):
            return tags
        for name in tags:
            if name.casefold() in _KEYS:
                found = props.text(tags, name)
                return found if isinstance(found, Unknown) else found.casefold()
    stack = case.raw.urn.removeprefix("urn:pulumi:").partition("::")[0]
    return re.split(r"[^A-Za-z0-9]+", stack)[-1].casefold()


def stateful(*, kept_by: tuple[str, ...] = (), lost_by: tuple[str, ...] = (), default: bool = False) -> Check:
    """What holds data.

    Args:
        kept_by: The service's own deletion protection.
        lost_by: What makes a deletion take the data as well; without it the service refuses or keeps a copy.
        default: Whether the provider protects it unless `kept_by` is set to false.
    """

    def check(case: Case) -> Iterator[Finding]:
        if case.protected or (where := environment(case)) in case.settings.disposable:
            return
        kept = [on(case.raw.props, key) for key in kept_by]
        lost = [on(case.raw.props, key) for key in lost_by]
        if True in kept or (default and all(flag is None for flag in kept)):
            return
        if lost_by and not any(flag is True or isinstance(flag, Unknown) for flag in lost):
            return
        unknown = [flag for flag in (where, *kept, *lost) if isinstance(flag, Unknown)]
        if unknown:
            yield case.undecided("unprotected", unknown[0])
            return
        switched = next((f"{key} is true and " for key, flag in zip(lost_by, lost, strict=True) if flag), "")
        message = f"a destroy would take its data: {switched}neither Pulumi nor the service protects it"
        ways = [
            "the resource option protect",
            *(f"{key}: true" for key in kept_by),
            *(f"{key}: false" for key in lost_by),
        ]
        yield case.fail(
            "unprotected", message, f"{', or '.join(ways)}; or tag it with a disposable environment"
        )

    return check


_DATABASE: Final = stateful(kept_by=("deletionProtection",), lost_by=("skipFinalSnapshot",))
_BUCKET: Final = stateful(lost_by=("forceDestroy",))  # one that is not empty refuses to be deleted
_PLAIN: Final = stateful()

READERS: Final[dict[str, tuple[Check, ...]]] = {
    "aws:s3/bucket:Bucket": (_BUCKET,),
    "aws:s3/bucketV2:BucketV2": (_BUCKET,),
    "aws:rds/instance:Instance": (_DATABASE,),
    "aws:rds/cluster:Cluster": (_DATABASE,),
    "aws:docdb/cluster:Cluster": (_DATABASE,),
    "aws:neptune/cluster:Cluster": (_DATABASE,),
    "aws:redshift/cluster:Cluster": (stateful(lost_by=("skipFinalSnapshot",)),),
    "aws:dynamodb/table:Table": (stateful(kept_by=("deletionProtectionEnabled",)),),
    "aws:efs/fileSystem:FileSystem": (_PLAIN,),
    "aws:ebs/volume:Volume": (stateful(kept_by=("finalSnapshot",)),),
    "aws:fsx/lustreFileSystem:LustreFileSystem": (_PLAIN,),
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem": (stateful(lost_by=("skipFinalBackup",)),),
    "aws:ecr/repository:Repository": (stateful(lost_by=("forceDelete",)),),
    "azure-native:storage:StorageAccount": (_PLAIN,),
    "azure-native:compute:Disk": (_PLAIN,),
    "azure-native:sql:Database": (_PLAIN,),
    "azure-native:dbforpostgresql:Server": (_PLAIN,),
    "azure-native:dbformysql:Server": (_PLAIN,),
    "azure-native:documentdb:DatabaseAccount": (_PLAIN,),
    "azure-native:netapp:Volume": (_PLAIN,),
    "azure-native:storagecache:AmlFilesystem": (_PLAIN,),
    "gcp:storage/bucket:Bucket": (_BUCKET,),
    "gcp:sql/databaseInstance:DatabaseInstance": (stateful(kept_by=("deletionProtection",), default=True),),
    "gcp:bigtable/instance:Instance": (stateful(kept_by=("deletionProtection",), default=True),),
    "gcp:spanner/database:Database": (stateful(kept_by=("deletionProtection",), default=True),),
    "gcp:bigquery/dataset:Dataset": (stateful(lost_by=("deleteContentsOnDestroy",)),),
    "gcp:compute/disk:Disk": (_PLAIN,),
    "gcp:compute/regionDisk:RegionDisk": (_PLAIN,),
    "gcp:filestore/instance:Instance": (stateful(kept_by=("deletionProtectionEnabled",)),),
    "gcp:lustre/instance:Instance": (_PLAIN,),
}
