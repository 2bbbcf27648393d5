"""Where Pulumi keeps its state on Azure: versioned, locked down, readable for those who run it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from azure_durable_samples import ADMINS, make_state

from gpuplatform.azure.account import account_name
from gpuplatform.plan.recorder import Recording

Update = Callable[[Callable[[], Any]], Recording]


def outputs(recording: Recording) -> dict[str, Any]:
    (found,) = recording.outputs.values()
    return found


def test_pulumi_is_told_the_container_and_the_key(update: Update) -> None:
    found = outputs(update(make_state))
    account = account_name(
        "vision-prod", "state", subscription="00000000-0000-4000-8000-000000000001", region="eastus"
    )
    assert found["backend_url"] == f"azblob://state?storage_account={account}"
    assert found["secrets_provider"] == "azurekeyvault://state-kv1a2b3c4d.vault.azure.net/keys/secrets"


def test_every_state_that_was_overwritten_can_be_had_back_for_a_year(update: Update) -> None:
    recording = update(make_state)
    kept = recording.named("state-versions").inputs
    assert kept["isVersioningEnabled"] is True
    assert kept["deleteRetentionPolicy"] == {"enabled": True, "days": 365}
    assert "isHnsEnabled" not in recording.named("state-account").inputs


def test_nothing_in_it_is_public_or_opened_by_a_key(update: Update) -> None:
    recording = update(make_state)
    account = recording.named("state-account").inputs
    assert (account["allowSharedKeyAccess"], account["allowBlobPublicAccess"]) == (False, False)
    assert recording.named("state-container").inputs["publicAccess"] == "None"
    assert account["encryption"]["keySource"] == "Microsoft.Keyvault"


def test_all_of_it_is_protected_but_who_may_use_it(update: Update) -> None:
    recording = update(make_state)
    open_ = {r.name for r in recording.resources if r.custom and not r.protect}
    assert open_ == {f"state-{ADMINS}-writes", f"state-{ADMINS}-uses"}


def test_who_runs_pulumi_by_hand_gets_the_data_too_for_owners_have_no_right_to_it(update: Update) -> None:
    recording = update(make_state)
    for verb, role in (
        ("writes", "ba92f5b4-2d11-453d-a403-e96b0029c9fe"),
        ("uses", "12338af0-0e69-4776-bea7-57ae8d297424"),
    ):
        granted = recording.named(f"state-{ADMINS}-{verb}").inputs
        assert granted["principalType"] == "Group"
        assert granted["roleDefinitionId"].endswith(f"/{role}")


def test_names_of_accounts_are_apart_and_within_24_letters_and_digits() -> None:
    names = {
        account_name(name, "state", subscription=subscription, region=region)
        for name in ("vision-prod", "vision-prod-of-a-very-long-name", "visionprod")
        for subscription in ("a", "b")
        for region in ("eastus", "westus")
    }
    assert len(names) == 12
    assert all(name.isalnum() and name.islower() and 3 <= len(name) <= 24 for name in names)
