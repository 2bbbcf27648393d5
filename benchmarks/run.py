"""`make bench`: ratios of one run, as a table. A number of milliseconds says little; a ratio travels."""

from __future__ import annotations

import sys

from imports import help_against_sdk, plan_against_sdk, skus_against_sdk
from measure import Ratio
from pack import pack_against_one_rule_policies
from pools import many_pools_against_few
from preview import preview_against_bare_program
from profiles import profiles_against_catalogue
from rich.console import Console
from rich.table import Table

CASES = (
    help_against_sdk,
    skus_against_sdk,
    plan_against_sdk,
    profiles_against_catalogue,
    many_pools_against_few,
    pack_against_one_rule_policies,
    preview_against_bare_program,
)


def main(wanted: list[str]) -> None:
    """Runs all cases, or those whose names contain one of `wanted`."""
    console = Console(width=132)
    table = Table(title="ratios (medians of pairs, CPU time)", title_justify="left")
    for column in ("subject against yardstick", "subject ms", "yardstick ms", "ratio", "goal", ""):
        table.add_column(column, justify="left" if "subject a" in column else "right")
    for case in CASES:
        if wanted and not any(word in case.__name__ for word in wanted):
            continue
        console.print(f"measuring {case.__name__} ...", style="dim")
        for ratio in case():
            table.add_row(*_row(ratio))
    console.print(table)


def _row(ratio: Ratio) -> tuple[str, ...]:
    met = "[green]met[/]" if ratio.ratio <= ratio.goal else "[red]missed[/]"
    return (
        ratio.what,
        f"{ratio.subject:.1f}",
        f"{ratio.yardstick:.1f}",
        f"{ratio.ratio:.2f}",
        f"{ratio.goal:.2f}",
        met,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
