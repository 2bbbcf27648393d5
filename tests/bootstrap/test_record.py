"""The record: no secret, no noise, in an order that the engine takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpuplatform.bootstrap import record
from gpuplatform.bootstrap.canonical import canonical
from gpuplatform.errors import ConfigError, GpuPlatformError

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = {SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:abc:def"}


def resource(name: str, **more: Any) -> dict[str, Any]:
    type_ = more.pop("type", "aws:s3/bucket:Bucket")
    return {"urn": f"urn:pulumi:dev::p::{type_}::{name}", "custom": True, "id": name, "type": type_, **more}


def checkpoint(*resources: dict[str, Any], **deployment: Any) -> dict[str, Any]:
    return {"version": 3, "deployment": {"resources": list(resources), **deployment}}


@pytest.mark.parametrize(
    "made",
    [
        resource("a", inputs={"deep": [{"er": SECRET}]}),
        resource("a", outputs={"password": SECRET}),
        resource("a", type="pulumi:pulumi:Stack", outputs={"token": SECRET}),
        resource("a", type="pulumi:providers:azure-native", inputs={"clientSecret": "in the clear"}),
        resource("a", type="pulumi:providers:aws", outputs={"secretKey": "in the clear"}),
        resource("a", type="pulumi:providers:gcp", inputs={"accessToken": "in the clear"}),
    ],
)
def test_a_secret_never_comes_into_the_record(made: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    with pytest.raises(GpuPlatformError, match="the record would hold a secret: urn:pulumi:dev") as refused:
        record.text_of(file, checkpoint(resource("b"), made))
    assert "in the clear" not in str(refused.value)
    assert "v1:abc" not in str(refused.value)
    assert not file.exists()


def test_what_is_named_like_a_credential_and_belongs_to_no_provider_is_none() -> None:
    assert (
        record.secrets(checkpoint(resource("a", inputs={"token": "a type token", "credentials": "x"}))) == ()
    )


def test_an_export_that_differs_in_time_salt_and_order_is_the_same_record(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "record.json"
    first, second = resource("first"), resource("second", dependencies=["urn:pulumi:dev::p::t::x", "urn:a"])
    text = record.text_of(
        file,
        checkpoint(first, second, manifest={"time": "2026-01-01T00:00:00Z", "magic": "m", "version": "v"}),
    )
    assert text is not None
    record.write(file, text)
    again = checkpoint(
        {
            **second,
            "dependencies": ["urn:a", "urn:pulumi:dev::p::t::x"],
            "sourcePosition": "project:///x.py#1",
        },
        first,
        manifest={"time": "2027-01-01T00:00:00Z", "magic": "m", "version": "v"},
        secrets_providers={"type": "passphrase", "state": {"salt": "v1:x"}},
    )
    assert record.text_of(file, again) is None
    assert record.text_of(file, checkpoint(first)) is not None
    assert "salt" not in text


def test_each_resource_stands_after_all_that_it_depends_on() -> None:
    stack = resource("z-stack", type="pulumi:pulumi:Stack")
    provider = resource("y", type="pulumi:providers:aws", parent=stack["urn"])
    key = resource("x-key", parent=stack["urn"], provider=f"{provider['urn']}::some-id")
    bucket = resource("a-bucket", parent=stack["urn"], propertyDependencies={"key": [key["urn"]]})
    deleted = resource("b", parent=stack["urn"], deletedWith=bucket["urn"])
    made = canonical(checkpoint(deleted, bucket, key, provider, stack))
    names = [one["id"] for one in made["deployment"]["resources"]]
    assert names == ["z-stack", "y", "x-key", "a-bucket", "b"]
    assert canonical(made) == made


def test_two_of_one_urn_keep_the_engine_s_order() -> None:
    old, new = resource("b", delete=True), {**resource("b"), "id": "new"}
    made = canonical(checkpoint(resource("c"), new, old))
    assert [one["id"] for one in made["deployment"]["resources"]] == ["c", "new", "b"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"deployment": null}', '{"deployment": 3}', "null"])
def test_a_damaged_record_is_refused_with_the_way_out(text: str, tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="this is no record of a bootstrap") as refused:
        record.read(file)
    assert "git" in refused.value.way_out


def test_a_record_that_was_refused_says_so_until_it_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    text = record.text_of(file, checkpoint(resource("a")), refused=True)
    assert text is not None
    record.write(file, text)
    assert json.loads(text)[record.REFUSED] is True
    assert record.text_of(file, checkpoint(resource("a")), refused=True) is None
    whole = record.text_of(file, checkpoint(resource("a")))
    assert whole is not None
    assert record.REFUSED not in json.loads(whole)


def test_no_record_is_none(tmp_path: Path) -> None:
    assert record.read(tmp_path / "record.json") is None
