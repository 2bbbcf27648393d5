"""Running against a cluster: a kubectl that remembers, and what is left behind (nothing)."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from gpuplatform.accept import Outcome
from gpuplatform.accept.kubectl import Kubectl
from gpuplatform.accept.run import Settings, run
from gpuplatform.errors import ClusterError
from gpuplatform.profile import Bandwidth

# A cluster in one file: what exists by kind, what each look at the job sees, and every command.
KUBECTL = """#!{python}
import json, sys
from pathlib import Path

folder = Path({folder!r})
script = json.loads((folder / "script.json").read_text())
arguments = [a for a in sys.argv[1:] if not a.startswith("--kubeconfig")]
with (folder / "commands").open("a") as log:
    log.write(json.dumps(arguments) + "\\n")
verb, what = arguments[0], arguments[1] if len(arguments) > 1 else ""
if verb in script.get("fails", {{}}):
    sys.exit(script["fails"][verb])
if verb == "create":
    (folder / "created.json").write_text(sys.stdin.read())
elif verb == "delete":
    (folder / "created.json").unlink(missing_ok=True)
elif verb == "logs":
    print(script["log"], end="")
elif what == "job":
    looks = folder / "looks"
    count = int(looks.read_text()) if looks.exists() else 0
    looks.write_text(str(count + 1))
    print(json.dumps(script["job"][min(count, len(script["job"]) - 1)]))
else:
    print(json.dumps({{"items": script[what]}}))
"""

RUNNING = {"status": {}}
COMPLETE = {"status": {"conditions": [{"type": "Complete", "status": "True"}]}}
FAILED = {"status": {"conditions": [{"type": "Failed", "status": "True", "message": "Pod failed"}]}}
PODS = [{"metadata": {"name": f"nccl-{i}-x"}, "status": {"phase": "Running"}} for i in range(2)]


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.script = {"nodes": [], "pods": PODS, "job": [RUNNING, COMPLETE], "log": ""}
        program = folder / "kubectl"
        program.write_text(KUBECTL.format(python=sys.executable, folder=str(folder)))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.kubectl = Kubectl(program=str(program), kubeconfig=folder / "kubeconfig")
        self.now = 0.0
        self.step = 1.0
        self.reports: list[str] = []

    def run(self, profile, **settings):
        (self.folder / "script.json").write_text(json.dumps(self.script))
        made = Settings(sleep=self._sleep, clock=lambda: self.now, **settings)
        return run(profile, self.kubectl, made, self.reports.append)

    def _sleep(self, seconds: float) -> None:
        self.now += seconds * self.step

    @property
    def commands(self) -> list[list[str]]:
        return [json.loads(line) for line in (self.folder / "commands").read_text().splitlines()]

    @property
    def left(self) -> bool:
        return (self.folder / "created.json").exists()


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path)


def short_node(gpus: str):
    return {
        "metadata": {"name": "n1"},
        "status": {
            "allocatable": {"nvidia.com/gpu": gpus},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def test_a_run_applies_waits_reads_the_first_pod_judges_and_deletes(cluster, profile, text):
    cluster.script["log"] = text("efa")
    floor = Bandwidth(floor=3, metric="peak", source="somewhere")
    verdict, log = cluster.run(profile(gpus=1, gpu_model="T4", bandwidth=floor))
    assert log == text("efa")
    assert verdict.outcome is Outcome.PASS
    assert verdict.measured == 3.13
    verbs = [command[0] for command in cluster.commands]
    assert verbs == ["get", "create", "get", "get", "get", "get", "logs", "delete"]
    assert not cluster.left
    (namespace,) = {command[2] for command in cluster.commands if command[0] == "delete"}
    assert namespace.startswith("gpuplatform-accept-train-")
    logs = next(command for command in cluster.commands if command[0] == "logs")
    assert logs[1] == "nccl-0-x"
    assert namespace in logs


def test_two_runs_of_one_pool_do_not_meet(cluster, profile):
    cluster.run(profile())
    (cluster.folder / "looks").unlink()
    cluster.run(profile())
    assert len({command[2] for command in cluster.commands if command[0] == "delete"}) == 2


def test_a_short_node_fails_the_pool_before_anything_is_made(cluster, profile):
    cluster.script["nodes"] = [short_node("7")]
    verdict, log = cluster.run(profile())
    assert (verdict.outcome, log) == (Outcome.FAIL, "")
    assert verdict.reason == "node n1 has 7 nvidia.com/gpu, its machine has 8"
    assert [command[0] for command in cluster.commands] == ["get"]


def test_a_whole_node_does_not_stand_in_the_way(cluster, profile):
    cluster.script["nodes"] = [short_node("8")]
    cluster.run(profile())
    assert "create" in [command[0] for command in cluster.commands]


def test_pods_that_find_no_node_are_not_measured_in_the_scheduler_s_words(cluster, profile):
    condition = {"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available"}
    cluster.script["job"] = [RUNNING]
    cluster.script["pods"] = [
        {"metadata": {"name": "nccl-0-x"}, "status": {"phase": "Pending", "conditions": [condition]}}
    ]
    verdict, log = cluster.run(profile(), start_seconds=60)
    assert (verdict.outcome, log) == (Outcome.NOT_MEASURED, "")
    assert "after 60 s 0 of 2 pods run: 0/3 nodes are available" in verdict.reason
    assert 60 < cluster.now < 120
    assert not cluster.left


def test_an_image_that_cannot_be_pulled_is_told(cluster, profile):
    waiting = {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}}
    cluster.script["job"] = [RUNNING]
    cluster.script["pods"] = [
        {"metadata": {"name": "p"}, "status": {"phase": "Pending", "containerStatuses": [waiting]}}
    ]
    verdict, _ = cluster.run(profile(), start_seconds=10)
    assert "Back-off pulling image" in verdict.reason


def test_a_test_that_hangs_ends_and_is_not_measured(cluster, profile):
    cluster.step = 100
    cluster.script["job"] = [RUNNING]
    cluster.script["log"] = "gpuplatform-accept: run all_reduce\n"
    verdict, _ = cluster.run(profile())
    assert verdict.outcome is Outcome.NOT_MEASURED
    assert "did not end within 3600 s" in verdict.reason
    assert not cluster.left


def test_a_failed_job_is_judged_by_what_its_log_says(cluster, profile):
    cluster.script["job"] = [FAILED]
    cluster.script["log"] = "gpuplatform-accept: the image has no sshd\n"
    verdict, _ = cluster.run(profile())
    assert verdict.outcome is Outcome.NOT_MEASURED
    assert "the image has no sshd" in verdict.reason
    assert "Pod failed" in verdict.reason


@pytest.mark.parametrize("verb", ["create", "logs"])
def test_whatever_fails_the_namespace_is_deleted(cluster, profile, verb):
    cluster.script["fails"] = {verb: "error: the server said no"}
    with pytest.raises(ClusterError, match="the server said no"):
        cluster.run(profile())
    assert cluster.commands[-1][0] == "delete"
    assert not cluster.left


def test_an_interruption_deletes_the_namespace_and_goes_on(cluster, profile, monkeypatch):
    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cluster, "_sleep", interrupted)
    cluster.script["job"] = [RUNNING]
    with pytest.raises(KeyboardInterrupt):
        cluster.run(profile())
    assert cluster.commands[-1][0] == "delete"
    assert not cluster.left


def test_a_deletion_that_fails_names_what_is_left_and_how_to_delete_it(cluster, profile):
    cluster.script["fails"] = {"delete": "error: no"}
    with pytest.raises(ClusterError) as failed:
        cluster.run(profile())
    assert "may still be there" in str(failed.value)
    assert "kubectl delete namespace gpuplatform-accept-train-" in str(failed.value)


def test_without_kubectl_there_is_a_sentence():
    with pytest.raises(ClusterError, match="is not installed"):
        Kubectl(program="no-such-kubectl").run("get", "nodes")


def test_kubectl_s_own_words_reach_the_user(cluster):
    (cluster.folder / "script.json").write_text(
        json.dumps({"fails": {"get": "Unable to connect to the server"}})
    )
    with pytest.raises(ClusterError, match="Unable to connect to the server"):
        cluster.kubectl.json("get", "nodes")


def test_the_kubeconfig_and_the_context_are_named_in_every_command(tmp_path):
    kubectl = Kubectl(kubeconfig=tmp_path / "k", context="prod")
    assert kubectl._where() == [f"--kubeconfig={tmp_path / 'k'}", "--context=prod"]
    assert Kubectl()._where() == []
