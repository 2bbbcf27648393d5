"""Whatever a person writes into a YAML file ends in a value or in a sentence with the place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gpuplatform import catalog
from gpuplatform.config import Project, from_file
from gpuplatform.errors import ConfigError
from gpuplatform.sandbox import stack_config
from gpuplatform.sandbox.workspace import Home, find_project
from gpuplatform.yamlfile import line_of, parse_text, text_of

_TEN = ",".join(["*{0}"] * 10)
_BOMB = "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{name}: &{name} [{_TEN.format(of)}]\n" for of, name in zip("abcdef", "bcdefg", strict=True)
)

BROKEN = {
    "a month that no year has": ("a: 1\nb: 2027-13-01\n", ":2", "'2027-13-01' is no timestamp"),
    "a day that the month lacks": ("b: [2027-02-30]\n", ":1", "'2027-02-30' is no timestamp"),
    "an hour that no day has": ("b: 2027-01-01 25:00:00\n", ":1", "is no timestamp"),
    "a tag that the text does not fit": ("b: !!int x\n", ":1", "'x' is no int"),
    "a truth that is none": ("b: !!bool x\n", ":1", "'x' is no bool"),
    "a date by its tag": ("b: !!timestamp x\n", ":1", "'x' is no timestamp"),
    "a mapping that holds itself": ("config: &c {gpuplatform:platform: *c}\n", ":1", "holds itself"),
    "a list that holds itself": ("config: 1\nb: &b [*b]\n", ":2", "holds itself"),
    "a merge of itself": ("config: &c {<<: *c}\n", ":1", "holds itself"),
    "aliases that multiply": (_BOMB, ":6", "more than 1000000 values"),
    "a key that is a list": ("? [a, b]\n: c\n", ":1", "unhashable key"),
    "a key twice": ("a: 1\na: 2\n", ":2", "'a' is written twice"),
}


@pytest.mark.parametrize(("text", "line", "sentence"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_is_refused_with_its_line_by_whoever_reads_it(
    written: Callable[..., Project], tmp_path: Path, text: str, line: str, sentence: str
) -> None:
    project = written(text)
    prices = tmp_path / "prices.yaml"
    prices.write_text(text)
    readers: dict[str, Callable[[], object]] = {
        "Pulumi.s.yaml": lambda: from_file(project, "s"),
        "prices.yaml": lambda: catalog.load().with_prices(prices),
    }
    for file, read in readers.items():
        with pytest.raises(ConfigError) as raised:
            read()
        assert f"{file}{line}" in str(raised.value)
        assert sentence in str(raised.value)
        assert raised.value.exit_code == 2


@pytest.mark.parametrize(("text", "line", "sentence"), BROKEN.values(), ids=BROKEN.keys())
def test_the_sandbox_refuses_a_broken_file_as_the_plan_does(
    written: Callable[..., Project], tmp_path: Path, text: str, line: str, sentence: str
) -> None:
    written(text)
    project = find_project(tmp_path)
    with pytest.raises(ConfigError, match=f"Pulumi.s.yaml{line}") as raised:
        stack_config.copy(project, Home(root=tmp_path / "home"), "s")
    assert sentence in str(raised.value)


def test_an_alias_that_is_used_twice_is_no_fault() -> None:
    text = "zones: &z [a, b]\nfirst: {zones: *z}\nsecond: {zones: *z}\n"
    assert parse_text(text, Path("x")) == {
        "zones": ["a", "b"],
        "first": {"zones": ["a", "b"]},
        "second": {"zones": ["a", "b"]},
    }


@pytest.mark.parametrize("depth", [900, 20_000])
def test_a_file_nested_without_end_is_refused(depth: int) -> None:
    with pytest.raises(ConfigError, match=r"x\.yaml"):
        parse_text("a: " + "[" * depth + "]" * depth, Path("x.yaml"))


def test_a_value_is_shown_as_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("a:\n  - version: 1.30\n")
    assert text_of(file, ("a", 0, "version")) == "1.30"
    assert line_of(file, ("a", 0, "version")) == 2
    assert text_of(file, ("a", 0, "other")) is None
    assert text_of(file, ("a",)) is None
