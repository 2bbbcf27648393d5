"""`up`, `down` or `gone`, and when that changes: also at midnight and where the clocks change."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import config_of

from gpuplatform import clock
from gpuplatform.cli.main import main
from gpuplatform.config import KEY, Platform, Project
from gpuplatform.config.uptime import UptimeText
from gpuplatform.errors import ConfigError
from gpuplatform.schedule import Wanted, wanted

BERLIN = ZoneInfo("Europe/Berlin")
WEEKDAYS = "weekdays 08:00-19:00 Europe/Berlin"


def config(uptime: str | None = None, expires: date | None = None) -> Platform:
    from pydantic import TypeAdapter

    parsed = None if uptime is None else TypeAdapter(UptimeText).validate_python(uptime)
    return config_of("aws-dev").model_copy(update={"uptime": parsed, "expires": expires})


def at(text: str, zone: ZoneInfo = BERLIN) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


def asked(uptime: str, now: datetime, expires: date | None = None) -> tuple[str, str | None]:
    found = wanted(config(uptime, expires), now)
    return found.state, None if found.changes_at is None else found.changes_at.isoformat(timespec="minutes")


@pytest.mark.parametrize(
    ("now", "state", "changes"),
    [
        ("2026-12-01T07:59:59", "down", "2026-12-01T08:00+01:00"),
        ("2026-12-01T08:00", "up", "2026-12-01T19:00+01:00"),
        ("2026-12-01T18:59:59", "up", "2026-12-01T19:00+01:00"),
        ("2026-12-01T19:00", "down", "2026-12-02T08:00+01:00"),
        ("2026-12-04T19:00", "down", "2026-12-07T08:00+01:00"),  # over the weekend
        ("2026-12-06T12:00", "down", "2026-12-07T08:00+01:00"),
        ("2026-12-31T23:59", "down", "2027-01-01T08:00+01:00"),
        ("2027-03-26T20:00", "down", "2027-03-29T08:00+02:00"),  # summer time begins on the 28th
    ],
)
def test_a_day_goes_from_its_start_to_just_before_its_end(now: str, state: str, changes: str) -> None:
    assert asked(WEEKDAYS, at(now)) == (state, changes)


def test_the_moment_counts_and_not_the_zone_it_is_written_in() -> None:
    assert asked(WEEKDAYS, datetime(2026, 12, 1, 7, 30, tzinfo=UTC)) == ("up", "2026-12-01T19:00+01:00")
    assert asked(WEEKDAYS, at("2026-12-01T08:30", ZoneInfo("Asia/Tokyo"))) == (
        "down",
        "2026-12-01T08:00+01:00",
    )


@pytest.mark.parametrize(
    ("now", "state", "changes"),
    [
        ("2026-12-04T19:59", "down", "2026-12-04T20:00+01:00"),
        ("2026-12-04T20:00", "up", "2026-12-05T06:00+01:00"),
        ("2026-12-05T00:00", "up", "2026-12-05T06:00+01:00"),  # Friday's night, on Saturday
        ("2026-12-05T05:59", "up", "2026-12-05T06:00+01:00"),
        ("2026-12-05T06:00", "down", "2026-12-11T20:00+01:00"),
        ("2026-12-06T01:00", "down", "2026-12-11T20:00+01:00"),  # Saturday has no night of its own
    ],
)
def test_a_night_belongs_to_the_day_on_which_it_begins(now: str, state: str, changes: str) -> None:
    assert asked("fri 20:00-06:00 Europe/Berlin", at(now)) == (state, changes)


def test_a_day_that_ends_at_midnight_ends_with_the_day() -> None:
    assert asked("sun 00:00-23:00 UTC", at("2026-12-06T00:00", ZoneInfo("UTC")))[0] == "up"
    assert asked("sat 08:00-00:00 UTC", at("2026-12-05T23:59", ZoneInfo("UTC")))[0] == "up"
    assert asked("sat 08:00-00:00 UTC", at("2026-12-06T00:00", ZoneInfo("UTC")))[0] == "down"


class TestWhereTheClocksChange:
    """In Berlin 2027-03-28 has no 02:00 to 03:00, and 2026-10-25 has it twice."""

    def test_a_day_has_the_hours_that_its_clock_shows(self) -> None:
        up = wanted(config("daily 00:00-23:59 Europe/Berlin"), at("2027-03-28T00:00"))
        assert up.changes_at is not None
        assert up.changes_at.astimezone(UTC) - at("2027-03-28T00:00").astimezone(UTC) == timedelta(
            hours=22, minutes=59
        )

    @pytest.mark.parametrize(
        ("uptime", "now", "state", "changes"),
        [
            ("sun 02:30-12:00 Europe/Berlin", "2027-03-28T01:59", "down", "2027-03-28T03:00+02:00"),
            ("sun 02:30-12:00 Europe/Berlin", "2027-03-28T03:00", "up", "2027-03-28T12:00+02:00"),
            ("sat 20:00-02:30 Europe/Berlin", "2027-03-28T01:59", "up", "2027-03-28T03:00+02:00"),
            ("sat 20:00-02:30 Europe/Berlin", "2027-03-28T03:00", "down", "2027-04-03T20:00+02:00"),
            # Nothing is left of it on this day.
            ("sun 02:15-02:45 Europe/Berlin", "2027-03-28T03:00", "down", "2027-04-04T02:15+02:00"),
        ],
    )
    def test_a_time_that_is_skipped_is_the_moment_of_the_change(
        self, uptime: str, now: str, state: str, changes: str
    ) -> None:
        assert asked(uptime, at(now)) == (state, changes)

    @pytest.mark.parametrize(
        ("uptime", "now", "fold", "state", "changes"),
        [
            ("sun 02:30-12:00 Europe/Berlin", "2026-10-25T02:29", 0, "down", "2026-10-25T02:30+02:00"),
            ("sun 02:30-12:00 Europe/Berlin", "2026-10-25T02:30", 0, "up", "2026-10-25T12:00+01:00"),
            ("sun 02:30-12:00 Europe/Berlin", "2026-10-25T02:00", 1, "up", "2026-10-25T12:00+01:00"),
            ("sat 20:00-02:30 Europe/Berlin", "2026-10-25T02:45", 0, "up", "2026-10-25T02:30+01:00"),
            ("sat 20:00-02:30 Europe/Berlin", "2026-10-25T02:29", 1, "up", "2026-10-25T02:30+01:00"),
            ("sat 20:00-02:30 Europe/Berlin", "2026-10-25T02:30", 1, "down", "2026-10-31T20:00+01:00"),
        ],
    )
    def test_of_a_time_that_comes_twice_the_first_begins_and_the_last_ends(
        self, uptime: str, now: str, fold: int, state: str, changes: str
    ) -> None:
        assert asked(uptime, at(now).replace(fold=fold)) == (state, changes)

    def test_two_stretches_that_meet_there_are_one(self) -> None:
        """Daily 02:30 to 02:15: the last 02:15 comes after the first 02:30 of the same night."""
        now = at("2026-10-25T01:00")
        assert asked("daily 02:30-02:15 Europe/Berlin", now) == ("up", "2026-10-26T02:15+01:00")

    def test_a_day_that_a_zone_left_out_has_no_hours(self) -> None:
        """Samoa went over the date line: it had no 2011-12-30, a Friday."""
        apia = ZoneInfo("Pacific/Apia")
        assert asked("fri 08:00-19:00 Pacific/Apia", at("2011-12-29T12:00", apia)) == (
            "down",
            "2012-01-06T08:00+14:00",
        )


class TestExpires:
    def test_the_last_day_is_whole_in_the_zone_of_the_uptime(self) -> None:
        last = date(2027, 1, 29)
        assert asked(WEEKDAYS, at("2027-01-29T12:00"), last) == ("up", "2027-01-29T19:00+01:00")
        assert asked(WEEKDAYS, at("2027-01-29T23:59:59"), last) == ("down", "2027-01-30T00:00+01:00")
        assert asked(WEEKDAYS, at("2027-01-30T00:00"), last) == ("gone", None)

    def test_a_night_is_cut_at_the_end_of_the_last_day(self) -> None:
        night = "fri 20:00-06:00 Europe/Berlin"
        assert asked(night, at("2027-01-29T21:00"), date(2027, 1, 29)) == ("up", "2027-01-30T00:00+01:00")

    def test_without_an_uptime_the_day_is_that_of_utc(self) -> None:
        it = config(expires=date(2027, 1, 31))
        end = datetime(2027, 2, 1, tzinfo=UTC)
        before = wanted(it, end - timedelta(seconds=1))
        assert (before.state, before.changes_at) == ("up", end)
        assert "2027-01-31" in before.reason
        after = wanted(it, end)
        assert after == Wanted(state="gone", reason="its last day was 2027-01-31", changes_at=None)

    def test_the_calendars_last_day_never_ends(self) -> None:
        assert wanted(config(expires=date.max), datetime(2026, 12, 1, tzinfo=UTC)).changes_at is None

    def test_with_neither_an_environment_stays(self) -> None:
        found = wanted(config(), datetime(2026, 12, 1, tzinfo=UTC))
        assert (found.state, found.changes_at) == ("up", None)


ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Chatham"]
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
UPTIMES = st.builds(
    lambda days, start, end, zone: f"{','.join(sorted(days))} {start:%H:%M}-{end:%H:%M} {zone}",
    st.sets(st.sampled_from(DAYS), min_size=1),
    st.times(),
    st.times(),
    st.sampled_from(ZONES),
).filter(lambda text: len(set(re.findall(r"\d\d:\d\d", text))) > 1)
MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2037, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(UPTIMES, MOMENTS)
def test_far_from_a_change_of_the_clocks_the_clock_on_the_wall_decides(text: str, now: datetime) -> None:
    it = config(text)
    assert it.uptime is not None
    zone = it.uptime.zone
    around = {(now + timedelta(hours=hours)).astimezone(zone).utcoffset() for hours in range(-30, 31, 5)}
    if len(around) > 1:
        return
    local = now.astimezone(zone)
    today, clock_, start, end = local.weekday(), local.time(), it.uptime.start, it.uptime.end
    if start < end:
        expected = today in it.uptime.days and start <= clock_ < end
    else:
        yesterday = (today - 1) % 7
        expected = (today in it.uptime.days and clock_ >= start) or (
            yesterday in it.uptime.days and clock_ < end
        )
    assert wanted(it, now).state == ("up" if expected else "down")


@given(UPTIMES, MOMENTS, st.none() | st.dates(date(2020, 1, 1), date(2037, 1, 1)))
def test_it_changes_then_and_not_before(text: str, now: datetime, expires: date | None) -> None:
    it = config(text, expires)
    found = wanted(it, now)
    if found.changes_at is None:
        assert found.state == "gone"
        return
    assert found.changes_at > now
    assert found.changes_at - now < timedelta(days=16)  # a week, and one more where a change leaves a day out
    assert wanted(it, found.changes_at).state != found.state
    second = timedelta(seconds=1)
    for between in (now + (found.changes_at - now) / 2, found.changes_at - second):
        if between > now:
            assert wanted(it, between).state == found.state


class TestTheClock:
    def test_a_moment_is_taken_from_the_variable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GPUPLATFORM_NOW", "2027-01-31T23:30:00-05:00")
        assert clock.now() == datetime(2027, 2, 1, 4, 30, tzinfo=UTC)
        monkeypatch.delenv("GPUPLATFORM_TODAY")
        assert clock.today() == date(2027, 2, 1)

    def test_a_day_alone_is_noon(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GPUPLATFORM_TODAY", "2027-01-31")
        assert clock.now() == datetime(2027, 1, 31, 12, tzinfo=UTC)

    def test_without_either_it_is_this_machines(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("GPUPLATFORM_TODAY")
        before = datetime.now(tz=UTC)
        assert before <= clock.now() <= datetime.now(tz=UTC)

    @pytest.mark.parametrize(
        "text",
        ["tomorrow", "2027-01-31", "2027-01-31T12:00", "12:00", "1999-12-31T00:00Z", "9999-12-31T00:00Z"],
    )
    def test_what_is_no_moment_is_refused(self, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
        monkeypatch.setenv("GPUPLATFORM_NOW", text)
        with pytest.raises(ConfigError) as refused:
            clock.now()
        assert refused.value.where == "GPUPLATFORM_NOW"
        assert refused.value.rule

    def test_a_day_out_of_bounds_is_refused_by_its_own_variable(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GPUPLATFORM_TODAY", "0001-01-01")
        with pytest.raises(ConfigError) as refused:
            clock.now()
        assert refused.value.where == "GPUPLATFORM_TODAY"


class TestTheCommand:
    @pytest.fixture
    def run(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> Callable[..., tuple[int, str, str]]:
        def call(*arguments: str, now: str = "2026-12-01T12:00:00+01:00") -> tuple[int, str, str]:
            monkeypatch.setenv("GPUPLATFORM_NOW", now)
            monkeypatch.setattr("sys.argv", ["gpuplatform", "schedule", *arguments])
            with pytest.raises(SystemExit) as end:
                main()
            out, err = capsys.readouterr()
            return int(end.value.code or 0), out, err

        return call

    def test_it_shows_every_stack_of_the_project(self, run: Any, root: Any) -> None:
        code, out, err = run("--project", str(root))

        assert (code, err) == (0, "")
        lines = out.splitlines()
        assert lines[0].split() == ["STACK", "WANTED", "CHANGES", "AT", "BECAUSE"]
        assert [line.split()[0] for line in lines[1:]] == [
            f"{cloud}-{name}" for cloud in ("aws", "azure", "gcp") for name in ("dev", "prod")
        ]
        assert re.fullmatch(r"aws-dev +up +2026-12-01T19:00\+01:00 +within weekdays .*", lines[1])
        assert re.fullmatch(r"aws-prod +up +never +it has no uptime.*", lines[2])

    def test_it_prints_json_for_a_pipeline(self, run: Any, written: Callable[..., Project]) -> None:
        written(lambda platform: platform.update(uptime=WEEKDAYS, expires="2027-01-31"))

        night = run("s", "--json", now="2026-12-01T19:00:00+01:00")
        gone = run("s", "--json", now="2027-02-01T00:00:00+01:00")

        assert (night[0], json.loads(night[1])) == (
            0,
            {
                "version": 1,
                "stacks": [
                    {
                        "stack": "s",
                        "wanted": "down",
                        "reason": f"outside {WEEKDAYS}",
                        "changes_at": "2026-12-02T08:00+01:00",
                    }
                ],
            },
        )
        assert json.loads(gone[1])["stacks"][0] == {
            "stack": "s",
            "wanted": "gone",
            "reason": "its last day was 2027-01-31",
            "changes_at": None,
        }

    def test_one_wrong_stack_hides_no_other(self, run: Any, written: Callable[..., Project]) -> None:
        project = written()
        project.stack_file("t").write_text(f"config:\n  {KEY}: 5\n")

        code, out, err = run("--json")

        assert (code, [entry["stack"] for entry in json.loads(out)["stacks"]]) == (2, ["s"])
        assert "Pulumi.t.yaml" in err

    def test_every_wrong_configuration_is_named(self, run: Any, written: Callable[..., Project]) -> None:
        project = written(lambda platform: platform.update(uptime="always"))
        other = project.stack_file("t")
        other.write_text(f"config:\n  {KEY}: 5\n")
        project.stack_file("else").write_text("config:\n  other:key: 5\n")  # another program's: not ours

        code, out, err = run("--json")

        assert (code, json.loads(out)["stacks"]) == (2, [])
        assert "'always' is no uptime" in err
        assert "Pulumi.t.yaml" in err
        assert "else" not in err
        assert "Traceback" not in err

    def test_an_unknown_stack_is_refused(self, run: Any, written: Callable[..., Project]) -> None:
        written()
        code, out, err = run("nothing")

        assert (code, out) == (2, "")
        assert "there is no stack 'nothing'" in err

    def test_a_wrong_moment_is_refused(self, run: Any, written: Callable[..., Project]) -> None:
        written()
        code, _, err = run(now="noon")

        assert code == 2
        assert "GPUPLATFORM_NOW: 'noon' is no moment" in err
