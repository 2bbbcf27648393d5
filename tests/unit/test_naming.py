from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplatform.naming import RULES, distinct, fit, problem

_PARTS = st.lists(st.from_regex(r"[a-z][a-z0-9]{0,30}", fullmatch=True), min_size=2, max_size=4)


def test_a_name_that_fits_stays_as_it_is() -> None:
    assert fit("EKS cluster", "vision", "prod") == "vision-prod"


def test_a_name_that_is_cut_ends_in_a_hash_and_differs_from_its_neighbour() -> None:
    one = fit("GKE cluster", "a" * 30, "b" * 30, "one")
    two = fit("GKE cluster", "a" * 30, "b" * 30, "two")
    assert len(one) == len(two) == 40
    assert one != two
    assert re.fullmatch(r"a{30}-b{2}-[0-9a-f]{6}", one)


def test_names_that_become_one_without_their_separators_stay_apart() -> None:
    assert fit("AKS agent pool", "a", "bc") != fit("AKS agent pool", "ab-c")


@pytest.mark.parametrize("kind", RULES)
@given(parts=_PARTS)
def test_every_fitted_name_is_legal_and_stable(kind: str, parts: list[str]) -> None:
    padded = [*parts, "padding"]
    name = fit(kind, *padded)
    assert problem(kind, name) is None
    assert fit(kind, *padded) == name


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("AKS agent pool", "gpu-h100", "match"),
        ("AKS agent pool", "a" * 13, "1 to 12 characters"),
        ("AKS agent pool", "1abc", "match"),
        ("GCP service account", "abc", "6 to 30 characters"),
        ("GKE cluster", "Vision", "match"),
        ("EKS cluster", "-a", "match"),
    ],
)
def test_an_illegal_name_is_explained(kind: str, name: str, expected: str) -> None:
    assert expected in (problem(kind, name) or "")


def test_parts_that_make_no_legal_name_are_refused() -> None:
    with pytest.raises(ValueError, match="GKE cluster"):
        fit("GKE cluster", "Vision")


@given(st.dictionaries(st.text("ab/-", max_size=5), st.none(), max_size=12))
def test_logical_names_are_distinct_whatever_their_order_and_change_only_where_they_collide(
    keys: dict[str, None],
) -> None:
    plain = {key: key.replace("/", "-") for key in keys}
    made = distinct(plain)
    assert list(made) == list(keys)
    assert len(set(made.values())) == len(keys)
    assert distinct(dict(reversed(plain.items()))) == made
    assert {made[key] for key in keys} >= set(plain.values())
    for key, name in plain.items():
        if list(plain.values()).count(name) == 1:
            assert made[key] == name
