"""Google Cloud's expressions over a token: which are taken, and what a grant may name."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gpuplatform.config import Github
from gpuplatform.errors import Refusal
from gpuplatform.trust import ROLE_ATTRIBUTE, Trust, attribute_condition, attribute_mapping, trust


def of(**changes: Any) -> Trust:
    return trust(Github(**{"repository": "octo-org/octo-repo", "environments": ("prod",), **changes}))


IDS = {"owner_id": "123456", "repository_id": "456789"}


def test_oidc_5_the_condition_names_claims_of_the_repository_and_exact_subjects() -> None:
    assert attribute_condition(of()) == (
        "assertion.repository == 'octo-org/octo-repo' && assertion.sub in "
        "['repo:octo-org/octo-repo:pull_request', 'repo:octo-org/octo-repo:environment:prod']"
    )


def test_oidc_5_where_the_numbers_are_known_they_decide_and_not_the_name() -> None:
    condition = attribute_condition(of(**IDS))
    assert condition.startswith(
        "assertion.repository_owner_id == '123456' && assertion.repository_id == '456789' && "
    )
    assert "assertion.repository ==" not in condition


def test_oidc_5_what_a_grant_names_is_mapped_and_decided_by_the_exact_subject() -> None:
    mapping = attribute_mapping(of(**IDS, subjects="both"))
    assert mapping[ROLE_ATTRIBUTE] == (
        "assertion.sub in ['repo:octo-org/octo-repo:environment:prod', "
        "'repo:octo-org@123456/octo-repo@456789:environment:prod'] ? 'deploy' : 'preview'"
    )
    assert mapping["attribute.repository"] == "assertion.repository"


def test_oidc_6_a_subject_of_at_most_127_bytes_is_the_token_s_own() -> None:
    room = 127 - len("repo:octo-org/octo-repo:environment:")
    assert attribute_mapping(of(environments=("e" * room,)))["google.subject"] == "assertion.sub"


def test_oidc_6_a_longer_one_is_bounded_whatever_the_names_are() -> None:
    room = 128 - len("repo:octo-org/octo-repo:environment:")
    bounded = attribute_mapping(of(environments=("e" * room,)))["google.subject"]
    assert bounded.startswith("assertion.repository_id + ':' + (")
    longest = len("9" * 19) + 1 + max(len(role) for role in re.findall(r"'(deploy|preview)'", bounded))
    assert longest <= 127


def test_more_environments_than_an_expression_holds_are_refused_with_the_way_out() -> None:
    many = of(**IDS, subjects="both", environments=tuple(f"environment-{number}" for number in range(80)))
    with pytest.raises(Refusal, match="2048 at most"):
        attribute_mapping(many)
    with pytest.raises(Refusal, match="name fewer environments"):
        attribute_condition(many)
