from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from gpuplatform.cli import sku as cli
from gpuplatform.errors import ConfigError

runner = CliRunner()


def run(*arguments):
    result = runner.invoke(cli.app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def refusal(*arguments):
    result = runner.invoke(cli.app, list(arguments))
    assert isinstance(result.exception, ConfigError)
    assert result.exception.exit_code == 2
    return str(result.exception)


def names(output):
    return [line.split()[1] for line in output.splitlines()[1:]]


def test_list_names_every_gpu_machine_type():
    assert len(names(run("list"))) == 192


def test_list_filters_by_cloud_model_and_fabric():
    assert names(run("list", "--cloud", "azure", "--model", "h100", "--fabric", "infiniband")) == [
        "Standard_ND96isr_H100_v5"
    ]


def test_list_of_a_region_has_only_what_is_sold_there_with_its_price():
    output = run("list", "--cloud", "aws", "--region", "us-west-2", "--model", "H100")
    assert names(output) == ["p5.4xlarge", "p5.48xlarge"]
    assert output.splitlines()[0].endswith("USD/HOUR")
    assert all(line.endswith("unpriced") for line in output.splitlines()[1:])
    assert "55.04" in run("list", "--region", "us-east-1", "--model", "H100")


def test_active_leaves_out_what_is_retired_today(monkeypatch):
    monkeypatch.setenv("GPUPLATFORM_TODAY", "2025-09-29")
    assert "Standard_NC12s_v3" in names(run("list", "--cloud", "azure", "--active"))
    monkeypatch.setenv("GPUPLATFORM_TODAY", "2025-09-30")
    listed = names(run("list", "--cloud", "azure", "--active"))
    assert "Standard_NC12s_v3" not in listed
    assert "Standard_ND96isr_H100_v5" in listed
    assert "Standard_NC12s_v3" in names(run("list", "--cloud", "azure"))


def test_list_as_json_has_a_version_and_every_fact():
    document = json.loads(run("list", "--cloud", "gcp", "--region", "us-central1", "--json"))
    assert document["version"] == 1
    by_name = {sku["name"]: sku for sku in document["skus"]}
    assert by_name["g2-standard-4"]["price"]["usd_per_hour"] == pytest.approx(0.706832, abs=1e-6)
    assert by_name["g2-standard-4"]["price"]["date"] == "2026-08-03"
    assert by_name["g2-standard-4"]["gpu_model"] == "L4"


def test_nothing_found_says_so_and_names_the_models():
    assert run("list", "--model", "H1000").startswith("No GPU machine type matches. Models: A10")


def test_an_unknown_region_is_refused_with_the_nearest_name():
    assert "did you mean us-east-1" in refusal("list", "--cloud", "aws", "--region", "us-east1")


def test_show_has_facts_sources_zones_and_prices():
    output = run("show", "p5.48xlarge")
    assert "p5.48xlarge (aws)" in output
    assert "karpenter-provider-aws v1.14" in output
    line = next(line for line in output.splitlines() if line.startswith("us-east-1"))
    assert "use1-az" in line
    assert "55.04" in line
    assert "2026-07-20" in line
    assert "unpriced" in next(line for line in output.splitlines() if line.startswith("us-west-2"))


def test_show_of_a_machine_without_a_gpu_says_so():
    assert "a machine type without a GPU" in run("show", "Standard_D16s_v5")


def test_show_of_a_type_sold_nowhere_known_says_so():
    assert "Where it is sold is not known." in run("show", "a4-highgpu-8g")


def test_show_as_json_has_the_prices_in_force():
    document = json.loads(run("show", "g2-standard-4", "--json"))
    assert document["machine"]["gpu"] is True
    offering = next(each for each in document["offerings"] if each["region"] == "us-central1")
    assert offering["prices"]["spot"]["basis"] == "spot"
    assert json.loads(run("show", "m6i.xlarge", "--json"))["machine"]["gpu"] is False


def test_show_takes_a_stacks_own_prices_and_names_them(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("cloud,sku,region,usd_per_hour,date\naws,p5.48xlarge,us-west-2,50.5,2026-11-01\n")
    output = run("show", "p5.48xlarge", "--prices", str(path))
    line = next(line for line in output.splitlines() if line.startswith("us-west-2"))
    assert "50.5" in line
    assert str(path) in line


def test_an_unknown_type_is_refused_with_the_nearest_and_its_cloud():
    text = refusal("show", "p5.48xlrage")
    assert "p5.48xlrage is no machine type" in text
    assert "did you mean p5.48xlarge (aws)" in text
    assert "gpuplatform sku list" in refusal("show", "qqqqqqqqqqqq")
    assert "(aws)" not in refusal("show", "p5.48xlarge", "--cloud", "azure")
