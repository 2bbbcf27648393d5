"""The exception tree is what its docstring draws."""

from __future__ import annotations

import inspect
import re

from gpuplatform import errors


def test_the_tree_in_the_docstring_is_the_tree_in_the_code() -> None:
    drawn = dict(re.findall(r"(\w*Error|Refusal) .*?exit (\d)", errors.__doc__ or ""))
    real = {
        name: str(cls.exit_code)
        for name, cls in vars(errors).items()
        if inspect.isclass(cls)
        and cls is not errors.GpuPlatformError
        and issubclass(cls, errors.GpuPlatformError)
    }
    assert drawn == real
    assert set(errors.__all__) == {*real, "GpuPlatformError"}


def test_an_error_says_what_where_the_rule_and_the_way_out() -> None:
    error = errors.ConfigError("x is wrong", where="f.yaml: a.b", rule="x is right", way_out="write y")
    assert str(error) == "f.yaml: a.b: x is wrong\n  rule: x is right\n  way out: write y"


def test_several_problems_are_all_printed_and_one_is_itself() -> None:
    one, two = errors.ConfigError("one"), errors.ConfigError("two")
    assert errors.ConfigError.of([one]) is one
    assert str(errors.ConfigError.of([one, two])) == "one\ntwo"
