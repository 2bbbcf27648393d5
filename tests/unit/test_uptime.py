from __future__ import annotations

import string
from datetime import time
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from gpuplatform.config.uptime import Uptime, UptimeText

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
ADAPTER: TypeAdapter[Uptime] = TypeAdapter(UptimeText)


def uptime(text: object) -> Uptime:
    return ADAPTER.validate_python(text)


def problem(text: object) -> str:
    with pytest.raises(ValidationError) as refused:
        uptime(text)
    [error] = refused.value.errors()
    return error["msg"]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("weekdays", {0, 1, 2, 3, 4}),
        ("daily", {0, 1, 2, 3, 4, 5, 6}),
        ("sun", {6}),
        ("mon,wed-fri", {0, 2, 3, 4}),
        ("fri-mon", {4, 5, 6, 0}),
        ("sun-sat", {0, 1, 2, 3, 4, 5, 6}),
        ("mon-mon", {0}),
        ("weekdays,sat", {0, 1, 2, 3, 4, 5}),
        ("mon,mon", {0}),
    ],
)
def test_days_are_named_singly_in_ranges_and_by_words(text: str, days: set[int]) -> None:
    assert uptime(f"{text} 08:00-19:00 UTC").days == days


def test_hours_and_zone_are_read_as_written() -> None:
    found = uptime("mon 20:30-06:05 America/Argentina/Buenos_Aires")

    assert (found.start, found.end) == (time(20, 30), time(6, 5))
    assert found.zone == ZoneInfo("America/Argentina/Buenos_Aires")
    assert str(found) == "mon 20:30-06:05 America/Argentina/Buenos_Aires"


@pytest.mark.parametrize("zone", ["UTC", "Etc/GMT+5", "America/Port-au-Prince", "GB", "EST5EDT"])
def test_every_name_of_the_time_zone_database_is_taken(zone: str) -> None:
    assert uptime(f"daily 08:00-19:00 {zone}").zone.key == zone


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no uptime"),
        ("weekdays", "is no uptime"),
        ("08:00-19:00 UTC", "is no uptime"),
        ("weekdays 08:00-19:00", "is no uptime"),
        ("weekdays 8:00-19:00 UTC", "is no uptime"),
        ("weekdays 08:00 - 19:00 UTC", "is no uptime"),
        ("weekdays  08:00-19:00 UTC", "is no uptime"),
        ("Weekdays 08:00-19:00 UTC", "is no uptime"),
        ("weekdays 08:00-19:00 UTC\n", "is no uptime"),
        ("weekdays 08:60-19:00 UTC", "is no uptime"),
        ("weekdays 08:00-24:00 UTC", "24:00 is no time of day; hours go from 00 to 23"),
        ("weekdays 29:00-19:00 UTC", "29:00 is no time of day"),
        ("weekdays 08:00-08:00 UTC", "begins and ends at one time"),
        ("holidays 08:00-19:00 UTC", "'holidays' is no day"),
        ("mon, 08:00-19:00 UTC", "'' is no day"),
        ("mon- 08:00-19:00 UTC", "'mon-' is no day"),
        ("-fri 08:00-19:00 UTC", "'-fri' is no day"),
        ("mon-tue-wed 08:00-19:00 UTC", "'mon-tue-wed' is no day"),
        ("mon-daily 08:00-19:00 UTC", "'mon-daily' is no day"),
        ("daily 08:00-19:00 Mars/Base", "there is no time zone 'Mars/Base'"),
        ("daily 08:00-19:00 Europe/Berln", "did you mean Europe/Berlin?"),
        ("daily 08:00-19:00 europe/berlin", "did you mean Europe/Berlin?"),
        ("daily 08:00-19:00 Europe", "there is no time zone 'Europe'"),
        ("daily 08:00-19:00 localtime", "there is no time zone 'localtime'"),
        ("daily 08:00-19:00 posix/Europe/Berlin", "there is no time zone"),
        ("daily 08:00-19:00 Factory", "there is no time zone"),
        ("daily 08:00-19:00 /etc/passwd", "there is no time zone"),
        (5, "an uptime is text"),
        (None, "an uptime is text"),
        (["mon"], "an uptime is text"),
        (True, "an uptime is text"),
    ],
)
def test_what_is_no_uptime_is_refused_with_what_is_wrong(text: object, said: str) -> None:
    assert said in problem(text)


@given(
    st.sets(st.sampled_from(DAYS), min_size=1),
    st.times(),
    st.times(),
    st.sampled_from(["UTC", "Europe/Berlin", "Australia/Lord_Howe"]),
)
def test_what_is_written_comes_back(days: set[str], start: time, end: time, zone: str) -> None:
    text = f"{','.join(sorted(days))} {start:%H:%M}-{end:%H:%M} {zone}"
    if (start.hour, start.minute) == (end.hour, end.minute):
        assert "begins and ends at one time" in problem(text)
        return
    found = uptime(text)
    assert {DAYS[day] for day in found.days} == days
    assert f"{found.start:%H:%M}-{found.end:%H:%M} {found.zone.key}" == text.split(" ", 1)[1]
    assert uptime(ADAPTER.dump_python(found)) == found


@given(st.text(alphabet=string.ascii_lowercase + string.digits + " :-,/+_", max_size=40))
def test_no_text_ends_in_anything_but_an_uptime_or_a_sentence(text: str) -> None:
    try:
        found = uptime(text)
    except ValidationError as refused:
        problems = refused.errors()
    else:
        assert found.text == text
        return
    assert [error["type"] for error in problems] == ["value_error"]
