"""Cloud Storage: buckets, whose names are unique in the world, and who may use them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.gcp.common import BUCKET, KEY, KEY_GRANT, NOT_FOUND, member_id, project_of
from gpuplatform.sandbox.cloud.gcp.functions import project_number, storage_agent
from gpuplatform.sandbox.cloud.rule import Call, CloudError, NameRule, Reference, Rule
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES"]

OBJECT = "gcp:storage/bucketObject:BucketObject"

_DAY = 86400
_SOFT_DELETE = (7 * _DAY, 90 * _DAY)
_ENCRYPTS = ("roles/cloudkms.cryptoKeyEncrypterDecrypter", "roles/cloudkms.admin", "roles/owner")


def _check(call: Call) -> Iterator[Problem]:
    kept = call.get("softDeletePolicy.retentionDurationSeconds")
    least, most = _SOFT_DELETE
    if isinstance(kept, int | float) and kept and not least <= kept <= most:
        yield Problem(
            "softDeletePolicy.retentionDurationSeconds", f"{kept:g} is neither 0 nor {least} to {most}"
        )
    if call.name.startswith("goog") or "google" in call.name:
        yield Problem("name", f"{call.name!r} neither starts with goog nor contains google")
    if call.get("hierarchicalNamespace.enabled") and call.get("versioning.enabled"):
        yield Problem("versioning", "a bucket with a hierarchical namespace has no versions")


def _create(call: Call) -> None:
    if call.world.named(BUCKET, call.name):
        raise CloudError(
            "googleapi: Error 409: The requested bucket name is not available. The bucket namespace is shared"
            " by all users of the system. Please select a different name and try again., conflict"
        )
    _refuse_key(call)


def _refuse_key(call: Call) -> None:
    key = call.get("encryption.defaultKmsKeyName")
    if not key:
        return
    if (location := re.search(r"/locations/([^/]+)/", str(key))) and location[1] != call.region.lower():
        raise CloudError(
            f"googleapi: Error 400: Cloud KMS key {key} is in {location[1]}, the bucket in {call.region}:"
            " they must be in the same location., invalid"
        )
    agent = f"serviceAccount:{storage_agent(project_of(call))}"
    grants = [wire.plain(grant.inputs) for grant in call.world.linked(KEY, str(key), KEY_GRANT)]
    if not any(grant.get("member") == agent and grant.get("role") in _ENCRYPTS for grant in grants):
        raise CloudError(
            "googleapi: Error 403: Permission denied on Cloud KMS key. Please ensure that your Cloud Storage"
            f" service account has been authorized to use this key., forbidden ({agent})"
        )


def _delete(call: Call) -> None:
    if call.world.linked(BUCKET, call.name, OBJECT) and not call.get("forceDestroy"):
        raise CloudError(
            f"Error trying to delete bucket {call.name} containing objects without `force_destroy` set to"
            " true"
        )


def _outputs(call: Call) -> dict[str, Any]:
    return {
        "url": f"gs://{call.name}",
        "selfLink": f"https://www.googleapis.com/storage/v1/b/{call.name}",
        "location": call.region.upper(),
        "projectNumber": int(project_number(project_of(call))),
    }


RULES = (
    Rule(
        BUCKET,
        names=NameRule(
            r"[a-z0-9][-a-z0-9_.]{1,61}[a-z0-9]", "3 to 63 of lower-case letters, digits, -, _ and ."
        ),
        references=(Reference("encryption.defaultKmsKeyName", KEY, NOT_FOUND),),
        check=_check,
        create=_create,
        update=lambda call, _inputs: _refuse_key(call),
        delete=_delete,
        id=lambda call: call.name,
        outputs=_outputs,
    ),
    Rule(
        OBJECT,
        references=(Reference("bucket", BUCKET, NOT_FOUND, cascades=True),),
        id=lambda call: f"{call.get('bucket')}-{call.name}",
    ),
    Rule(
        "gcp:storage/bucketIAMMember:BucketIAMMember",
        references=(Reference("bucket", BUCKET, NOT_FOUND, cascades=True),),
        id=member_id("bucket", "role", "member"),
    ),
)
