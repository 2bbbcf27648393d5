"""`gpuplatform accept`: what it writes, what it judges, how it exits."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from gpuplatform.cli.main import app
from gpuplatform.errors import ConfigError


@pytest.fixture
def accept(root):
    def run(*arguments: str):
        return CliRunner().invoke(app, ["accept", *arguments, "--project", str(root)])

    return run


@pytest.mark.parametrize("stack", ["aws-prod", "azure-prod", "gcp-prod"])
def test_manifests_are_written_for_the_pools_that_a_run_can_measure(accept, tmp_path, stack):
    result = accept(stack, "--write", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert [file.name for file in tmp_path.iterdir()] == ["train.yaml"]
    assert "serve: nothing written, the nodes talk over plain TCP" in result.output
    file = tmp_path / "train.yaml"
    kinds = [each["kind"] for each in yaml.safe_load_all(file.read_text())]
    assert kinds[0] == "Namespace"
    assert kinds[-1] == "Job"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600, "it holds an ssh key"
    assert "&id" not in file.read_text()


def test_a_queued_pool_gets_no_job_that_would_never_get_a_node(root, tmp_path):
    """Nodes of queued capacity come by a provisioning request only."""
    project = tmp_path / "project"
    (project / "stacks" / "config").mkdir(parents=True)
    for file in ("Pulumi.yaml", "stacks/config/Pulumi.gcp-prod.yaml"):
        shutil.copy(root / file, project / file)
    stack = project / "stacks" / "config" / "Pulumi.gcp-prod.yaml"

    def accept(*arguments: str):
        return CliRunner().invoke(app, ["accept", *arguments, "--project", str(project)])

    document = yaml.safe_load(stack.read_text())
    (platform,) = (value for key, value in document["config"].items() if key.endswith(":platform"))
    train = next(pool for pool in platform["node_pools"] if pool["name"] == "train")
    train.update(capacity={"kind": "queued"}, nodes={"min": 0, "max": 4})
    stack.write_text(yaml.safe_dump(document))
    result = accept("gcp-prod", "--pool", "train", "--write", str(tmp_path / "made"))
    assert result.exit_code == 0, result.output
    assert "train: nothing written, its capacity is queued" in result.output
    assert list((tmp_path / "made").iterdir()) == []
    result = accept("gcp-prod", "--pool", "train")
    assert result.exit_code == 5
    assert "train (a3-megagpu-8g): not measured: its capacity is queued" in result.output


def test_a_saved_log_is_judged_and_the_exit_code_tells_the_verdict(accept, tmp_path, text, speaking):
    log = tmp_path / "nccl.log"
    log.write_text(text("a3-mega"))
    result = accept("aws-prod", "--pool", "train", "--log", str(log))
    assert result.exit_code == 5
    assert "not measured" in result.output
    log.write_text(text("socket"))
    result = accept("aws-prod", "--pool", "train", "--log", str(log))
    assert result.exit_code == 1
    assert "train (p5.48xlarge): fail [Socket]: NCCL picked the socket transport" in result.output
    log.write_text(speaking(text("a3-mega"), "Libfabric"))
    result = accept("aws-prod", "--pool", "train", "--log", str(log))
    assert result.exit_code == 0
    assert "peak bus bandwidth of all_reduce over 2 nodes is 338.82 GB/s, floor 300" in result.output


def test_verdicts_are_data_too(accept, tmp_path, text):
    log = tmp_path / "nccl.log"
    log.write_text(text("socket"))
    result = accept("aws-prod", "--pool", "train", "--log", str(log), "--json")
    (verdict,) = json.loads(result.output)["verdicts"]
    assert verdict["outcome"] == "fail"
    assert verdict["transports"] == ["Socket"]
    assert (verdict["floor"], verdict["metric"], verdict["measured"]) == (300, "peak", None)


def test_a_log_belongs_to_one_pool(accept, tmp_path):
    (tmp_path / "log").touch()
    result = accept("aws-prod", "--log", str(tmp_path / "log"))
    assert isinstance(result.exception, ConfigError)
    assert "--pool" in str(result.exception)


def test_a_pool_that_is_not_there_is_refused(accept):
    result = accept("aws-prod", "--pool", "trian")
    assert isinstance(result.exception, ConfigError)
    assert "its pools are train, serve" in str(result.exception)


def test_a_log_that_cannot_be_read_is_refused(accept, tmp_path):
    result = accept("aws-prod", "--pool", "train", "--log", str(tmp_path / "none"))
    assert isinstance(result.exception, ConfigError)
    assert str(tmp_path / "none") in str(result.exception)


def test_what_needs_no_run_asks_no_cluster(accept, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    result = accept("aws-prod", "--pool", "serve")
    assert result.exit_code == 5
    assert "serve (g6.12xlarge): not measured: the nodes talk over plain TCP" in result.output
