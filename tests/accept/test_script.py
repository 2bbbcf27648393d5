"""The script that the pods run, with stand-ins for sshd, ssh, mpirun and nccl-tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gpuplatform.accept import parse
from gpuplatform.accept.script import SCRIPT

STUBS = {
    "sshd": 'echo "$@" >>$HOME/sshd',
    "ssh": 'echo "$@" >>$HOME/ssh; [ ! -e $HOME/deaf ]',
    "mpirun": 'echo "$@" >>$HOME/mpirun; echo "# Out of bounds values : 0 OK"; exit $(cat $HOME/code)',
    "test": "true",
    "sleep": "true",
}


class Pod:
    """One pod's container, its paths below a folder of the test's own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        (home / "bin").mkdir()
        for name, body in STUBS.items():
            stub = home / "bin" / name
            stub.write_text(f"#!/bin/bash\n{body}\n")
            stub.chmod(0o755)
        (home / "code").write_text("0")
        self.script = (
            SCRIPT.replace("/tmp/", f"{home}/")  # noqa: S108 - the pod's, not this machine's
            .replace("/usr/sbin/sshd", f"{home}/bin/sshd")
            .replace("/run/sshd", f"{home}/run")
            .replace("/opt/nccl-tests/build/$name", f"{home}/bin/test")
            .replace("/usr/local/gib", f"{home}/gib")
        )

    def run(self, index: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
        inside = {
            "HOME": str(self.home),
            "PATH": f"{self.home}/bin:{os.environ['PATH']}",
            "JOB_COMPLETION_INDEX": str(index),
            "JOB_NAME": "nccl",
            "SUBDOMAIN": "nccl",
            "NODES": "2",
            "NODE_NAME": "node-1",
            "GPUS": "8",
            "PATIENCE": "20",
            "COLLECTIVES": "all_reduce all_gather",
            "MIN_BYTES": "1024",
            "MAX_BYTES": "8589934592",
            "NCCL_SOCKET_IFNAME": "eth0",
            "FI_PROVIDER": "efa",
            **environment,
        }
        command = ["bash", "-c", self.script]
        return subprocess.run(command, env=inside, capture_output=True, text=True, timeout=60, check=False)

    def said(self, program: str) -> list[str]:
        return (self.home / program).read_text().splitlines()


@pytest.fixture
def pod(tmp_path: Path) -> Pod:
    return Pod(tmp_path)


def test_the_first_pod_runs_every_collective_over_all_pods_and_lets_them_go(pod):
    done = pod.run()
    assert done.returncode == 0, done.stderr
    assert parse(done.stdout).said == ("run all_reduce", "run all_gather", "done")
    assert (pod.home / "hostfile").read_text() == "nccl-0.nccl slots=8\nnccl-1.nccl slots=8\n"
    first, second = pod.said("mpirun")
    assert first == second
    assert "-np 16" in first
    assert "--map-by ppr:8:node" in first
    assert "-b 1024 -e 8589934592 -f 2 -g 1" in first
    assert "-c 1" in first
    assert "-x FI_PROVIDER" in first
    assert "-x NCCL_SOCKET_IFNAME" in first
    assert "-x PATH" in first
    released = [line for line in pod.said("ssh") if "gpuplatform-accept.done" in line]
    assert len(released) == 2


def test_a_failed_test_fails_the_pod_and_lets_the_others_go(pod):
    (pod.home / "code").write_text("3")
    done = pod.run()
    assert done.returncode != 0
    assert parse(done.stdout).said == ("run all_reduce",)
    assert any("gpuplatform-accept.done" in line for line in pod.said("ssh"))


def test_a_node_that_never_answers_ends_the_wait_with_a_sentence(pod):
    (pod.home / "deaf").touch()
    done = pod.run()
    assert done.returncode == 1
    assert parse(done.stdout).said == ("node 0 did not answer for 20 seconds",)


def test_the_other_pods_wait_to_be_let_go(pod):
    (pod.home / "gpuplatform-accept.done").touch()
    done = pod.run(index=1)
    assert done.returncode == 0
    assert parse(done.stdout).said == ("node 1 is ready: node-1",)
    assert not (pod.home / "mpirun").exists()


def test_sshd_lets_in_nobody_but_the_job(pod):
    pod.run()
    (options,) = pod.said("sshd")
    for option in ("-p 2222", "PasswordAuthentication=no", "AuthorizedKeysFile=/etc/gpuplatform-accept/"):
        assert option in options


def test_google_s_settings_for_its_plugin_are_read_where_they_are(pod):
    scripts = pod.home / "gib" / "scripts"
    scripts.mkdir(parents=True)
    (scripts / "set_nccl_env.sh").write_text('export NCCL_FROM_GIB="$UNSET"1\n')
    assert pod.run().returncode == 0
    assert "-x NCCL_FROM_GIB" in pod.said("mpirun")[0]


def test_an_image_without_nccl_tests_is_told(pod):
    (pod.home / "bin" / "test").unlink()
    done = pod.run()
    assert done.returncode == 1
    assert parse(done.stdout).said == ("the image has no all_reduce test",)


def test_an_image_without_sshd_is_told(pod):
    (pod.home / "bin" / "sshd").unlink()
    assert parse(pod.run().stdout).said == ("the image has no sshd",)
