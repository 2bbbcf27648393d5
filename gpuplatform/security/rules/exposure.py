"""Buckets, databases and other endpoints that anybody may read or reach."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address
from typing import Final

from gpuplatform.config.blocks import PRIVATE
from gpuplatform.guardrails import Unknown
from gpuplatform.guardrails.resources import props
from gpuplatform.security.finding import Case, Check, Finding
from gpuplatform.security.iam import anyone_may, statements
from gpuplatform.security.read import mappings, on, texts_at, to_everyone

__all__ = ["READERS"]

# https://docs.aws.amazon.com/AmazonS3/latest/userguide/acl-overview.html#canned-acl
_PUBLIC_ACLS: Final = frozenset({"public-read", "public-read-write", "authenticated-read"})
_PUBLIC_GROUPS: Final = ("/global/AllUsers", "/global/AuthenticatedUsers")
_BLOCKS: Final = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")
# https://cloud.google.com/storage/docs/access-control/lists#predefined-acl
_GOOGLE_ACLS: Final = frozenset({"publicRead", "publicReadWrite", "authenticatedRead"})
_ANYBODY: Final = ("allUsers", "allAuthenticatedUsers")


def policy(key: str) -> Check:
    """A resource policy in the property `key`."""

    def check(case: Case) -> Iterator[Finding]:
        value = props.value(case.raw.props, key)
        found = statements(value) if value else ()
        if isinstance(found, Unknown):
            yield case.undecided("public-access", Unknown(found.field.replace("the policy document", key)))
            return
        anyone = props.asks(map(anyone_may, found))
        if anyone is True:
            message = "anybody may use it: a statement's principal is * and no condition says who"
            way_out = (
                "name principals, or add a condition on aws:PrincipalOrgID, aws:SourceArn or aws:SourceVpce"
            )
            yield case.fail("public-access", message, way_out)
        elif isinstance(anyone, Unknown):
            yield case.undecided("public-access", anyone)

    return check


def switch(key: str, message: str) -> Check:
    """A switch that opens the resource."""

    def check(case: Case) -> Iterator[Finding]:
        found = on(case.raw.props, key)
        if found is True:
            yield case.fail("public-access", message, f"{key}: false")
        elif isinstance(found, Unknown):
            yield case.undecided("public-access", found)

    return check


def value(key: str, bad: frozenset[str], message: str, way_out: str) -> Check:
    """A value among `bad` opens the resource."""

    def check(case: Case) -> Iterator[Finding]:
        found = props.text(case.raw.props, key)
        if isinstance(found, Unknown):
            yield case.undecided("public-access", found)
        elif found in bad:
            yield case.fail("public-access", message.format(found), way_out)

    return check


def _grants(case: Case) -> Iterator[Finding]:
    """Grants of an S3 access control list, in a bucket or in a resource of its own."""
    grants, unknown = mappings(case.raw.props, "grants")
    listed, hidden = mappings(case.raw.props, "accessControlPolicy", "grants")
    uris = [props.text(grant, "uri") for grant in grants]
    uris += [props.text(grant, "grantee", "uri") for grant in listed]
    if any(isinstance(uri, str) and uri.endswith(_PUBLIC_GROUPS) for uri in uris):
        yield case.fail("public-access", "its access control list names everybody", "drop the grant")
    elif unknown := unknown or hidden or next((uri for uri in uris if isinstance(uri, Unknown)), None):
        yield case.undecided("public-access", unknown)


def _public_access_block(case: Case) -> Iterator[Finding]:
    said = {key: on(case.raw.props, key) for key in _BLOCKS}
    if opened := [key for key, flag in said.items() if flag is None or flag is False]:
        message = f"leaves a way to public access open: {', '.join(opened)} is off"
        yield case.fail("public-access", message, f"set {', '.join(_BLOCKS)} to true")
    elif unknown := next((flag for flag in said.values() if isinstance(flag, Unknown)), None):
        yield case.undecided("public-access", unknown)


def _permission(case: Case) -> Iterator[Finding]:
    """A function's permission: `*` is anybody unless a source is named."""
    source = case.raw.props
    if props.text(source, "principal") != "*":
        return
    ties = [props.value(source, key) for key in ("sourceArn", "sourceAccount", "principalOrgId")]
    if odd := next((one for one in ties if one is not None and not isinstance(one, str | Unknown)), None):
        yield case.undecided("public-access", f"a source of an unexpected shape ({type(odd).__name__})")
    elif all(one in (None, "", "*") for one in ties):
        yield case.fail(
            "public-access", "anybody may invoke the function", "name a principal, or a sourceArn"
        )


def _entity(case: Case) -> Iterator[Finding]:
    entity = props.text(case.raw.props, "entity")
    if entity in _ANYBODY:
        yield case.fail(
            "public-access", f"gives access to {entity}", "name users, groups or service accounts"
        )
    elif isinstance(entity, Unknown):
        yield case.undecided("public-access", entity)


def _entities(case: Case) -> Iterator[Finding]:
    entities, unknown = texts_at(case.raw.props, "roleEntities")
    if any(entity.endswith(_ANYBODY) for entity in entities):
        yield case.fail("public-access", "its access control list names everybody", "drop the entity")
    elif unknown:
        yield case.undecided("public-access", unknown)


def _dataset(case: Case) -> Iterator[Finding]:
    found, unknown = mappings(case.raw.props, "accesses")
    if any(
        props.text(one, "specialGroup") == "allAuthenticatedUsers" or props.text(one, "iamMember") in _ANYBODY
        for one in found
    ):
        yield case.fail("public-access", "everybody may read the data set", "name users, groups or domains")
    elif unknown:
        yield case.undecided("public-access", unknown)


def _sql(case: Case) -> Iterator[Finding]:
    path = ("settings", "ipConfiguration", "authorizedNetworks")
    networks, unknown = mappings(case.raw.props, *path)
    ranges = [props.text(one, "value") for one in networks]
    if any(isinstance(one, str) and to_everyone(one) for one in ranges):
        yield case.fail("public-access", "the whole internet may reach the database", "name address ranges")
    elif unknown := unknown or next((one for one in ranges if isinstance(one, Unknown)), None):
        yield case.undecided("public-access", unknown)


def _azure_firewall(case: Case) -> Iterator[Finding]:
    """A server's rule; from and to 0.0.0.0 is every customer's resource in Azure.

    https://learn.microsoft.com/azure/azure-sql/database/firewall-configure
    """
    # Redis spells them startIP and endIP.
    first, last = (
        props.text(case.raw.props, long) or props.text(case.raw.props, short)
        for long, short in (("startIpAddress", "startIP"), ("endIpAddress", "endIP"))
    )
    if isinstance(first, Unknown) or isinstance(last, Unknown):
        yield case.undecided("public-access", first if isinstance(first, Unknown) else str(last))
        return
    try:
        begin, end = IPv4Address(first), IPv4Address(last)
    except ValueError:
        return  # Azure refuses what is no address
    whom = ""
    if int(begin) == int(end) == 0:
        whom = "every customer's resources in Azure"
    elif int(end) - int(begin) >= _MOST_ADDRESSES and not any(
        begin in block and end in block for block in PRIVATE
    ):
        whom = "much of the internet"
    if whom:
        yield case.fail(
            "public-access", f"{whom} may reach the server", "name address ranges, or a private endpoint"
        )


_MOST_ADDRESSES: Final = 2**20
"""A range that is no office's: a /12, a million addresses."""

_PUBLIC_DATABASE: Final = switch("publiclyAccessible", "the database has a public address")
_AZURE_FIREWALLS: Final = (
    "sql:FirewallRule",
    "dbforpostgresql:FirewallRule",
    "dbformysql:FirewallRule",
    "cache:FirewallRule",
    "redis:FirewallRule",
    "redis:RedisFirewallRule",
    "synapse:IpFirewallRule",
)
_ACL: Final = value("acl", _PUBLIC_ACLS, "its access control list is {}", "acl: private")
_GOOGLE_ACL: Final = value(
    "predefinedAcl", _GOOGLE_ACLS, "its access control list is {}", "drop predefinedAcl"
)

READERS: Final[dict[str, tuple[Check, ...]]] = {
    "aws:s3/bucket:Bucket": (_ACL, _grants, policy("policy")),
    "aws:s3/bucketV2:BucketV2": (_ACL, _grants, policy("policy")),
    "aws:s3/bucketAcl:BucketAcl": (_ACL, _grants),
    "aws:s3/bucketAclV2:BucketAclV2": (_ACL, _grants),
    "aws:s3/bucketObject:BucketObject": (_ACL,),
    "aws:s3/bucketObjectv2:BucketObjectv2": (_ACL,),
    "aws:s3/bucketPolicy:BucketPolicy": (policy("policy"),),
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": (_public_access_block,),
    "aws:s3/accountPublicAccessBlock:AccountPublicAccessBlock": (_public_access_block,),
    "aws:sns/topicPolicy:TopicPolicy": (policy("policy"),),
    "aws:sns/topic:Topic": (policy("policy"),),
    "aws:sqs/queuePolicy:QueuePolicy": (policy("policy"),),
    "aws:sqs/queue:Queue": (policy("policy"),),
    "aws:kms/key:Key": (policy("policy"),),
    "aws:kms/keyPolicy:KeyPolicy": (policy("policy"),),
    "aws:ecr/repositoryPolicy:RepositoryPolicy": (policy("policy"),),
    "aws:efs/fileSystemPolicy:FileSystemPolicy": (policy("policy"),),
    "aws:secretsmanager/secretPolicy:SecretPolicy": (policy("policy"),),
    "aws:secretsmanager/secret:Secret": (policy("policy"),),
    "aws:opensearch/domain:Domain": (policy("accessPolicies"),),
    "aws:opensearch/domainPolicy:DomainPolicy": (policy("accessPolicies"),),
    "aws:elasticsearch/domain:Domain": (policy("accessPolicies"),),
    "aws:elasticsearch/domainPolicy:DomainPolicy": (policy("accessPolicies"),),
    "aws:s3/accessPoint:AccessPoint": (policy("policy"),),
    "aws:s3control/accessPointPolicy:AccessPointPolicy": (policy("policy"),),
    "aws:cloudwatch/eventBusPolicy:EventBusPolicy": (policy("policy"),),
    "aws:backup/vaultPolicy:VaultPolicy": (policy("policy"),),
    "aws:glue/resourcePolicy:ResourcePolicy": (policy("policy"),),
    "aws:lambda/permission:Permission": (_permission,),
    "aws:lambda/functionUrl:FunctionUrl": (
        value("authorizationType", frozenset({"NONE"}), "anybody may call the function's URL", "AWS_IAM"),
    ),
    "aws:ec2/amiLaunchPermission:AmiLaunchPermission": (
        value("group", frozenset({"all"}), "everybody may run the image", "name accounts"),
    ),
    "aws:rds/instance:Instance": (_PUBLIC_DATABASE,),
    "aws:rds/clusterInstance:ClusterInstance": (_PUBLIC_DATABASE,),
    "aws:redshift/cluster:Cluster": (_PUBLIC_DATABASE,),
    "azure-native:storage:StorageAccount": (
        switch("allowBlobPublicAccess", "its containers may be made public"),
    ),
    "azure-native:storage:BlobContainer": (
        value(
            "publicAccess", frozenset({"Blob", "Container"}), "anybody may read it ({})", "publicAccess: None"
        ),
    ),
    "azure-native:containerregistry:Registry": (
        switch("anonymousPullEnabled", "anybody may pull its images"),
    ),
    **{f"azure-native:{kind}": (_azure_firewall,) for kind in _AZURE_FIREWALLS},
    "gcp:storage/bucketAccessControl:BucketAccessControl": (_entity,),
    "gcp:storage/defaultObjectAccessControl:DefaultObjectAccessControl": (_entity,),
    "gcp:storage/objectAccessControl:ObjectAccessControl": (_entity,),
    "gcp:storage/bucketACL:BucketACL": (_GOOGLE_ACL, _entities),
    "gcp:storage/objectACL:ObjectACL": (_GOOGLE_ACL, _entities),
    "gcp:storage/defaultObjectACL:DefaultObjectACL": (_entities,),
    "gcp:storage/bucketObject:BucketObject": (_GOOGLE_ACL,),
    "gcp:bigquery/dataset:Dataset": (_dataset,),
    "gcp:sql/databaseInstance:DatabaseInstance": (_sql,),
}
