"""Whose tokens are trusted: exact subjects, in the forms that a repository sends."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplatform.config import Github
from gpuplatform.errors import Refusal
from gpuplatform.trust import Trust, trust


def github(**changes: Any) -> Github:
    return Github(**{"repository": "octo-org/octo-repo", "environments": ("prod",), **changes})


IDS = {"owner_id": "123456", "repository_id": "456789"}


def test_oidc_1_without_numbers_the_subjects_are_classic() -> None:
    found = trust(github())
    assert found.preview_subjects == ("repo:octo-org/octo-repo:pull_request",)
    assert found.deploy_subjects == ("repo:octo-org/octo-repo:environment:prod",)
    assert (found.owner_id, found.repository_id) == ("", "")


def test_oidc_1_with_numbers_the_subjects_are_immutable() -> None:
    found = trust(github(**IDS))
    assert found.preview_subjects == ("repo:octo-org@123456/octo-repo@456789:pull_request",)
    assert found.deploy_subjects == ("repo:octo-org@123456/octo-repo@456789:environment:prod",)


def test_oidc_1_during_a_move_both_forms_are_trusted_as_exact_values() -> None:
    found = trust(github(**IDS, subjects="both", environments=("prod", "staging")))
    assert found.preview_subjects == (
        "repo:octo-org/octo-repo:pull_request",
        "repo:octo-org@123456/octo-repo@456789:pull_request",
    )
    assert found.deploy_subjects == (
        "repo:octo-org/octo-repo:environment:prod",
        "repo:octo-org@123456/octo-repo@456789:environment:prod",
        "repo:octo-org/octo-repo:environment:staging",
        "repo:octo-org@123456/octo-repo@456789:environment:staging",
    )


def test_oidc_1_classic_stays_classic_where_asked_for_with_the_numbers_known() -> None:
    assert trust(github(**IDS, subjects="classic")).deploy_subjects == (
        "repo:octo-org/octo-repo:environment:prod",
    )


@pytest.mark.parametrize("form", ["classic", "immutable", "both"])
def test_oidc_3_an_environment_stands_in_place_of_a_branch_never_beside_it(form: str) -> None:
    found = trust(github(**IDS, subjects=form, environments=("prod", "dev-2", "a.b_c")))
    for subject in (*found.preview_subjects, *found.deploy_subjects):
        assert ":ref:" not in subject
        assert "*" not in subject
    assert not set(found.preview_subjects) & set(found.deploy_subjects)


def test_a_name_s_case_is_kept_as_it_is_written() -> None:
    found = trust(github(repository="Octo-Org/Octo.Repo", environments=("Prod",)))
    assert found.deploy_subjects == ("repo:Octo-Org/Octo.Repo:environment:Prod",)


def test_the_session_and_the_provider_go_along() -> None:
    found = trust(github(session_minutes=240, create_provider=False))
    assert (found.session_minutes, found.create_provider) == (240, False)


@pytest.mark.parametrize(
    "subject",
    [
        "*",
        "repo:*",
        "repo:octo-org/*",
        "repo:octo-org/octo-repo:*",
        "repo:octo-org*/octo-repo:environment:prod",
        "repo:octo-org@1/*",
        "repo:octo-org@1/octo-repo:environment:prod",
        "repo:octo-org/octo-repo@2:environment:prod",
        "repo:octo-org/octo-repo:environment:*",
        "repo:octo-org/octo-repo:environment:",
        "repo:octo-org/octo-repo:environment:prod:ref:refs/heads/main",
        "repo:octo-org/octo-repo:ref:refs/heads/main",
        "repo:octo-org/octo-repo:environment:prod' || true || 'x",
        "",
    ],
)
def test_oidc_4_a_trust_with_a_subject_that_is_not_exact_cannot_be_made(subject: str) -> None:
    made = {"repository": "octo-org/octo-repo", "environments": ("prod",), "session_minutes": 60}
    with pytest.raises(Refusal, match="no exact subject"):
        Trust(**made, preview_subjects=(), deploy_subjects=(subject,))
    with pytest.raises(Refusal, match="no exact subject"):
        Trust(**made, preview_subjects=(subject,), deploy_subjects=())
