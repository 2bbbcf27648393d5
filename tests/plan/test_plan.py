"""The plan: what would be built, what it costs, what the guardrails say."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from samples import STACKS, TODAY, config_of, decision_of, recording_of
from typer.testing import CliRunner

from gpuplatform.catalog import load
from gpuplatform.cli.main import app, main
from gpuplatform.config import KEY, find_project
from gpuplatform.guardrails import RawResource, footprint_of_config, footprint_of_resources
from gpuplatform.plan import make
from gpuplatform.report.document import PlanDocument, document

Write = Callable[..., Path]


@pytest.fixture
def stack(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a changed sample as stack `s` of a project of its own, which becomes the current folder."""

    def write(sample: str, change: Callable[[dict[str, Any]], Any] = lambda _: None) -> Path:
        (tmp_path / "Pulumi.yaml").write_text("name: gpuplatform\nruntime: python\n")
        document_ = yaml.safe_load((root / f"stacks/config/Pulumi.{sample}.yaml").read_text())
        change(document_["config"][KEY])
        (tmp_path / "Pulumi.s.yaml").write_text(yaml.safe_dump(document_))
        monkeypatch.chdir(tmp_path)
        return tmp_path

    return write


def _run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["plan", *arguments])
    return result.exit_code, result.output


@pytest.mark.parametrize("name", STACKS)
def test_a_sample_stack_is_ready_and_within_its_budget(name: str, root: Path) -> None:
    plan = make(find_project(root), name, TODAY)
    assert not plan.blocked
    assert plan.resources
    cost, budget = plan.decision.cost, plan.decision.config.budget
    assert budget is not None
    assert cost.maximum is not None
    assert cost.minimum is not None
    assert 0 < cost.minimum < cost.maximum <= budget.monthly_usd


@pytest.mark.parametrize("name", STACKS)
def test_the_configuration_s_footprint_is_the_resources_footprint(name: str) -> None:
    """The plan judges the configuration, the pack judges resources: they must see the same deployment."""
    raw = [
        RawResource(
            type=resource.type,
            name=resource.name,
            urn=resource.urn,
            props=resource.inputs,
            provider_region=config_of(name).cloud.region,
            depends=resource.property_dependencies,
        )
        for resource in recording_of(name).resources
        if resource.custom
    ]
    assert footprint_of_resources(raw) == footprint_of_config(config_of(name))


@pytest.mark.parametrize("name", STACKS)
def test_the_document_obeys_its_own_schema_and_the_one_in_the_docs(name: str, root: Path) -> None:
    made = json.loads(document(make(find_project(root), name, TODAY)).model_dump_json())
    jsonschema.validate(made, PlanDocument.model_json_schema())
    jsonschema.validate(made, json.loads((root / "docs/plan.schema.json").read_text()))
    assert made["version"] == 1
    assert sum(part["count"] for part in made["resources"]) == len(
        [r for r in recording_of(name).resources if not r.type.startswith("pulumi:providers")]
    )


@pytest.mark.parametrize("name", ["platform", "plan"])
def test_the_schemas_in_the_docs_are_up_to_date(name: str, root: Path) -> None:
    result = CliRunner().invoke(app, ["schema", name])
    assert result.exit_code == 0
    assert json.loads(result.output) == json.loads((root / f"docs/{name}.schema.json").read_text())


@pytest.mark.parametrize("name", STACKS)
def test_the_samples_obey_the_schema_that_editors_use(name: str, root: Path) -> None:
    schema = json.loads((root / "docs/platform.schema.json").read_text())
    content = yaml.safe_load((root / f"stacks/config/Pulumi.{name}.yaml").read_text())
    content = json.loads(json.dumps(content, default=str))
    jsonschema.validate(content, schema)
    content["config"][KEY]["nodepools"] = []
    with pytest.raises(jsonschema.ValidationError, match="nodepools"):
        jsonschema.validate(content, schema)


def _pool(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda platform: platform["node_pools"][0].update(values)


BLOCKED: dict[str, tuple[str, Callable[[dict[str, Any]], Any], list[str]]] = {
    "a D size where an N size was meant": (
        "azure-prod",
        _pool(sku="Standard_D16s_v5"),
        ["Standard_D16s_v5", "no GPU"],
    ),
    "a misspelt machine type": ("aws-prod", _pool(sku="p5.48xlrge"), ["p5.48xlrge", "p5.48xlarge"]),
    "a retired machine type": ("azure-dev", _pool(sku="Standard_NC6"), ["Standard_NC6", "2023-08-31"]),
    "a machine type that the region lacks": (
        "gcp-prod",
        _pool(sku="a2-ultragpu-8g", fabric="none"),
        ["a2-ultragpu-8g", "us-east4"],
    ),
    "a zone that lacks the machine type": (
        "aws-prod",
        lambda p: (
            p["network"].update(zones=["use1-az3", "use1-az4", "use1-az6"]),
            p["node_pools"][1].update(zones=["use1-az3"]),
        ),
        ["g6.12xlarge", "use1-az3", "use1-az4"],
    ),
    "a region off the list": (
        "aws-dev",
        lambda p: p["guardrails"].update(regions=["us-west-2"]),
        ["us-east-1", "us-west-2"],
    ),
    "a budget of 100 dollars": (
        "azure-prod",
        lambda p: p["budget"].update(monthly_usd=100),
        ["$100.00", "Standard_ND96isr_H100_v5", "$287,094.40"],
    ),
    "a Kubernetes version that is too old": (
        "aws-dev",
        lambda p: p["cluster"].update(kubernetes_version="1.20"),
        ["1.20", "1.35"],
    ),
    "a GPU model that is not allowed": (
        "aws-dev",
        lambda p: p["guardrails"].update(gpu_models=["H100"]),
        ["L4"],
    ),
    "a GPU machine as a system node": (
        "aws-dev",
        lambda p: p["cluster"].update(system={"sku": "g6.xlarge", "nodes": {"min": 1, "max": 1}}),
        ["g6.xlarge", "system"],
    ),
    "something unknown where nothing may be": (
        "azure-dev",
        lambda p: p["guardrails"].update(not_evaluated="fail"),
        ["zone", "not evaluated"],
    ),
}


@pytest.mark.parametrize("case", BLOCKED)
def test_a_mandatory_verdict_that_fails_gives_exit_code_1(case: str, stack: Write) -> None:
    sample, change, expected = BLOCKED[case]
    stack(sample, change)
    code, output = _run("s")
    assert code == 1
    assert "blocked" in output
    flat = " ".join(output.split())
    for part in expected:
        assert part in flat
    code, output = _run("s", "--json")
    assert code == 1
    made = json.loads(output)
    assert made["blocked"]
    assert made["resources"] == []
    assert any(verdict["blocks"] for verdict in made["verdicts"])


def test_a_wrong_configuration_gives_exit_code_2(
    stack: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stack("aws-dev", lambda p: p.update(colour="blue"))
    monkeypatch.setattr(sys, "argv", ["gpuplatform", "plan", "s"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert "there is no key `colour`" in capsys.readouterr().err


def test_a_missing_price_is_said_to_be_missing_and_never_taken_from_elsewhere(stack: Write) -> None:
    def move(platform: dict[str, Any]) -> None:
        platform["cloud"]["region"] = "us-west-2"
        platform["network"]["zones"] = ["usw2-az1", "usw2-az2"]
        platform["guardrails"]["regions"] = ["us-west-2"]

    stack("aws-dev", move)
    code, output = _run("s", "--json")
    made = json.loads(output)
    assert code == 0
    assert made["cost"]["maximum_usd"] is None
    budget = next(verdict for verdict in made["verdicts"] if verdict["rule"] == "budget")
    assert budget["status"] == "not evaluated"
    assert "g6.xlarge" in budget["message"]
    assert "us-west-2" in budget["message"]


def test_a_stack_s_own_prices_win_and_are_named(stack: Write) -> None:
    folder = stack("aws-dev", lambda p: p.update(prices="prices.csv"))
    (folder / "prices.csv").write_text(
        "cloud,sku,region,zone_ids,usd_per_hour,usd_per_hour_spot,usd_per_hour_reserved,date,source\n"
        "aws,g6.xlarge,us-east-1,use1-az4 use1-az6,0.5,0.25,,2026-11-30,our contract\n"
    )
    _, output = _run("s", "--json")
    line = next(line for line in json.loads(output)["cost"]["lines"] if line["item"] == "g6.xlarge")
    assert line["usd_per_hour"] == 0.25
    assert line["origin"].endswith("prices.csv")


def test_an_aws_zone_name_cannot_be_judged_offline(stack: Write) -> None:
    stack("aws-dev", lambda p: p["network"].update(zones=["us-east-1a", "us-east-1b"]))
    code, output = _run("s", "--json")
    zone = next(verdict for verdict in json.loads(output)["verdicts"] if verdict["rule"] == "zone")
    assert code == 0
    assert zone["status"] == "not evaluated"


def test_an_old_price_is_a_warning_with_its_date_and_beyond_the_limit_no_price(stack: Write) -> None:
    stack("azure-dev")
    _, output = _run("s", "--json")
    warned = next(verdict for verdict in json.loads(output)["verdicts"] if verdict["rule"] == "price-age")
    assert warned["status"] == "warn"
    stack("azure-dev", lambda p: p["guardrails"].update(max_price_age_days=30))
    _, output = _run("s", "--json")
    budget = next(verdict for verdict in json.loads(output)["verdicts"] if verdict["rule"] == "budget")
    assert budget["status"] == "not evaluated"


def test_the_day_can_be_chosen(stack: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    stack("aws-dev")
    monkeypatch.setenv("GPUPLATFORM_TODAY", "2027-06-01")
    code, output = _run("s", "--json")
    made = json.loads(output)
    assert made["today"] == "2027-06-01"
    assert code == 1  # 1.35 has left standard support by then
    monkeypatch.setenv("GPUPLATFORM_TODAY", "tomorrow")
    result = CliRunner().invoke(app, ["plan", "s"])
    assert "'tomorrow' is no date" in str(result.exception)


@pytest.mark.parametrize("name", STACKS)
def test_a_plan_needs_no_sdk_of_another_cloud(name: str, root: Path) -> None:
    others = {"aws": "pulumi_aws", "azure": "pulumi_azure_native", "gcp": "pulumi_gcp"}
    own = others.pop(name.split("-", maxsplit=1)[0])
    program = (
        "import sys\n"
        f"for package in {sorted(others.values())!r}:\n"
        "    sys.modules[package] = None\n"
        "from gpuplatform.cli import main\n"
        f"sys.argv = ['gpuplatform', 'plan', {name!r}]\n"
        "try:\n    main()\nexcept SystemExit as stopped:\n"
        f"    assert {own!r} in sys.modules\n"
        "    sys.exit(stopped.code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "ready" in done.stdout


def test_a_missing_sdk_is_a_sentence(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuplatform.plan.sdk.find_spec", lambda _: None)
    monkeypatch.chdir(root)
    result = CliRunner().invoke(app, ["plan", "aws-dev"])
    assert "pip install 'gpuplatform[aws]'" in str(result.exception)


def test_a_decision_is_the_same_on_every_call() -> None:
    again = decision_of.__wrapped__("gcp-prod")
    assert again == decision_of("gcp-prod")


def test_the_help_and_the_catalogue_load_no_sdk(root: Path) -> None:
    program = (
        "import sys\n"
        "from gpuplatform.cli import main\n"
        "sys.argv = ['gpuplatform', 'sku', 'list', '--cloud', 'aws']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'pulumi', 'pydantic', 'pulumi_aws', 'grpc'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_price_file_is_looked_for_beside_the_stack_s_file(stack: Write) -> None:
    stack("aws-dev", lambda p: p.update(prices="missing.csv"))
    result = CliRunner().invoke(app, ["plan", "s"])
    assert "missing.csv" in str(result.exception)


def test_the_catalogue_s_day_does_not_leak_into_the_decision() -> None:
    assert decision_of("aws-dev").cost == decide_on(dt.date(2026, 12, 2)).cost


def decide_on(day: dt.date) -> Any:
    from gpuplatform.platform import decide

    return decide(config_of("aws-dev"), load(), day)
