"""Data at rest that a service encrypts only when asked to, and encryption that is turned off.

Deliberately silent where a service always encrypts: S3 since 2023
(https://docs.aws.amazon.com/AmazonS3/latest/userguide/default-encryption-faq.html), FSx
(https://docs.aws.amazon.com/fsx/latest/LustreGuide/encryption-at-rest.html), DynamoDB, Azure's storage
(https://learn.microsoft.com/azure/security/fundamentals/encryption-atrest), everything in Google Cloud
(https://cloud.google.com/docs/security/encryption/default-encryption).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gpuplatform.guardrails import Unknown
from gpuplatform.guardrails.resources import props
from gpuplatform.security.finding import Case, Check, Finding
from gpuplatform.security.read import mappings, on

__all__ = ["READERS"]

_DEFAULT_ENVELOPE: Final = (1, 28)


def asked(key: str | tuple[str, ...], *inherits: str) -> Check:
    """Encrypted only if `key` says so; a copy made from one of `inherits` takes its source's encryption."""
    path = (key,) if isinstance(key, str) else key

    def check(case: Case) -> Iterator[Finding]:
        if any(props.value(case.raw.props, one) for one in inherits):
            return
        yield from _said(case, on(case.raw.props, *path), ".".join(path))

    return check


def turned_off(key: str | tuple[str, ...], off: frozenset[str], message: str, way_out: str) -> Check:
    """Encrypted unless the value at `key` turns it off."""
    path = (key,) if isinstance(key, str) else key

    def check(case: Case) -> Iterator[Finding]:
        found = props.value(case.raw.props, *path)
        if isinstance(found, Unknown):
            yield case.undecided("encryption", found)
        elif str(found).casefold() in off:
            yield case.fail("encryption", message, way_out)

    return check


def _said(case: Case, flag: bool | Unknown | None, name: str) -> Iterator[Finding]:
    if isinstance(flag, Unknown):
        yield case.undecided("encryption", flag)
    elif flag is not True:
        yield case.fail("encryption", f"the data is not encrypted: {name} is not true", f"{name}: true")


def _volume(case: Case) -> Iterator[Finding]:
    if props.value(case.raw.props, "snapshotId") is None:
        yield from _disk(case, case.raw.props, "encrypted")


def _disk(case: Case, disk: Mapping[str, Any], name: str) -> Iterator[Finding]:
    if not case.settings.ebs_encrypted_by_default:
        yield from _said(case, on(disk, "encrypted"), name)


def _launch_template(case: Case) -> Iterator[Finding]:
    """Volumes that the template describes; where it names none, the image's own are the image's matter."""
    found, unknown = mappings(case.raw.props, "blockDeviceMappings")
    for index, device in enumerate(found):
        ebs = props.value(device, "ebs")
        if isinstance(ebs, Mapping) and props.value(ebs, "snapshotId") is None:
            yield from _disk(case, ebs, f"blockDeviceMappings[{index}].ebs.encrypted")
        elif isinstance(ebs, Unknown):
            unknown = ebs
    if unknown and not case.settings.ebs_encrypted_by_default:
        yield case.undecided("encryption", unknown)


def _machine_disks(case: Case) -> Iterator[Finding]:
    root = props.value(case.raw.props, "rootBlockDevice")
    if isinstance(root, Mapping):
        yield from _disk(case, root, "rootBlockDevice.encrypted")
    found, unknown = mappings(case.raw.props, "ebsBlockDevices")
    for index, disk in enumerate(found):
        if props.value(disk, "snapshotId") is None:
            yield from _disk(case, disk, f"ebsBlockDevices[{index}].encrypted")
    if unknown:
        yield case.undecided("encryption", unknown)


def _eks(case: Case) -> Iterator[Finding]:
    """Since 1.28 AWS encrypts all of the API's data with its own key; before, secrets only when asked to.

    https://docs.aws.amazon.com/eks/latest/userguide/envelope-encryption.html
    """
    if props.value(case.raw.props, "encryptionConfig") is not None:  # unknown means that there is one
        return
    version = props.text(case.raw.props, "version")
    way_out = "encryptionConfig with the ARN of a KMS key, resources: [secrets]"
    numbers = [part for part in str(version).split(".")[:2] if part.isdecimal()]
    if len(numbers) == len(_DEFAULT_ENVELOPE) and tuple(map(int, numbers)) < _DEFAULT_ENVELOPE:
        yield case.fail(
            "encryption", f"Kubernetes {version} keeps secrets unencrypted unless a key is named", way_out
        )
        return
    message = "Kubernetes secrets have no key of your own: nobody can audit its use or take it away"
    yield (case.fail if case.settings.customer_keys else case.warn)("encryption", message, way_out)


def _replication_group(case: Case) -> Iterator[Finding]:
    # Valkey's default is encrypted, Redis OSS's is not (the provider's docs of this property).
    flag = on(case.raw.props, "atRestEncryptionEnabled")
    engine = props.text(case.raw.props, "engine")
    if flag is not None or str(engine).casefold() != "valkey":
        yield from _said(case, flag, "atRestEncryptionEnabled")


def _https(case: Case) -> Iterator[Finding]:
    """Azure Files over NFS works only without the flag, and encrypts by other means.

    https://learn.microsoft.com/azure/storage/files/storage-files-how-to-mount-nfs-shares
    """
    kind = props.text(case.raw.props, "kind")
    if kind == "FileStorage" or on(case.raw.props, "isNfsV3Enabled") is True:
        return
    if on(case.raw.props, "enableHttpsTrafficOnly") is False:
        yield case.fail(
            "encryption", "data travels unencrypted: http is allowed", "enableHttpsTrafficOnly: true"
        )


_OFF: Final = frozenset({"false"})
_STORAGE: Final = asked(
    "storageEncrypted", "snapshotIdentifier", "replicateSourceDb", "replicationSourceIdentifier"
)

READERS: Final[dict[str, tuple[Check, ...]]] = {
    "aws:ebs/volume:Volume": (_volume,),
    "aws:ebs/encryptionByDefault:EncryptionByDefault": (
        turned_off(
            "enabled", _OFF, "the region's volumes are no longer encrypted by default", "enabled: true"
        ),
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": (_launch_template,),
    "aws:ec2/launchConfiguration:LaunchConfiguration": (_machine_disks,),
    "aws:ec2/instance:Instance": (_machine_disks,),
    "aws:eks/cluster:Cluster": (_eks,),
    "aws:efs/fileSystem:FileSystem": (asked("encrypted"),),
    "aws:rds/instance:Instance": (_STORAGE,),
    "aws:rds/cluster:Cluster": (_STORAGE,),
    "aws:docdb/cluster:Cluster": (_STORAGE,),
    "aws:neptune/cluster:Cluster": (_STORAGE,),
    "aws:redshift/cluster:Cluster": (
        turned_off("encrypted", _OFF, "the data is not encrypted", "encrypted: true"),
    ),
    "aws:elasticache/replicationGroup:ReplicationGroup": (_replication_group,),
    "aws:opensearch/domain:Domain": (asked(("encryptAtRest", "enabled")),),
    "aws:sqs/queue:Queue": (
        turned_off("sqsManagedSseEnabled", _OFF, "messages are not encrypted", "sqsManagedSseEnabled: true"),
    ),
    "azure-native:storage:StorageAccount": (_https,),
    "azure-native:sql:TransparentDataEncryption": (
        turned_off("state", frozenset({"disabled"}), "the database is not encrypted", "state: Enabled"),
    ),
    "gcp:sql/databaseInstance:DatabaseInstance": (
        turned_off(
            ("settings", "ipConfiguration", "sslMode"),
            frozenset({"allow_unencrypted_and_encrypted"}),
            "data travels unencrypted: connections without TLS are allowed",
            "sslMode: ENCRYPTED_ONLY",
        ),
    ),
}
