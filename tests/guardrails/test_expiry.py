from __future__ import annotations

from datetime import date, timedelta

import pytest
from samples import config_of

from gpuplatform.guardrails import Limits, Status, limits_of_config, strictest

DAY = date(2026, 11, 30)


def test_an_environment_past_its_last_day_is_warned_of_with_the_way_out(group, verdicts):
    found = verdicts(group(), limits=Limits(expires=DAY - timedelta(days=1)))["expires"]

    assert (found.status, found.blocks, found.subject) == (Status.WARN, False, "stack")
    assert found.message == "the environment's last day was 2026-11-29, 1 day ago"
    assert "pulumi destroy --exclude-protected" in found.way_out
    assert "later `expires`" in found.way_out


@pytest.mark.parametrize("days", [0, 1, 400])
def test_the_last_day_itself_still_counts(group, verdicts, days):
    found = verdicts(group(), limits=Limits(expires=DAY + timedelta(days=days)))["expires"]

    assert found.status is Status.PASS
    assert f"in {days} day" in found.message


def test_an_environment_that_stays_has_no_such_verdict(group, verdicts):
    assert "expires" not in verdicts(group())


def test_it_warns_also_where_what_is_not_evaluated_fails(group, verdicts):
    limits = Limits(expires=DAY - timedelta(days=9), not_evaluated_fails=True)

    assert not verdicts(group(), limits=limits)["expires"].blocks


def test_the_day_is_the_configurations_and_the_earlier_of_two_counts():
    late, early = Limits(expires=DAY + timedelta(days=1)), Limits(expires=DAY)

    assert strictest([late, Limits(), early]).expires == DAY
    config = config_of("aws-dev")
    assert limits_of_config(config).expires == config.expires == date(2027, 1, 31)
    assert limits_of_config(config_of("aws-prod")).expires is None
