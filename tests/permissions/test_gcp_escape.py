"""Google Cloud: what the condition on deploy's binding says of single requests."""

from __future__ import annotations

import re

import pytest
from samples import STACKS, config_of, recording_of

from gpuplatform.config import Gcp
from gpuplatform.gcp import GcpStateStoreArgs
from gpuplatform.permissions import gcp
from gpuplatform.permissions.gcp_rows import TABLE

TYPES = {row.type for row in TABLE.values() if not row.bootstrap}
CONFIG = config_of("gcp-prod")
SCOPE = gcp.scope_of(CONFIG)
RINGS = "projects/example-ml/locations/us-east4/keyRings/"


class _Name(str):
    """`resource.name`, with the functions of CEL that a condition calls."""

    __slots__ = ()

    def startsWith(self, prefix: str) -> bool:  # noqa: N802 - CEL's own name
        return self.startswith(prefix)

    def extract(self, template: str) -> _Name:
        """https://cloud.google.com/iam/docs/conditions-attribute-reference#extract."""
        before, _, after = re.fullmatch(r"(.*)\{(\w+)\}(.*)", template).groups()  # type: ignore[union-attr]
        _, found, rest = self.partition(before)
        if not found or after not in rest:
            return _Name("")
        return _Name(rest.partition(after)[0] if after else rest)


class _List(list[str]):
    def hasOnly(self, allowed: list[str]) -> bool:  # noqa: N802 - CEL's own name
        return set(self) <= set(allowed)


class _Resource:
    def __init__(self, kind: str, name: str) -> None:
        self.type, self.name = kind, _Name(name)


class _Api:
    def __init__(self, grants: list[str]) -> None:
        self._grants = grants

    def getAttribute(self, _name: str, _default: list[str]) -> _List:  # noqa: N802 - CEL's own name
        return _List(self._grants)


def _holds(kind: str, name: str, *grants: str, scope: gcp.GcpScope = SCOPE) -> bool:
    condition = gcp.condition("deploy", TYPES, scope)
    assert condition
    python = re.sub(r"!(?!=)", " not ", condition.replace("&&", " and ").replace("||", " or "))
    known = {"resource": _Resource(kind, name), "api": _Api(list(grants)), "__builtins__": {}}
    return bool(eval(python, known))  # noqa: S307 - our own condition


BUCKET, OBJECT = "storage.googleapis.com/Bucket", "storage.googleapis.com/Object"
RING, KEY = "cloudkms.googleapis.com/KeyRing", "cloudkms.googleapis.com/CryptoKey"
VERSION = "cloudkms.googleapis.com/CryptoKeyVersion"
PROJECT = "cloudresourcemanager.googleapis.com/Project"


@pytest.mark.parametrize("stack", [stack for stack in STACKS if stack.startswith("gcp")])
def test_the_state_s_bucket_is_out_of_reach(stack: str) -> None:
    config = config_of(stack)
    assert isinstance(config.cloud, Gcp)
    state = GcpStateStoreArgs(
        name=config.physical_name,
        region=config.cloud.region,
        tags=config.tags,
        project=config.cloud.project,
    ).bucket
    scope = gcp.scope_of(config)
    assert scope.state == state
    assert not _holds(BUCKET, f"projects/_/buckets/{state}", scope=scope)
    assert not _holds(BUCKET, f"projects/_/buckets/{state}", "roles/storage.admin", scope=scope)
    assert _holds(BUCKET, f"projects/_/buckets/{config.physical_name}-datasets-1a2b", scope=scope)


def test_nor_does_a_tier_named_like_it_give_its_objects_away() -> None:
    scope = gcp.GcpScope(
        name=SCOPE.name, emptied=(SCOPE.state, f"{SCOPE.name}-state-tier"), state=SCOPE.state
    )
    objects = "projects/_/buckets/{}/objects/x"
    assert not _holds(OBJECT, objects.format(SCOPE.state), scope=scope)
    assert _holds(OBJECT, objects.format(f"{SCOPE.name}-state-tier"), scope=scope)


def test_without_its_name_all_that_are_named_like_one_are() -> None:
    scope = gcp.GcpScope(name="vision-prod")
    assert not _holds(BUCKET, "projects/_/buckets/vision-prod-state-1a2b3c4d", scope=scope)


@pytest.mark.parametrize("ring", ["state-key-ring-1a2b3c4", "somebody-else-s"])
def test_the_state_s_key_is_out_of_reach_and_everybody_else_s(ring: str) -> None:
    for kind, rest in ((RING, ""), (KEY, "/cryptoKeys/k"), (VERSION, "/cryptoKeys/k/cryptoKeyVersions/1")):
        assert not _holds(kind, f"{RINGS}{ring}{rest}")
        assert not _holds(kind, f"{RINGS}{ring}{rest}", "roles/cloudkms.admin")
        assert _holds(kind, f"{RINGS}storage-datasets-key-ring-1a2b3c4{rest}")
    assert _holds("cloud.googleapis.com/Location", "projects/example-ml/locations/us-east4")


def test_what_a_request_grants_on_the_project_is_compared() -> None:
    project = "projects/example-ml"
    assert _holds(PROJECT, project)
    assert _holds(PROJECT, project, "roles/container.admin")
    assert not _holds(PROJECT, project, "roles/owner")
    assert not _holds(PROJECT, project, "roles/container.admin", "roles/storage.admin")


def test_others_buckets_are_out_of_reach() -> None:
    assert not _holds(BUCKET, "projects/_/buckets/somebody-else-s")


@pytest.mark.parametrize("stack", [stack for stack in STACKS if stack.startswith("gcp")])
def test_the_rings_of_a_sample_stack_s_tiers_are_named_as_the_condition_says(stack: str) -> None:
    rings = [each.name for each in recording_of(stack).resources if each.type == "gcp:kms/keyRing:KeyRing"]
    assert rings
    assert all(ring.startswith(gcp.KEY_RINGS) for ring in rings)
