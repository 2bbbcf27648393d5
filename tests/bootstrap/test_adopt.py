"""What a killed engine had begun: asked for where its ID can be told, named where it cannot."""

from __future__ import annotations

from typing import Any

from gpuplatform.bootstrap.adopt import adopted, id_of

PROVIDER = {
    "urn": "urn:pulumi:dev::p::pulumi:providers:aws::aws",
    "custom": True,
    "id": "some-id",
    "type": "pulumi:providers:aws",
    "inputs": {"allowedAccountIds": '["123456789012"]', "region": "us-gov-west-1"},
}


def note(type_: str, inputs: dict[str, Any], kind: str = "creating") -> dict[str, Any]:
    urn = f"urn:pulumi:dev::p::{type_}::it"
    provider = f"{PROVIDER['urn']}::some-id"
    return {
        "type": kind,
        "resource": {"urn": urn, "custom": True, "type": type_, "inputs": inputs, "provider": provider},
    }


def checkpoint(*notes: dict[str, Any]) -> dict[str, Any]:
    return {"version": 3, "deployment": {"resources": [PROVIDER], "pending_operations": list(notes)}}


def test_what_was_being_created_joins_the_state_under_the_id_that_it_has_if_it_exists() -> None:
    left = adopted(checkpoint(note("aws:s3/bucket:Bucket", {"bucket": "vision-dev-state"})))
    assert (left.pending, left.unknown) == (1, ())
    [_, bucket] = left.checkpoint["deployment"]["resources"]
    assert bucket["id"] == "vision-dev-state"
    assert bucket["outputs"] == {"bucket": "vision-dev-state"}
    assert "pending_operations" not in left.checkpoint["deployment"]


def test_the_account_and_its_partition_come_from_the_provider() -> None:
    made = note("aws:iam/policy:Policy", {"name": "most", "path": "/gpuplatform-ci/"})["resource"]
    assert id_of(made, PROVIDER["inputs"]) == "arn:aws-us-gov:iam::123456789012:policy/gpuplatform-ci/most"  # type: ignore[arg-type]


def test_what_only_the_cloud_names_is_said_and_made_again() -> None:
    left = adopted(checkpoint(note("aws:kms/key:Key", {"description": "x"})))
    assert [one["type"] for one in left.checkpoint["deployment"]["resources"]] == ["pulumi:providers:aws"]
    assert left.unknown == (
        "aws:kms/key:Key 'it' may have been made by the killed run, and is made again: look for a second one",
    )


def test_what_was_being_changed_or_deleted_is_what_the_cloud_says_it_is() -> None:
    bucket = note("aws:s3/bucket:Bucket", {"bucket": "b"}, "updating")
    left = adopted(checkpoint(bucket, note("aws:s3/bucket:Bucket", {"bucket": "b"}, "deleting")))
    assert (left.pending, left.unknown) == (2, ())
    assert left.checkpoint["deployment"]["resources"] == [PROVIDER]


def test_inputs_that_do_not_tell_the_id_make_no_wrong_one() -> None:
    assert id_of(note("aws:s3/bucket:Bucket", {})["resource"], {}) is None
    assert id_of(note("aws:iam/policy:Policy", {"name": "most"})["resource"], {}) is None


def test_a_state_without_such_notes_stays_as_it_is() -> None:
    left = adopted({"version": 3, "deployment": {"resources": [PROVIDER]}})
    assert left.pending == 0
    assert left.checkpoint["deployment"]["resources"] == [PROVIDER]
