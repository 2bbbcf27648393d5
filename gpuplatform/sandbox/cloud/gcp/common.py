"""Names of types, and paths, that Google Cloud's parts share."""

from __future__ import annotations

import re
from collections.abc import Callable

from gpuplatform.sandbox.cloud.rule import (
    Call,
    CloudError,
    NameRule,
    Reference,
)

__all__ = [
    "ACCOUNT",
    "BUCKET",
    "CLUSTER",
    "COMPUTE",
    "IN_NETWORK",
    "IN_USE",
    "KEY",
    "KEY_GRANT",
    "NAME",
    "NETWORK",
    "NOT_FOUND",
    "POOL",
    "RESOURCE_POLICY",
    "RING",
    "ROUTER",
    "SUBNET",
    "keep_name",
    "member_id",
    "normal",
    "project_of",
    "refuse_kept",
]


NETWORK = "gcp:compute/network:Network"

SUBNET = "gcp:compute/subnetwork:Subnetwork"

ROUTER = "gcp:compute/router:Router"

CLUSTER = "gcp:container/cluster:Cluster"

POOL = "gcp:container/nodePool:NodePool"

RESOURCE_POLICY = "gcp:compute/resourcePolicy:ResourcePolicy"

ACCOUNT = "gcp:serviceaccount/account:Account"

RING = "gcp:kms/keyRing:KeyRing"

KEY = "gcp:kms/cryptoKey:CryptoKey"

KEY_GRANT = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"

BUCKET = "gcp:storage/bucket:Bucket"

COMPUTE = "https://www.googleapis.com/compute/v1/"

NOT_FOUND = "googleapi: Error 404: The resource '{value}' was not found, notFound"

IN_USE = (
    "googleapi: Error 400: The resource '{id}' is already being used by '{by}',"
    " resourceInUseByAnotherResource"
)


def normal(handle: str) -> str:
    """A link, a path below the project and a bare name are three ways to say one thing."""
    return re.sub(r"^https://(www|container|compute)\.googleapis\.com/(compute/)?v\d+(beta\d+)?/", "", handle)


def project_of(call: Call) -> str:
    """The resource's own project, else the provider's."""
    project = call.get("project")
    return project if isinstance(project, str) else call.account.owner


def member_id(*parts: str) -> Callable[[Call], str]:
    """Makes ids of the given inputs, for things without a name: a grant is its scope, role and member."""

    def make(call: Call) -> str:
        return "/".join(str(call.get(part, project_of(call) if part == "project" else "")) for part in parts)

    return make


_KEPT = "CREATE TABLE IF NOT EXISTS gcp_kept (token TEXT, id TEXT, PRIMARY KEY (token, id))"


def keep_name(call: Call) -> None:
    """Notes the ID of what is deleted: some of them stay taken, for a time or for good.

    In a table of its own: what is left is a name, and no thing that somebody could have forgotten.
    """
    with call.world.transaction() as db:
        db.execute(_KEPT)
        db.execute("INSERT OR IGNORE INTO gcp_kept VALUES (?, ?)", (call.token, call.id))


def refuse_kept(call: Call, wanted: str) -> None:
    """Refuses an ID that something had which was deleted.

    Raises:
        CloudError: It had.
    """
    with call.world.transaction() as db:
        db.execute(_KEPT)
        kept = db.execute("SELECT 1 FROM gcp_kept WHERE token = ? AND id = ?", (call.token, wanted))
        if kept.fetchone():
            raise CloudError(
                f"googleapi: Error 409: Requested entity already exists: {wanted}, alreadyExists"
            )


NAME = NameRule(
    r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", "1 to 63 of lower-case letters, digits and -, first a letter"
)

IN_NETWORK = Reference("network", NETWORK, NOT_FOUND, IN_USE)
