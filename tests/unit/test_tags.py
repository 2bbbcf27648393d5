from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from gpuplatform.tags import KEYS, Tags

TAGS = Tags(
    environment="prod",
    project="Vision Maps",
    team="ml/vision",
    cost_center="4711",
    owner="ml-platform@example.com",
)


def test_aws_and_azure_take_the_values_as_they_are() -> None:
    expected = {
        "environment": "prod",
        "project": "Vision Maps",
        "team": "ml/vision",
        "cost-center": "4711",
        "owner": "ml-platform@example.com",
        "managed-by": "gpuplatform",
    }
    assert TAGS.aws() == expected
    assert TAGS.azure() == expected
    assert TAGS.aws(Name="x") == {**expected, "Name": "x"}


def test_gcp_labels_obey_its_character_rules() -> None:
    assert TAGS.gcp() == {
        "environment": "prod",
        "project": "vision_maps",
        "team": "ml_vision",
        "cost-center": "4711",
        "owner": "ml-platform_at_example_com",
        "managed-by": "gpuplatform",
    }


def test_expiry_and_experiment_appear_only_where_set() -> None:
    tags = Tags(
        environment="dev",
        project="p",
        team="t",
        cost_center="c",
        owner="o",
        expires="2027-01-31",
        experiment="e",
    )
    assert set(tags.aws()) == set(KEYS)


@given(st.text(min_size=1, max_size=300))
def test_any_text_becomes_a_legal_gcp_label(value: str) -> None:
    labels = Tags(environment="e", project=value, team=value, cost_center=value, owner=value).gcp()
    for key, label in labels.items():
        assert re.fullmatch(r"[a-z][a-z0-9_-]{0,62}", key)
        assert re.fullmatch(r"[a-z0-9_-]{0,63}", label)
