"""Tables of which no word is lost, however narrow the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

__all__ = ["show", "table"]

_PROSE_WIDTH = 16
"""A column of sentences is not made narrower than this: one word a line is no reading."""


def table(*columns: str, title: str = "", right: Sequence[str] = (), wide: str = "") -> Table:
    """A table whose columns keep their words whole; only `wide` breaks, at its spaces."""
    made = Table(box=SIMPLE_HEAD, title=title or None, title_justify="left", title_style="bold")
    for column in columns:
        justify: Literal["right", "left"] = "right" if column in right else "left"
        made.add_column(column, justify=justify, no_wrap=column != wide, overflow="fold")
    return made


def show(out: Console, shown: Table) -> None:
    """Prints a table, or one line a cell where the terminal has no room for its columns side by side.

    rich would cut off the ends of what may not wrap, without a sign: $160,716.80 became $160,716.8.
    """
    if _needed(out, shown) <= out.width:
        out.print(shown)
    else:
        _stack(out, shown)


def _needed(out: Console, shown: Table) -> int:
    """Characters that a line takes: each column has a space on either side and one after it."""
    return sum(_width(out, column) + 3 for column in shown.columns) + 1


def _width(out: Console, column: Column) -> int:
    # Measured without regard to this terminal, which would clamp what is measured to its own width.
    options = out.options.update(max_width=10_000)
    sizes = [out.measure(cell, options=options) for cell in (column.header, *column.cells)]
    whole = max(size.maximum for size in sizes)
    return whole if column.no_wrap else max(min(whole, _PROSE_WIDTH), *(size.minimum for size in sizes))


def _stack(out: Console, shown: Table) -> None:
    def line(text: str) -> None:
        out.print(text, overflow="ignore", crop=False)  # breaks at spaces; a longer word stays whole

    if shown.title:
        line(f"[bold]{shown.title}[/]")
    for first, *others in zip(*(column.cells for column in shown.columns), strict=True):
        if not shown.show_header:
            line(f"[bold]{first}[/]: {' '.join(map(str, others))}")
            continue
        line(f"[bold]{shown.columns[0].header} {first}[/]")
        for column, cell in zip(shown.columns[1:], others, strict=True):
            if cell:
                line(f"  {column.header}: {cell}")
    if shown.caption:
        line(f"[dim]{shown.caption}[/]")
    out.print()
