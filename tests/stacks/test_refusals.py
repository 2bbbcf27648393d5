"""What a person gets wrong is refused in the plan and in the real engine, with one sentence, for nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from samples import ROOT
from typer.testing import CliRunner

from gpuplatform.cli.main import app
from gpuplatform.errors import GpuPlatformError

pytestmark = pytest.mark.engine


@dataclass(frozen=True)
class Case:
    """A mistake in a sample stack, and what must be in its sentence."""

    stack: str
    mistake: Callable[[dict[str, Any]], Any] | str
    """A change of the platform; or the file's whole text."""
    sentence: tuple[str, ...]
    code: int = 2


def _pool(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda platform: platform["node_pools"][0].update(values)


def _in(section: str, **values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda platform: platform[section].update(values)


def _elsewhere(platform: dict[str, Any]) -> None:
    """The serving pool in a zone that sells other machines."""
    platform["network"]["zones"].append("use1-az3")
    platform["node_pools"][1]["zones"] = ["use1-az3"]


CASES = {
    "a D size where an N size was meant": Case(
        "azure-prod",
        _pool(sku="Standard_D16s_v5"),
        ("Standard_D16s_v5 has no GPU", "did you mean Standard_N"),
        1,
    ),
    "a misspelt machine type": Case(
        "aws-prod", _pool(sku="p5.48xlrge"), ("no machine type p5.48xlrge", "did you mean p5.48xlarge"), 1
    ),
    "a retired machine type": Case(
        "azure-dev", _pool(sku="Standard_NC6"), ("Standard_NC6 is retired since 2023-08-31",), 1
    ),
    "a machine type that the region lacks": Case(
        "gcp-dev",
        _pool(sku="a3-megagpu-8g"),
        (
            "a3-megagpu-8g is not offered in us-central1",
            "it is, nearest first, in us-east5, us-east4, us-west4",
        ),
        1,
    ),
    "a machine type that the zone lacks": Case(
        "aws-prod", _elsewhere, ("g6.12xlarge is not offered in zone use1-az3", "it is in use1-az"), 1
    ),
    "a region off the list": Case(
        "gcp-prod",
        _in("guardrails", regions=["us-central1"]),
        ("the region us-east4 is not on the list; allowed: us-central1",),
        1,
    ),
    "a budget of 100 dollars": Case(
        "azure-prod",
        _in("budget", monthly_usd=100),
        ("a month costs $328,", "the budget is $100.00", "the largest item is", "Standard_ND96isr_H100_v5"),
        1,
    ),
    "a Kubernetes version that is no longer supported": Case(
        "aws-dev", _in("cluster", kubernetes_version="1.20"), ("Kubernetes 1.20", "supported today: "), 1
    ),
    "an unknown key": Case(
        "gcp-dev", _pool(skuu="g2-standard-8"), ("there is no key `skuu`", "did you mean `sku`")
    ),
    "a pool name used twice": Case(
        "azure-prod", lambda p: p["node_pools"][1].update(name="train"), ("the name train is used twice",)
    ),
    "a maximum below the minimum": Case(
        "gcp-prod", _pool(nodes={"min": 3, "max": 1}), ("max (1) is below min (3)",)
    ),
    "a network too small for its nodes": Case(
        "aws-prod", _in("network", cidr="10.0.0.0/22"), ("holds", "the pools ask for up to", "would do")
    ),
    "an empty file": Case("aws-dev", "", ("`gpuplatform:platform` is missing",)),
    "a file that is no YAML": Case("gcp-dev", "config: [\n", ("this is no YAML",)),
    "a secret where a plain value belongs": Case(
        "azure-dev",
        lambda p: p.update(owner={"secure": "v1:abc"}),
        ("a secret stands where a plain value belongs",),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_refused_by_the_plan_and_by_the_engine_alike(
    name: str, stage: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name]
    with stage(case.stack) as it:
        project = it.sandbox.project
        if callable(case.mistake):
            it.configure(case.mistake)
        else:
            project.stack_file(case.stack).write_text(case.mistake)

        planned = CliRunner().invoke(app, ["plan", case.stack, "--project", str(project.root), "--json"])
        code, sentences, whole = _refusal(planned)
        assert code == case.code
        assert sentences
        assert [part for part in case.sentence if part not in whole] == []

        for command in (
            ["preview", "--policy-pack", str(ROOT / "policies" / "gpu")],
            ["up", "--yes", "--skip-preview"],  # and neither would have built it without a pack
        ):
            capfd.readouterr()
            exit_code = it.sandbox.run(["pulumi", *command, "--stack", case.stack], project.root)
            said = " ".join("".join(capfd.readouterr()).split())
            assert exit_code != 0
            assert [part for part in (*case.sentence, *sentences) if part not in said] == []
            assert "Traceback" not in said
            assert it.things == []


def _refusal(planned: Any) -> tuple[int, list[str], str]:
    """A plan's exit code, its sentences against the stack, and these with their ways out."""
    error = planned.exception
    if isinstance(error, GpuPlatformError):
        problems = getattr(error, "problems", ()) or (error,)
        return error.exit_code, [problem.what for problem in problems], str(error)
    blocking = [verdict for verdict in json.loads(planned.stdout)["verdicts"] if verdict["blocks"]]
    whole = " ".join(f"{verdict['message']} {verdict['way_out']}" for verdict in blocking)
    return planned.exit_code, [verdict["message"] for verdict in blocking], whole
