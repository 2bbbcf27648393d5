"""What a refused value is told: the rule in words, the cloud's own example, the text as it was written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from gpuplatform.config import KEY, NodePool, Platform, Project, from_engine, from_file
from gpuplatform.config.base import Model
from gpuplatform.errors import ConfigError

Loaded = Callable[..., Platform]
SAMPLES = ("aws-dev", "azure-dev", "gcp-dev")
SHARED_ADDRESSES = "100.64.0.0/16"


def _refused(loaded: Loaded, change: Any, sample: str = "aws-dev") -> ConfigError:
    with pytest.raises(ConfigError) as raised:
        loaded(change, sample=sample)
    return raised.value


def _models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield model
    for inner in model.__subclasses__():
        yield from _models(inner)


def _notes(annotation: Any) -> Iterator[FieldInfo]:
    yield from (note for note in getattr(annotation, "__metadata__", ()) if isinstance(note, FieldInfo))
    for argument in get_args(annotation):
        yield from _notes(argument)


def _patterned() -> Iterator[tuple[str, str]]:
    for model in _models(Model):
        for name, field in model.model_fields.items():
            for note in (field, *_notes(field.annotation)):
                if any(getattr(one, "pattern", None) for one in note.metadata):
                    yield f"{model.__name__}.{name}", note.description or ""


@pytest.mark.parametrize(("name", "said"), list(_patterned()))
def test_every_field_with_a_pattern_says_in_words_what_is_allowed(name: str, said: str) -> None:
    assert said, f"{name} would show its regular expression"


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"name": "Vision"}, "2 to 20 lower-case letters, digits and hyphens, starting with a letter"),
        ({"environment": "Prod"}, "2 to 12 lower-case letters and digits, starting with a letter"),
        ({"owner": "me"}, "an e-mail address of at most 128 characters"),
        ({"owner": f"{'x' * 300}@example.com"}, "an e-mail address of at most 128 characters"),
        ({"cost_center": "a;b"}, "1 to 63 letters, digits, spaces and"),
        ({"team": "a;b"}, "1 to 63 letters, digits, spaces and"),
        ({"project": "x" * 64}, "1 to 63 letters, digits, spaces and"),
        ({"experiment": "a;b"}, "1 to 63 letters, digits, spaces and"),
    ],
)
@pytest.mark.parametrize("sample", SAMPLES)
def test_a_refused_text_is_told_its_rule_in_words(
    sample: str, change: dict[str, Any], rule: str, loaded: Loaded
) -> None:
    error = _refused(loaded, lambda platform: platform.update(change), sample)
    assert rule in error.rule
    assert "^" not in error.rule
    assert len(error.what) < 100


@pytest.mark.parametrize(
    ("labels", "place", "rule"),
    [
        ({"a b": "x"}, "labels.a b", "A Kubernetes key"),
        ({"team": "a b"}, "labels.team", "A Kubernetes value"),
    ],
)
def test_a_refused_label_is_told_the_rule_of_its_part(
    labels: dict[str, str], place: str, rule: str, loaded: Loaded
) -> None:
    error = _refused(loaded, lambda platform: platform["node_pools"][0].update(labels=labels))
    assert error.where.endswith(place)
    assert rule in error.rule


@pytest.mark.parametrize(
    ("sample", "region", "example", "meant"),
    [
        ("azure-dev", "us-east-1", "eastus", "eastus"),
        ("azure-dev", "EastUS", "eastus", "eastus"),
        ("azure-dev", "east us", "eastus", "eastus"),
        ("gcp-dev", "us-east4-a", "us-central1", "us-east4"),
        ("gcp-dev", "US-EAST4", "us-central1", "us-east4"),
        ("gcp-dev", "us-east-1", "us-central1", "us-east1"),
        ("aws-dev", "us-east-1a", "us-east-1", "us-east-1"),
        ("aws-dev", "US-East-2", "us-east-1", "us-east-2"),
        ("aws-dev", "us-east1", "us-east-1", "us-east-1"),
    ],
)
def test_a_region_in_another_spelling_is_told_its_own_cloud_s(
    sample: str, region: str, example: str, meant: str, loaded: Loaded
) -> None:
    error = _refused(loaded, lambda platform: platform["cloud"].update(region=region), sample)
    assert example in error.rule
    assert re.search(rf"(write|did you mean) {meant}\??$", error.way_out)


@pytest.mark.parametrize(
    ("sample", "key", "provider", "own"),
    [
        ("aws-dev", "account", "azure", "provider, region, subscription"),
        ("azure-dev", "subscription", "gcp", "project, provider, region"),
        ("gcp-dev", "project", "aws", "account, provider, region"),
    ],
)
def test_a_key_of_another_cloud_is_told_the_keys_of_this_one(
    sample: str, key: str, provider: str, own: str, loaded: Loaded
) -> None:
    message = str(_refused(loaded, lambda platform: platform["cloud"].update(provider=provider), sample))
    assert f"there is no key `{key}`" in message
    assert f"the keys here are {own}" in message
    assert "did you mean `" not in message


def test_a_number_is_shown_as_the_file_has_it(written: Callable[..., Project]) -> None:
    project = written()
    file = project.stack_file("s")
    file.write_text(re.sub(r"kubernetes_version: .*", "kubernetes_version: 1.30", file.read_text()))
    with pytest.raises(ConfigError) as raised:
        from_file(project, "s")
    assert raised.value.what == "1.30 is a number where text belongs"
    assert raised.value.way_out == 'write it in quotes: "1.30"'


def test_a_number_from_the_engine_is_not_guessed_at(written: Callable[..., Project]) -> None:
    value = yaml.safe_load(written().stack_file("s").read_text())["config"][KEY]
    value["cluster"]["kubernetes_version"] = 1.3
    with pytest.raises(ConfigError) as raised:
        from_engine(json.dumps(value, default=str), secret=False, stack="s")
    assert raised.value.way_out == 'write it in quotes, such as "1.30"'


@pytest.mark.parametrize("key", ["budget", "guardrails", "prices", "team", "cloud", "node_pools", "expires"])
@pytest.mark.parametrize("sample", SAMPLES)
def test_a_key_that_says_nothing_is_refused_wherever_it_stands(sample: str, key: str, loaded: Loaded) -> None:
    error = _refused(loaded, lambda platform: platform.update({key: None}), sample)
    assert error.what == f"`{key}` is empty"
    assert error.problems == ()


def test_an_empty_file_name_is_refused_as_an_empty_key_is(loaded: Loaded) -> None:
    assert _refused(loaded, lambda platform: platform.update(prices="")).what == "`prices` is empty"


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize(
    "cidr",
    ["127.0.0.0/16", "169.254.0.0/16", "198.18.0.0/16", "0.0.0.0/16", "240.0.0.0/16", "172.32.0.0/16"],
)
def test_a_network_lies_in_the_blocks_that_the_message_names(sample: str, cidr: str, loaded: Loaded) -> None:
    error = _refused(loaded, lambda platform: platform["network"].update(cidr=cidr), sample)
    assert f"{cidr} is no private block (10/8, 172.16/12, 192.168/16" in error.what
    assert ("100.64/10" in error.what) == (sample != "azure-dev")


@pytest.mark.parametrize("sample", ["aws-dev", "gcp-dev"])
def test_shared_address_space_numbers_a_network_where_the_cloud_takes_it(sample: str, loaded: Loaded) -> None:
    platform = loaded(lambda platform: platform["network"].update(cidr=SHARED_ADDRESSES), sample=sample)
    assert str(platform.network.cidr) == SHARED_ADDRESSES


def test_shared_address_space_is_the_pods_own_on_azure(loaded: Loaded) -> None:
    error = _refused(loaded, lambda platform: platform["network"].update(cidr=SHARED_ADDRESSES), "azure-dev")
    assert "no private block" in error.what


@pytest.mark.parametrize(
    ("blocks", "sentence"),
    [
        (["0.0.0.0/0"], "0.0.0.0/0 opens the API to the whole internet"),
        (["0.0.0.0/1", "128.0.0.0/1"], "0.0.0.0/1 and 128.0.0.0/1 opens the API"),
        (["0.0.0.0/2", "64.0.0.0/2", "128.0.0.0/1"], "these blocks together opens the API"),
        (["198.51.100.0/24", "198.51.100.0/24"], "198.51.100.0/24 is named twice"),
        (["10.1.0.0/16"], "10.1.0.0/16 is no public block"),
        (["192.168.1.0/24"], "192.168.1.0/24 is no public block"),
        (["100.64.0.0/24"], "100.64.0.0/24 is no public block"),
        (["127.0.0.1/32"], "127.0.0.1/32 is no public block"),
        (["198.51.100.0/24", "172.16.0.0/12"], "172.16.0.0/12 is no public block"),
    ],
)
@pytest.mark.parametrize("sample", SAMPLES)
def test_an_api_is_opened_to_some_public_addresses_only(
    sample: str, blocks: list[str], sentence: str, loaded: Loaded
) -> None:
    def change(platform: dict[str, Any]) -> None:
        platform["cluster"]["api_access"]["public_cidrs"] = blocks

    error = _refused(loaded, change, sample)
    assert sentence in error.what
    assert "cluster.api_access.public_cidrs" in error.where


def test_the_rule_of_a_pool_s_name_is_in_its_description() -> None:
    assert "12 lower-case letters" in str(NodePool.model_fields["name"].description)
