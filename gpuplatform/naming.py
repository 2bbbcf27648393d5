"""Physical names: one convention, each service's own limits, a hash where a name must be cut.

A physical name is `<platform name>-<environment>[-<part>...]`. Where a service's limit is shorter, the name
is cut and ends in six hex digits of the whole name's SHA-256, so two long names that start alike stay apart
and the same name is always cut the same way.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["RULES", "NameRule", "distinct", "fit", "problem"]

_HASH_LENGTH: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRule:
    """What one service accepts as a name.

    Attributes:
        kind: What is named, as its cloud calls it.
        limit: Longest name, in characters.
        pattern: Regular expression that a whole name must match.
        source: Where the limit is documented.
        separator: What joins the parts; empty where the service takes letters and digits only.
        shortest: Shortest name, in characters.
    """

    kind: str
    limit: int
    pattern: str
    source: str
    separator: str = "-"
    shortest: int = 1


_AWS_IAM: Final = "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html"
_AWS_EKS: Final = "https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html"
_AWS_S3: Final = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html"
_AWS_KMS: Final = "https://docs.aws.amazon.com/kms/latest/APIReference/API_CreateAlias.html"
_AWS_BUDGETS: Final = (
    "https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_Budget.html"
)
_AZURE: Final = "https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules"
_AZURE_BUDGET: Final = "https://learn.microsoft.com/rest/api/consumption/budgets/create-or-update"
_AZURE_LUSTRE: Final = "https://learn.microsoft.com/rest/api/storagecache/aml-filesystems/create-or-update"
_AZURE_ROLE: Final = "https://learn.microsoft.com/azure/role-based-access-control/custom-roles"
_GCP: Final = "https://cloud.google.com/compute/docs/naming-resources"
_GKE: Final = "https://cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters"
_GCP_IAM: Final = "https://cloud.google.com/iam/docs/service-accounts-create"
_GCS: Final = "https://cloud.google.com/storage/docs/buckets#naming"
_GCP_POOLS: Final = (
    "https://cloud.google.com/iam/docs/reference/rest/v1/projects.locations.workloadIdentityPools/create"
)
_GCP_ROLES: Final = "https://cloud.google.com/iam/docs/reference/rest/v1/projects.roles/create"
_GCP_LUSTRE: Final = (
    "https://cloud.google.com/managed-lustre/docs/reference/rest/v1/projects.locations.instances"
)

RULES: Final[dict[str, NameRule]] = {
    rule.kind: rule
    for rule in (
        NameRule(kind="EKS cluster", limit=100, pattern=r"[0-9A-Za-z][A-Za-z0-9_-]*", source=_AWS_EKS),
        NameRule(kind="EKS node group", limit=63, pattern=r"[0-9A-Za-z][A-Za-z0-9_-]*", source=_AWS_EKS),
        NameRule(kind="IAM role", limit=64, pattern=r"[\w+=,.@-]+", source=_AWS_IAM),
        NameRule(kind="IAM policy", limit=128, pattern=r"[\w+=,.@-]+", source=_AWS_IAM),
        # No dots, which S3 would take: the certificate of *.s3.amazonaws.com covers no further label.
        NameRule(
            kind="S3 bucket", limit=63, pattern=r"[a-z0-9][a-z0-9-]*[a-z0-9]", source=_AWS_S3, shortest=3
        ),
        NameRule(kind="KMS alias", limit=250, pattern=r"(?!aws/)[\w/-]+", source=_AWS_KMS),
        NameRule(kind="AWS budget", limit=100, pattern=r"[^:\\]+", source=_AWS_BUDGETS),
        NameRule(kind="resource group", limit=90, pattern=r"[\w().-]*[\w()-]", source=_AZURE),
        NameRule(kind="virtual network", limit=64, pattern=r"\w([\w.-]*\w)?", source=_AZURE, shortest=2),
        # 63 characters, but the name is its DNS prefix too, which has 54 and no underscores.
        NameRule(kind="AKS cluster", limit=54, pattern=r"[a-zA-Z0-9]+(-+[a-zA-Z0-9]+)*", source=_AZURE),
        NameRule(kind="AKS agent pool", limit=12, pattern=r"[a-z][a-z0-9]*", source=_AZURE, separator=""),
        NameRule(
            kind="storage account", limit=24, pattern=r"[a-z0-9]+", source=_AZURE, separator="", shortest=3
        ),
        # 24 characters, of which 8 are the digits that Pulumi adds.
        NameRule(kind="key vault", limit=16, pattern=r"[a-zA-Z](-?[a-zA-Z0-9])*", source=_AZURE, shortest=3),
        NameRule(kind="managed identity", limit=128, pattern=r"[A-Za-z0-9][\w-]*", source=_AZURE, shortest=3),
        NameRule(kind="private endpoint", limit=64, pattern=r"\w([\w.-]*\w)?", source=_AZURE, shortest=2),
        NameRule(kind="Azure budget", limit=63, pattern=r"[\w-]+", source=_AZURE_BUDGET),
        NameRule(kind="Azure role", limit=512, pattern=r"[\w -]+", source=_AZURE_ROLE),
        NameRule(
            kind="Managed Lustre", limit=80, pattern=r"[a-zA-Z0-9]([\w-]*[a-zA-Z0-9])?", source=_AZURE_LUSTRE
        ),
        NameRule(kind="GCP resource", limit=63, pattern=r"[a-z]([-a-z0-9]*[a-z0-9])?", source=_GCP),
        NameRule(kind="GKE cluster", limit=40, pattern=r"[a-z]([-a-z0-9]*[a-z0-9])?", source=_GKE),
        NameRule(kind="GKE node pool", limit=40, pattern=r"[a-z]([-a-z0-9]*[a-z0-9])?", source=_GKE),
        NameRule(
            kind="GCP service account",
            limit=30,
            pattern=r"[a-z]([-a-z0-9]*[a-z0-9])",
            source=_GCP_IAM,
            shortest=6,
        ),
        NameRule(kind="GCS bucket", limit=63, pattern=r"[a-z0-9][-a-z0-9]*[a-z0-9]", source=_GCS, shortest=3),
        # `gcp-` in front is Google's own.
        NameRule(
            kind="GCP workload identity pool",
            limit=32,
            pattern=r"(?!gcp-)[a-z0-9-]+",
            source=_GCP_POOLS,
            shortest=4,
        ),
        NameRule(
            kind="GCP custom role",
            limit=64,
            pattern=r"[a-zA-Z0-9_.]+",
            source=_GCP_ROLES,
            separator="",
            shortest=3,
        ),
        NameRule(
            kind="GCP Lustre file system",
            limit=8,
            pattern=r"[a-z][a-z0-9]*",
            source=_GCP_LUSTRE,
            separator="",
        ),
    )
}


def problem(kind: str, name: str) -> str | None:
    """Why `name` is no legal name for `kind`, or None where it is one."""
    rule = RULES[kind]
    if not rule.shortest <= len(name) <= rule.limit:
        return f"{kind} names have {rule.shortest} to {rule.limit} characters, {name!r} has {len(name)}"
    if not re.fullmatch(rule.pattern, name):
        return f"{kind} names match ^{rule.pattern}$, {name!r} does not"
    return None


def fit(kind: str, *parts: str) -> str:
    """The parts joined as a legal name for `kind`, cut and hashed only where the service's limit demands it.

    Raises:
        ValueError: The parts cannot make a legal name; configuration is checked before it gets here, so
            this is a program's own mistake.
    """
    rule = RULES[kind]
    joined = rule.separator.join(parts)
    name = joined if rule.separator else joined.replace("-", "").replace("_", "")
    # Dropping separators may make two names one ("a-b" and "ab"), so those are hashed as well.
    if len(name) > rule.limit or name != joined:
        digest = hashlib.sha256("-".join(parts).encode()).hexdigest()
        room = rule.limit - len(rule.separator) - _HASH_LENGTH
        name = rule.separator.join((name[:room].rstrip("-_"), digest[:_HASH_LENGTH]))
    if (why := problem(kind, name)) is not None:
        raise ValueError(why)
    return name


def distinct(names: Mapping[str, str]) -> dict[str, str]:
    """`names` with no value twice, in the same order: of keys that share one, all but the first get a hash.

    The first by its spelling, not by its place, so that the order of a list renames nothing.

    Args:
        names: Logical names by what they stand for, such as the ARN of a role.
    """
    holders: dict[str, str] = {}
    for key in sorted(names):
        holders.setdefault(names[key], key)
    return {
        key: name
        if holders[name] == key
        else f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:_HASH_LENGTH]}"
        for key, name in names.items()
    }
