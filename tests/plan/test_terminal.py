"""What a terminal shows, however narrow it is, and what becomes of a command whose output is not taken."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from samples import STACKS, TODAY

from gpuplatform.config import find_project
from gpuplatform.guardrails import usd
from gpuplatform.plan import Plan, make
from gpuplatform.report import tables
from gpuplatform.report.terminal import Outcome, show_outcome, show_plan

AMOUNT = re.compile(r"\$[\d,]+\.\d\d(?!\d)")
WIDTHS = (40, 60, 80, 100, 132)


@pytest.fixture(scope="module", params=STACKS)
def plan(request: pytest.FixtureRequest) -> Plan:
    return make(find_project(Path(__file__).parents[2]), request.param, TODAY)


def _console(width: int) -> Console:
    return Console(file=io.StringIO(), width=width, highlight=False)


def _said(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", WIDTHS)
def test_no_amount_and_no_name_of_a_plan_is_cut_at_any_width(plan: Plan, width: int) -> None:
    narrow, wide = _console(width), _console(400)
    show_plan(plan, narrow)
    show_plan(plan, wide)

    assert len(AMOUNT.findall(_said(wide))) > 5
    assert sorted(AMOUNT.findall(_said(narrow))) == sorted(AMOUNT.findall(_said(wide)))
    for name in (*(part.type for part in plan.resources), *(p.sku for p in plan.decision.profiles)):
        assert name in _said(narrow)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_output_and_no_command_after_an_update_is_cut_at_any_width(plan: Plan, width: int) -> None:
    arn = "arn:aws:eks:us-east-1:123456789012:cluster/a-cluster-with-a-long-name"
    command = f"gpuplatform sandbox exec -- pulumi preview --stack {plan.stack} --policy-pack ../policies/gpu"
    outcome = Outcome(
        components=3,
        resources=40,
        changes={"create": 43},
        outputs={"cluster_id": arn},
        next_steps=((command, "the engine's own"),),
    )
    console = _console(width)
    show_outcome(plan, outcome, console)

    assert arn in _said(console)
    assert command in _said(console)
    cost = plan.decision.cost
    assert cost.minimum is not None
    assert usd(cost.minimum) in _said(console)


def test_a_table_stays_a_table_where_its_sentences_alone_have_to_wrap() -> None:
    shown = tables.table("name", "what it says", wide="what it says")
    shown.add_row("train", "a sentence that is longer than the terminal is wide")
    console = _console(40)
    tables.show(console, shown)

    assert "name    what it says" in _said(console)
    assert max(map(len, _said(console).splitlines())) <= 40


COMMANDS = (
    *(("plan", stack) for stack in STACKS),
    ("plan", "aws-dev", "--json"),
    ("sku", "list"),
    ("sku", "show", "p5.48xlarge"),
    ("schema", "plan"),
    ("--help",),
)


def _start(root: Path, arguments: tuple[str, ...], stdout: int) -> subprocess.Popen[str]:
    script = "from gpuplatform.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments], cwd=root, stdout=stdout, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_output_that_cannot_be_written_is_a_sentence(root: Path, arguments: tuple[str, ...]) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    with _start(root, arguments, full) as process:
        os.close(full)
        said = process.communicate()[1]

    assert said == "error: the output cannot be written: No space left on device\n"
    assert process.returncode == 74


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_reader_who_leaves_is_no_failing_verdict(root: Path, arguments: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with _start(root, arguments, writer) as process:
        os.close(writer)
        said = process.communicate()[1]

    assert said == ""
    assert process.returncode == 141
