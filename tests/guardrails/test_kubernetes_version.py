from __future__ import annotations

from datetime import date, timedelta

import pytest

from gpuplatform.guardrails import ControlPlane, Status, Unknown


@pytest.fixture
def judged(verdicts):
    def run(minor, *, today, support="standard", cloud="aws"):
        region = {"aws": "us-east-1", "azure": "eastus", "gcp": "us-central1"}[cloud]
        plane = ControlPlane(
            name="c", where="cluster", cloud=cloud, region=region, kubernetes_version=minor, support=support
        )
        return verdicts(planes=(plane,), today=today)["kubernetes-version"]

    return run


def _row(known, cloud, minor):
    return next(version for version in known.kubernetes(cloud) if version.minor == minor)


@pytest.mark.parametrize("cloud", ["aws", "azure", "gcp"])
def test_the_end_of_standard_support_is_a_pass_then_a_warning_with_its_date_then_a_failure(
    known, judged, cloud
):
    end = _row(known, cloud, "1.34").standard_until
    assert judged("1.34", today=end - timedelta(days=61), cloud=cloud).status is Status.PASS
    near = judged("1.34", today=end - timedelta(days=60), cloud=cloud)
    assert near.status is Status.WARN
    assert end.isoformat() in near.message
    assert judged("1.34", today=end, cloud=cloud).status is Status.WARN
    past = judged("1.34", today=end + timedelta(days=1), cloud=cloud)
    assert (past.status, past.blocks) == (Status.FAIL, True)
    assert "1.35" in past.way_out


def test_extended_support_warns_until_its_own_end(known, judged):
    row = _row(known, "aws", "1.34")
    within = judged("1.34", today=row.standard_until + timedelta(days=1), support="extended")
    assert within.status is Status.WARN
    assert row.extended_until.isoformat() in within.message
    past = judged("1.34", today=row.extended_until + timedelta(days=1), support="extended")
    assert past.status is Status.FAIL


def test_an_end_of_extended_support_that_is_not_recorded_is_not_evaluated(known, judged):
    row = _row(known, "gcp", "1.31")
    assert row.extended_until is None
    verdict = judged("1.31", today=row.standard_until + timedelta(days=1), support="extended", cloud="gcp")
    assert verdict.status is Status.NOT_EVALUATED


@pytest.mark.parametrize("minor", ["1.12", "1.99", "2.0", "nonsense"])
def test_a_minor_out_of_the_known_range_fails_and_names_what_is_supported(judged, minor):
    verdict = judged(minor, today=date(2026, 11, 30))
    assert (verdict.status, verdict.blocks) == (Status.FAIL, True)
    assert "1.35" in verdict.way_out


@pytest.mark.parametrize("minor", ["", Unknown("version")])
def test_a_minor_left_to_the_cloud_or_unknown_is_not_evaluated(judged, minor):
    assert judged(minor, today=date(2026, 11, 30)).status is Status.NOT_EVALUATED


def test_past_standard_support_an_unknown_kind_of_support_is_not_evaluated(judged):
    verdict = judged("1.31", today=date(2026, 11, 1), support=Unknown("supportType"))
    assert verdict.status is Status.NOT_EVALUATED
